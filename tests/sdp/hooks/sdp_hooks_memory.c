/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is missing, and the program's own handlers of faults. */
#include "hooks/sdp_hooks_kit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

/* The compiler must not know where they lead. */
static char *volatile nowhere;
static char *volatile low = (char *)(uintptr_t)16;
static char *volatile missing;
static char *volatile read_only;

static void make_pages(void)
{
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)mprotect(pages + PAGE, PAGE, PROT_NONE);
    read_only = pages;
    missing = pages + PAGE;
}

static void missing_memory(void)
{
    struct sdp_hooks_pair pair;
    char buffer[16];
    struct iovec part = {buffer, 10};

    make_pages();
    sdp_hooks_open(&pair);
    SAY(send(pair.client, nowhere, 10, 0));
    SAY(write(pair.client, low, 10));
    SAY(write(pair.client, missing, 10));
    SAY(send(pair.client, missing - 5, 10, 0));
    SAY(writev(pair.client, (struct iovec *)(void *)low, 2));
    SAY(sendmsg(pair.client, (struct msghdr *)(void *)low, 0));
    SAY(write(pair.client, "abcdefghij", 10));
    sdp_hooks_await("arrived", pair.server, 0, 1);
    SAY(recv(pair.server, nowhere, 10, 0));
    SAY(read(pair.server, low, 10));
    SAY(read(pair.server, read_only, 10));
    SAY(recv(pair.server, missing, 10, MSG_PEEK));
    SAY(readv(pair.server, (struct iovec *)(void *)missing, 1));
    SAY(recvmsg(pair.server, (struct msghdr *)(void *)missing, 0));
    SAY(readv(pair.server, &part, 1));
    sdp_hooks_note("%.10s", buffer);
    sdp_hooks_close(&pair);
}

static sigjmp_buf after;

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(after, 1);
}

static void touch(const char *what)
{
    if (sigsetjmp(after, 1) == 0) {
        *low = 1;
        sdp_hooks_note("%s: no fault", what);
    } else
        sdp_hooks_note("%s: caught", what);
}

/* Returns the signal that ends a child which does that. */
static int ends_by(void (*action)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        action();
        _exit(0);
    }
    (void)waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void fault(void)
{
    *low = 1;
}

static void send_fault(void)
{
    (void)kill(getpid(), SIGSEGV);
}

/* The program sees its own handlers only, and a fault of its own ends it as ever. */
static void own_handlers(void)
{
    struct sdp_hooks_pair pair;
    struct sigaction action;

    sdp_hooks_open(&pair);
    SAY(write(pair.client, "a", 1));
    SAY(sigaction(SIGSEGV, NULL, &action));
    sdp_hooks_note("default: %d %#x", action.sa_handler == SIG_DFL,
                   (unsigned)action.sa_flags & ~0x04000000u);
    sdp_hooks_note("a fault: %d, a sent one: %d", ends_by(fault), ends_by(send_fault));
    SAY(signal(SIGSEGV, on_fault) == SIG_DFL);
    touch("handler");
    SAY(send(pair.client, low, 10, 0));
    touch("handler after a call");
    SAY(signal(SIGSEGV, SIG_IGN) == on_fault);
    sdp_hooks_note("ignored: a fault: %d, a sent one: %d", ends_by(fault), ends_by(send_fault));
    SAY(signal(SIGSEGV, SIG_DFL) == SIG_IGN);
    SAY(send(pair.client, low, 10, 0));
    sdp_hooks_note("default again: %d", ends_by(fault));
    sdp_hooks_close(&pair);
}

const struct sdp_hooks_named sdp_hooks_memory[] = {
    {"missing_memory", missing_memory}, {"own_handlers", own_handlers}, {NULL, NULL}};
