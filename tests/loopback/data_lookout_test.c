/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer that polls rarely, but often enough to serve the streams itself, soon reads all of
 * them, including those that were idle while others were not.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "support/it_fixture.h"

#define READS 20u
/*
 * The slow poller may poll this many times before half of the Reads are done. If it read all
 * streams only once in 32 polls, it would be about 16.
 */
#define MEDIAN_POLLS 5u
#define PAUSE_NS     800000
/* More polls than it takes until a stream without data counts as idle. */
#define POLLS_LONG  5000u
#define POLLS_SHORT 300u

enum pace {
    PACE_QUICK,
    PACE_SLOW,
    PACE_STOP
};

struct poller {
    pthread_t thread;
    it_evd_handle_t evd; /* nothing is ever queued there */
    _Atomic int pace;
    atomic_uint polls;
};

static void *poller_main(void *argument)
{
    static const struct timespec pause = {0, PAUSE_NS};
    struct poller *poller = argument;
    it_event_t event;
    int pace;

    while ((pace = atomic_load(&poller->pace)) != PACE_STOP) {
        CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(poller->evd, &event));
        atomic_fetch_add(&poller->polls, 1);
        if (pace == PACE_SLOW)
            (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

static void await_polls(const struct poller *poller, unsigned count)
{
    unsigned start = atomic_load(&poller->polls);

    FX_WAIT_WHILE(atomic_load(&poller->polls) - start < count, "polls");
}

static struct {
    struct fx_pair pair; /* the stream that is not idle */
    struct fx_buf local;
    struct fx_buf remote;
    it_ep_handle_t idle[READS]; /* of pair.a */
    struct poller poller;
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.local = fx_node_buf(&bed.pair.a, 64);
    bed.remote = fx_node_buf(&bed.pair.b, 64);
    for (unsigned i = 0; i < READS; i++) {
        bed.idle[i] = fx_ep(&bed.pair.a, NULL);
        fx_join(&bed.pair.a, bed.idle[i], &bed.pair.b, fx_ep(&bed.pair.b, NULL));
    }
    bed.poller.evd = bed.pair.b.request_evd;
    atomic_init(&bed.poller.pace, PACE_QUICK);
    atomic_init(&bed.poller.polls, 0);
    CHECK(pthread_create(&bed.poller.thread, NULL, poller_main, &bed.poller) == 0);
}

static void bed_close(void)
{
    atomic_store(&bed.poller.pace, PACE_STOP);
    CHECK(pthread_join(bed.poller.thread, NULL) == 0);
    fx_node_close(&bed.pair.a);
    fx_node_close(&bed.pair.b);
}

/*
 * During traffic the poller polls so often that it serves the streams in place of the IA's thread.
 */
static void poll_quickly(unsigned polls)
{
    atomic_store(&bed.poller.pace, PACE_QUICK);
    for (unsigned i = 0; i < 4; i++) {
        fx_write(bed.pair.a_ep, &bed.local, 0, 64, &bed.remote, 0, 1, FX_SIGNAL);
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 64);
        await_polls(&bed.poller, polls / 4);
    }
    atomic_store(&bed.poller.pace, PACE_SLOW);
    await_polls(&bed.poller, 2);
}

/* Returns how many polls the Read took. */
static unsigned read_polls(it_ep_handle_t ep)
{
    unsigned start = atomic_load(&bed.poller.polls);
    it_event_t event;

    fx_read(ep, &bed.local, 0, 64, &bed.remote, 0, 2, FX_SIGNAL);
    event = fx_wait(bed.pair.a.request_evd);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK(event.dto_cmpl.ep == ep);
    return atomic_load(&bed.poller.polls) - start;
}

static int compare(const void *left, const void *right)
{
    unsigned a = *(const unsigned *)left;
    unsigned b = *(const unsigned *)right;

    return (a > b) - (a < b);
}

Test(data_lookout, idle_stream_of_a_slow_poller, .init = bed_open, .fini = bed_close)
{
    unsigned took[READS];

    poll_quickly(POLLS_LONG);
    for (unsigned i = 0; i < READS; i++) {
        poll_quickly(POLLS_SHORT);
        took[i] = read_polls(bed.idle[i]);
    }
    qsort(took, READS, sizeof(took[0]), compare);
    if (took[READS / 2] > MEDIAN_POLLS)
        CHECK_FAIL("half of the Reads took %u looks and more, one %u", took[READS / 2],
                   took[READS - 1]);
}
