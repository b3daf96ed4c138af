/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calling conventions of netperf's stream test for EXS: sys/exs.h, EXS_VERSION, queues and
 * registrations compared with their INVALID, sends until a number is pending, then a dequeue that
 * waits for half of them with a negative count, an ahandle of -1, and a last dequeue for the rest.
 */
#include "exs_kit.h"

#include <sys/exs.h>
#include <sys/mman.h>

#include <errno.h>
#include <pthread.h>

#define PENDING    16
#define QUEUE_SIZE 128
#define SEND_SIZE  4096
#define WIDTH      8
#define MESSAGES   5000

static exs_qhandle_t queue;
static exs_event_t events[QUEUE_SIZE];

static void *sink(void *argument)
{
    static char buffer[65536];
    size_t total = 0;
    ssize_t got;

    while ((got = exs_read(*(int *)argument, buffer, sizeof(buffer))) > 0)
        total += (size_t)got;
    CHECK_EQ(0, got);
    CHECK_EQ((size_t)MESSAGES * SEND_SIZE, total);
    return NULL;
}

static void run(int fd, char *ring, exs_mhandle_t mhandle)
{
    int pending = 0;
    int messages = 0;
    int dequeued;

    while (messages < MESSAGES) {
        while (pending < PENDING && messages < MESSAGES &&
               exs_send(fd, ring + messages % WIDTH * SEND_SIZE, SEND_SIZE, 0, queue,
                        (exs_ahandle_t)-1, mhandle) == 0) {
            pending++;
            messages++;
        }
        dequeued = exs_qdequeue(queue, events, -(pending >> 1), NULL);
        CHECK_EQ(pending >> 1, dequeued);
        pending -= dequeued;
    }
    CHECK_RESULT(pending, exs_qdequeue(queue, events, -pending, NULL));
    CHECK(events[0].exs_evt_type == EXS_EVT_SEND && events[0].exs_evt_ahandle == (void *)-1);
}

int main(void)
{
    struct exs_pair pair;
    pthread_t thread;
    exs_mhandle_t mhandle;
    char *ring;

    CHECK(exs_init(EXS_VERSION) != -1);
    CHECK((queue = exs_qcreate(QUEUE_SIZE)) != EXS_QHANDLE_INVALID);
    ring = mmap(NULL, WIDTH * SEND_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(ring != MAP_FAILED);
    mhandle = exs_mregister((void *)ring, (size_t)WIDTH * SEND_SIZE, 0);
    CHECK(mhandle != EXS_MHANDLE_INVALID);
    exs_pair_open(&pair, SOCK_STREAM);
    CHECK_EQ(0, pthread_create(&thread, NULL, sink, &pair.server));
    run(pair.client, ring, mhandle);
    CHECK_STARTS(exs_shutdown(pair.client, EXS_SHUT_WR, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    CHECK_EQ(0, pthread_join(thread, NULL));
    exs_pair_close(&pair);
    CHECK_STARTS(exs_mderegister(mhandle, 0));
    CHECK_STARTS(exs_qdelete(queue));
    return 0;
}
