/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which thread does the work of connections: waiting threads of the program, the library's thread
 * if none waits, and no thread if there is no connection.
 */
#include "exs_kit.h"

#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROUNDS  300
#define THREADS 3

/* ---- Nobody waits --------------------------------------------------------------------------- */

/* The program sleeps in poll, as with its own event loop. */
static void test_descriptor(void)
{
    exs_qhandle_t queue = exs_qcreate(4);
    const struct timeval none = {0, 0};
    struct pollfd descriptor = {.fd = exs_qfd(queue), .events = POLLIN};
    struct exs_pair pair;
    exs_event_t event;
    char octet = 0;

    CHECK(descriptor.fd >= 0);
    exs_pair_open(&pair, SOCK_STREAM);
    for (char i = 1; i <= 20; i++) {
        CHECK_STARTS(exs_recv(pair.server, &octet, 1, 0, queue, NULL, EXS_MHANDLE_UNREGISTERED));
        CHECK_STARTS(
            exs_send(pair.client, &i, 1, EXS_UNSIGNALED, NULL, NULL, EXS_MHANDLE_UNREGISTERED));
        CHECK_RESULT(1, poll(&descriptor, 1, 20000));
        CHECK_RESULT(1, exs_qdequeue(queue, &event, 1, &none));
        CHECK(event.exs_evt_errno == 0 && octet == i);
    }
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(queue));
}

/* ---- Several wait --------------------------------------------------------------------------- */

struct end {
    int fd;
    bool first;
    int wait;
};

static void *play(void *argument)
{
    const struct end *end = argument;
    exs_qhandle_t queue = exs_qcreate(4);
    int ball = 0;

    CHECK(queue != EXS_QHANDLE_INVALID);
    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_WAIT, end->wait));
    for (int i = 0; i < ROUNDS; i++) {
        if (end->first || i > 0)
            CHECK_STARTS(exs_send(end->fd, &i, sizeof(i), EXS_UNSIGNALED | EXS_CREDIT_WAIT, NULL,
                                  NULL, EXS_MHANDLE_UNREGISTERED));
        CHECK_STARTS(exs_recv(end->fd, &ball, sizeof(ball), MSG_WAITALL, queue, NULL,
                              EXS_MHANDLE_UNREGISTERED));
        (void)exs_kit_expect(queue, EXS_EVT_RECV, 0);
        CHECK_EQ(end->first ? i + 1 : i, ball);
    }
    if (!end->first)
        CHECK_RESULT(sizeof(int), exs_write(end->fd, &(int){ROUNDS}, sizeof(int)));
    CHECK_STARTS(exs_qdelete(queue));
    return NULL;
}

/* Each thread waits for a peer in another thread. The thread that leads does the work of all. */
static void test_threads(const int *waits)
{
    struct exs_pair pairs[THREADS];
    struct end ends[2 * THREADS];
    pthread_t threads[2 * THREADS];

    for (int i = 0; i < 2 * THREADS; i++) {
        if (i % 2 == 0)
            exs_pair_open(&pairs[i / 2], SOCK_STREAM);
        ends[i] = (struct end){.fd = i % 2 ? pairs[i / 2].server : pairs[i / 2].client,
                               .first = i % 2 == 0,
                               .wait = waits[i / 2]};
    }
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, play, &ends[i]));
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    for (int i = 0; i < THREADS; i++)
        exs_pair_close(&pairs[i]);
}

/* ---- Nothing happens ------------------------------------------------------------------------ */

static long switches(void)
{
    struct rusage usage;

    CHECK_STARTS(getrusage(RUSAGE_SELF, &usage));
    return usage.ru_nvcsw;
}

/* A thread that polled every millisecond would wake some 500 times. */
static void test_silence(void)
{
    exs_qhandle_t queue = exs_qcreate(4);
    const struct timeval half_a_second = {0, 500000};
    struct exs_pair pair;
    exs_event_t event;
    long before;

    exs_pair_open(&pair, SOCK_STREAM);
    before = switches();
    CHECK_RESULT(0, exs_qdequeue(queue, &event, 1, &half_a_second));
    CHECK(switches() - before < 200);
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(queue));
}

int main(void)
{
    CHECK_STARTS(exs_init(EXS_VERSION1));
    test_descriptor();
    test_threads((const int[]){EXS_WAIT_ADAPTIVE, EXS_WAIT_ADAPTIVE, EXS_WAIT_ADAPTIVE});
    test_threads((const int[]){EXS_WAIT_ADAPTIVE, EXS_WAIT_NOTIFY, EXS_WAIT_NOTIFY});
    test_threads((const int[]){EXS_WAIT_BUSY_POLL, EXS_WAIT_ADAPTIVE, EXS_WAIT_NOTIFY});
    test_silence();
    return 0;
}
