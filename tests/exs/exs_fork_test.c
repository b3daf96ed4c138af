/* SPDX-License-Identifier: BSD-2-Clause */
/* A child of a process with sockets has none, may open its own, and does not touch the parent's. */
#include "exs_kit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 200

static void say_hello(int from, int to)
{
    char text[6] = {0};

    CHECK_RESULT(5, exs_write(from, "hello", 5));
    CHECK_RESULT(
        5, exs_recv(to, text, 5, MSG_WAITALL | EXS_BLOCK, NULL, NULL, EXS_MHANDLE_UNREGISTERED));
    CHECK(strcmp(text, "hello") == 0);
}

/* The parent's handles are invalid here. */
static void look_at_parents(const struct exs_pair *pair, exs_qhandle_t queue, exs_mhandle_t handle,
                            char *memory)
{
    exs_event_t event;
    struct timeval none = {0, 0};

    CHECK_ERRNO(EBADF, exs_write(pair->client, "x", 1));
    CHECK_ERRNO(EBADF, exs_recv(pair->server, memory, 1, EXS_BLOCK, NULL, NULL, handle));
    CHECK_ERRNO(EBADF, exs_close(pair->client, EXS_BLOCK, NULL, NULL));
    CHECK_ERRNO(EBADF, exs_fcntl(pair->listener, EXS_F_GETFD));
    CHECK(exs_qdequeue(queue, &event, 1, &none) == -1);
    CHECK(exs_mderegister(handle, 0) == -1);
}

static void run_child(const struct exs_pair *parents, exs_qhandle_t queue, exs_mhandle_t handle,
                      char *memory)
{
    struct exs_pair pair;

    look_at_parents(parents, queue, handle, memory);
    CHECK_ERRNO(EPERM, exs_socket(PF_INET, SOCK_STREAM, 0));
    exs_pair_open(&pair, SOCK_STREAM); /* with exs_init */
    look_at_parents(parents, queue, handle, memory);
    say_hello(pair.client, pair.server);
    say_hello(pair.server, pair.client);
    exs_pair_close(&pair);
    _exit(0);
}

/* ---- While others are at work --------------------------------------------------------------- */

static void *register_often(void *stopped)
{
    char memory[64];

    while (!atomic_load((atomic_bool *)stopped))
        CHECK_STARTS(exs_mderegister(exs_mregister(memory, sizeof(memory), 0), 0));
    return NULL;
}

/* Nothing may wait for a thread that the child does not have. */
static void run_short_child(void)
{
    char memory[64];

    CHECK_STARTS(prctl(PR_SET_PDEATHSIG, SIGKILL)); /* the test's time limit ends this child, too */
    CHECK_STARTS(exs_init(EXS_VERSION1));
    CHECK(exs_mregister(memory, sizeof(memory), 0) != EXS_MHANDLE_INVALID);
    _exit(0);
}

static void test_busy(void)
{
    atomic_bool stopped = false;
    pthread_t threads[2];
    int status;
    pid_t child;

    for (size_t i = 0; i < 2; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, register_often, &stopped));
    for (int i = 0; i < FORKS; i++) {
        child = fork();
        CHECK(child >= 0);
        if (child == 0)
            run_short_child();
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store(&stopped, true);
    for (size_t i = 0; i < 2; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
}

int main(void)
{
    struct exs_pair pair;
    exs_qhandle_t queue;
    exs_mhandle_t handle;
    char memory[64];
    int status;
    pid_t child;

#ifdef __SANITIZE_THREAD__
    puts("skipped: ThreadSanitizer allows no threads after a fork");
    return 77;
#endif
#ifdef __SANITIZE_ADDRESS__
    puts("skipped: a lock of AddressSanitizer's allocator may be taken for ever in the child");
    return 77;
#endif
    exs_pair_open(&pair, SOCK_STREAM);
    queue = exs_qcreate(4);
    handle = exs_mregister(memory, sizeof(memory), 0);
    CHECK_STARTS(exs_recv(pair.server, memory, 5, MSG_WAITALL, queue, NULL, handle));
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        run_child(&pair, queue, handle, memory);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_RESULT(5, exs_write(pair.client, "hello", 5));
    (void)exs_kit_expect(queue, EXS_EVT_RECV, 0);
    say_hello(pair.server, pair.client);
    CHECK_STARTS(exs_mderegister(handle, 0));
    CHECK_STARTS(exs_qdelete(queue));
    exs_pair_close(&pair);
    test_busy();
    return 0;
}
