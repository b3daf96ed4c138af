/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another thread cancels or closes while a call starts. Each started call has one event, and
 * exs_cancel counts those that end with ECANCELED.
 */
#include "exs_kit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS  400
#define FILES   1000
#define ACCEPTS 16
#define PAUSE   4000u /* longest delay, turns of an empty loop */

static exs_qhandle_t queue;
static _Atomic int target; /* the descriptor to cancel or close; -1: none */
static _Atomic bool stop;
static _Atomic long counted;

static void pause_a_little(unsigned *seed)
{
    for (volatile int i = rand_r(seed) % PAUSE; i > 0; i--) {
    }
}

/* ---- The other thread ----------------------------------------------------------------------- */

static void cancel(int fd)
{
    long count = exs_cancel(fd, EXS_CAF_FILDES, NULL);

    CHECK(count >= 0);
    counted += count;
}

/* A connection that is just being made cannot be closed yet. */
static void close_it(int fd)
{
    int result;

    while ((result = exs_close(fd, 0, queue, NULL)) != 0 && errno == EBUSY) {
    }
    CHECK_EQ(0, result);
}

static void *act_once(void *argument)
{
    void (*act)(int fd) = *(void (**)(int))argument;
    unsigned seed = 2;

    while (!stop) {
        if (target < 0)
            continue;
        pause_a_little(&seed);
        act(target);
        target = -1;
    }
    return NULL;
}

static void *act_often(void *argument)
{
    (void)argument;
    while (!stop)
        cancel(target);
    return NULL;
}

/* ---- Connecting ----------------------------------------------------------------------------- */

static void accept_all(int listener, exs_qhandle_t accepted, int count)
{
    static exs_acceptaddr_t element;

    for (int i = 0; i < count; i++)
        CHECK_STARTS(exs_accept(listener, &element, 1, 0, accepted));
}

static void close_accepted(int listener, exs_qhandle_t accepted)
{
    const struct timeval none = {0};
    exs_event_t event;

    while (exs_qdequeue(accepted, &event, 1, &none) == 1) {
        CHECK_EQ(0, event.exs_evt_errno);
        CHECK_STARTS(exs_close(event.exs_evt_union.exs_evt_accept.exs_evt_new_socket,
                               EXS_BLOCK | EXS_DONTLINGER, NULL, NULL));
        accept_all(listener, accepted, 1);
    }
}

/* Returns true if the attempt was cancelled. */
static bool connect_once(int port, bool closes, unsigned *seed)
{
    struct sockaddr_in address = exs_kit_address(port);
    int fd = exs_socket(PF_INET, SOCK_STREAM, 0);
    bool cancelled = false;
    exs_event_t event;
    int started;

    CHECK(fd >= 0);
    target = fd;
    pause_a_little(seed);
    started = exs_connect(fd, (struct sockaddr *)&address, sizeof(address), 0, NULL, queue, NULL);
    CHECK(started == 0 || (closes && errno == EBADF));
    if (started == 0) {
        event = exs_kit_event(queue);
        if (closes && event.exs_evt_type == EXS_EVT_CLOSE)
            check_fail(__FILE__, __LINE__, "the close has ended before the connect");
        CHECK_EQ(EXS_EVT_CONNECT, event.exs_evt_type);
        cancelled = event.exs_evt_errno == ECANCELED;
        CHECK(cancelled || event.exs_evt_errno == 0);
    }
    while (target >= 0) {
    }
    if (closes) {
        (void)exs_kit_expect(queue, EXS_EVT_CLOSE, 0);
        return cancelled;
    }
    if (!cancelled)
        CHECK_RESULT(1, exs_write(fd, "x", 1));
    CHECK_STARTS(exs_blocking_close(fd));
    return cancelled;
}

static void test_connect(bool closes)
{
    void (*act)(int fd) = closes ? close_it : cancel;
    exs_qhandle_t accepted = exs_qcreate(ACCEPTS);
    unsigned seed = 1;
    long cancelled = 0;
    pthread_t thread;
    int port;
    int listener = exs_kit_listen(SOCK_STREAM, &port);

    check_context(closes ? "connect, close" : "connect, cancel");
    stop = false;
    counted = 0;
    target = -1;
    accept_all(listener, accepted, ACCEPTS);
    CHECK_EQ(0, pthread_create(&thread, NULL, act_once, &act));
    for (int i = 0; i < ROUNDS; i++) {
        cancelled += connect_once(port, closes, &seed);
        close_accepted(listener, accepted);
    }
    stop = true;
    CHECK_EQ(0, pthread_join(thread, NULL));
    if (!closes)
        CHECK_EQ(cancelled, counted);
    exs_kit_empty(queue);
    CHECK_STARTS(exs_blocking_close(listener));
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void *read_all(void *argument)
{
    static char octets[65536];

    while (exs_read(*(int *)argument, octets, sizeof(octets)) > 0) {
    }
    return NULL;
}

static void test_file(void)
{
    static char octets[1000];
    exs_xferfile_t vector[2] = {{EXS_PATHVEC, {.exs_pathv = {"/proc/self/exe", 0, 0}}},
                                {EXS_IOVEC, {{octets, sizeof(octets), EXS_MHANDLE_UNREGISTERED}}}};
    struct exs_pair pair;
    pthread_t threads[3];
    long cancelled = 0;

    check_context("files, cancel");
    exs_pair_open(&pair, SOCK_STREAM);
    stop = false;
    counted = 0;
    target = pair.client;
    for (int i = 0; i < 3; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, i ? act_often : read_all, &pair.server));
    for (int i = 0; i < FILES; i++) {
        exs_event_t event;

        CHECK_STARTS(exs_sendfile(pair.client, vector, 2, 0, queue, NULL));
        event = exs_kit_event(queue);
        CHECK_EQ(EXS_EVT_SENDFILE, event.exs_evt_type);
        CHECK(event.exs_evt_errno == 0 || event.exs_evt_errno == ECANCELED);
        cancelled += event.exs_evt_errno != 0;
    }
    stop = true;
    CHECK_EQ(0, pthread_join(threads[1], NULL));
    CHECK_EQ(0, pthread_join(threads[2], NULL));
    CHECK_EQ(cancelled, counted);
    CHECK_STARTS(exs_shutdown(pair.client, SHUT_WR, EXS_BLOCK, NULL, NULL));
    CHECK_EQ(0, pthread_join(threads[0], NULL));
    exs_kit_empty(queue);
    exs_pair_close(&pair);
}

int main(void)
{
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(16);
    test_file();
    test_connect(false);
    test_connect(true);
    CHECK_STARTS(exs_qdelete(queue));
    return 0;
}
