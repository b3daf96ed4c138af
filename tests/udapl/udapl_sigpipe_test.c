/* SPDX-License-Identifier: BSD-2-Clause */
/* sigpipe=ignore in a line of dat.conf: its effect on the process, and when. */
#include "support/check.h"

#include <dat2/udat.h>

#include <signal.h>

typedef void (*handler)(int);

static void of_the_program(int signal)
{
    (void)signal;
}

static handler disposition(void)
{
    struct sigaction action;

    CHECK(sigaction(SIGPIPE, NULL, &action) == 0);
    return action.sa_handler;
}

static DAT_IA_HANDLE open_ia(char *name)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;

    CHECK_EQ(DAT_SUCCESS, dat_ia_open(name, 8, &async, &ia));
    return ia;
}

static void close_ia(DAT_IA_HANDLE ia)
{
    CHECK_EQ(DAT_SUCCESS, dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* SIGPIPE stays ignored until the last IA of any line is closed, since its EPs rely on it. */
static void check_ignored_while_open(void)
{
    DAT_IA_HANDLE plain = open_ia("itapi-lo");
    DAT_IA_HANDLE pipe;

    CHECK(disposition() == SIG_DFL);
    pipe = open_ia("itapi-pipe");
    CHECK(disposition() == SIG_IGN);
    close_ia(pipe);
    CHECK(disposition() == SIG_IGN);
    pipe = open_ia("itapi-pipe");
    close_ia(plain);
    CHECK(disposition() == SIG_IGN);
    close_ia(pipe);
    CHECK(disposition() == SIG_DFL);
}

/* The program's own action stays, set before or while the IA is open. */
static void check_kept(handler wish)
{
    DAT_IA_HANDLE ia;

    CHECK(signal(SIGPIPE, wish) != SIG_ERR);
    ia = open_ia("itapi-pipe");
    CHECK(disposition() == wish);
    close_ia(ia);
    CHECK(disposition() == wish);
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    ia = open_ia("itapi-pipe");
    CHECK(signal(SIGPIPE, of_the_program) == SIG_IGN);
    close_ia(ia);
    CHECK(disposition() == of_the_program);
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
}

int main(void)
{
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    check_ignored_while_open();
    check_kept(SIG_IGN);
    check_kept(of_the_program);
    return 0;
}
