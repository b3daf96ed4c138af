/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads post on one endpoint. A thread that finds the other one sending leaves its requests
 * to that one. When both have returned, all requests must have left without another call into the
 * requester's IA. One of the two threads is also the peer, on its own IA, and counts.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/it_fixture.h"

#define THREADS 2u
#define VALUES  256u
/* Pauses between posts, of any length up to about twice the time of a system call. */
#define SPINS_SHORT 64u
#define SPINS_BITS  8u

/*
 * A few requests are sent at once. Of many in a row the library may defer some. Both cases get
 * their time.
 */
#define SHORT_US  800000u
#define SHORT_MAX 2u
#define LONG_US   200000u
#define LONG_MAX  20u
/* A pause after which the library does not count posts as a burst. */
#define PAUSE_EVERY 128u
#define PAUSE_US    100u

static struct fx_pair pair;
static struct fx_buf values; /* of pair.a: what is written, place i has value i */
static struct fx_buf places; /* of pair.b: one octet for each thread */
static unsigned burst_max;   /* changed between rounds */
static atomic_uint begun;    /* number of rounds begun; 0: none */
static atomic_uint ended;
static atomic_bool over;

/* The posts of one thread in a round: several Writes and Sends, the last one a Send. */
struct burst {
    unsigned posts;
    unsigned writes; /* bit i: post i is a Write */
    uint32_t random; /* for the pauses */
};

static struct burst burst_of(unsigned round, unsigned thread)
{
    uint32_t random = round * THREADS + thread + 1;
    struct burst burst;

    for (unsigned i = 0; i < 4; i++)
        (void)fx_random(&random);
    burst.posts = 1 + fx_random(&random) % burst_max;
    burst.writes = fx_random(&random) & ((1u << (burst.posts - 1)) - 1);
    burst.random = random;
    return burst;
}

static unsigned sends_of(const struct burst *burst)
{
    return burst->posts - (unsigned)__builtin_popcount(burst->writes);
}

static void dawdle(uint32_t *random)
{
    volatile unsigned spins = fx_random(random) % (SPINS_SHORT << fx_random(random) % SPINS_BITS);

    while (spins > 0)
        spins--;
}

static void post(unsigned round, unsigned thread)
{
    struct burst burst = burst_of(round, thread);

    for (unsigned i = 0; i < burst.posts; i++) {
        dawdle(&burst.random);
        if (burst.writes & 1u << i)
            fx_write(pair.a_ep, &values, (round + i) % VALUES, 1, &places, thread, i, FX_QUIET);
        else
            CHECK_OK(it_post_send(pair.a_ep, NULL, 0, i, FX_QUIET));
    }
}

/* Spins for a while, then yields the processor. */
static void await(const atomic_uint *counter, unsigned value)
{
    for (unsigned i = 0; atomic_load(counter) != value; i++) {
        if (i > 1000)
            (void)sched_yield();
    }
}

static void *poster_main(void *argument)
{
    (void)argument;
    for (unsigned round = 1;; round++) {
        await(&begun, round);
        if (atomic_load(&over))
            return NULL;
        post(round, 1);
        atomic_store(&ended, round);
    }
}

/* Takes the Sends. Calls only the peer's IA. */
static void take_sends(unsigned round, unsigned count)
{
    uint64_t end_us = 0;
    it_event_t event;

    for (unsigned taken = 0, polls = 1; taken < count; polls++) {
        it_status_t status = it_evd_dequeue(pair.b.recv_evd, &event);

        if (status == IT_SUCCESS) {
            CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
            CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 0, FX_SIGNAL));
            taken++;
            continue;
        }
        CHECK_STATUS(IT_ERR_QUEUE_EMPTY, status);
        if (polls % 256 != 0)
            continue;
        (void)sched_yield();
        if (end_us == 0)
            end_us = fx_now_us() + FX_PATIENCE_MS * 1000ull;
        if (fx_now_us() > end_us)
            CHECK_FAIL("round %u: %u of %u messages have arrived", round, taken, count);
    }
}

/* Checks that the last Write of each thread has arrived before its last Send. */
static void check_places(unsigned round)
{
    for (unsigned thread = 0; thread < THREADS; thread++) {
        struct burst burst = burst_of(round, thread);

        for (unsigned i = burst.posts; i-- > 0;) {
            if (burst.writes & 1u << i) {
                CHECK_EQ((round + i) % VALUES, places.data[thread]);
                break;
            }
        }
    }
}

static void run_round(unsigned round)
{
    struct burst bursts[THREADS] = {burst_of(round, 0), burst_of(round, 1)};

    atomic_store(&begun, round);
    post(round, 0);
    take_sends(round, sends_of(&bursts[0]) + sends_of(&bursts[1]));
    check_places(round);
    await(&ended, round);
}

static void wait_us(uint64_t time_us)
{
    uint64_t end_us = fx_now_us() + time_us;

    while (fx_now_us() < end_us)
        (void)sched_yield();
}

static unsigned run_rounds(unsigned round, unsigned posts, uint64_t time_us)
{
    uint64_t end_us = fx_now_us() + time_us;

    burst_max = posts;
    do {
        run_round(++round);
        if (round % PAUSE_EVERY == 0)
            wait_us(PAUSE_US);
    } while (fx_now_us() < end_us);
    return round;
}

int main(void)
{
    /*
     * The queue has room for two rounds: requests of the round before may have left without being
     * counted as done.
     */
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr, .events = 2048};

    pthread_t poster;
    unsigned round = 0;

    attr.max_request_dtos = 2 * THREADS * LONG_MAX + 64;
    fx_pair_open_as(&pair, &setup);
    values = fx_node_buf(&pair.a, VALUES);
    places = fx_node_buf(&pair.b, THREADS);
    for (unsigned i = 0; i < VALUES; i++)
        values.data[i] = (unsigned char)i;
    for (unsigned i = 0; i < THREADS * LONG_MAX; i++)
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 0, FX_SIGNAL));
    CHECK(pthread_create(&poster, NULL, poster_main, NULL) == 0);
    round = run_rounds(round, SHORT_MAX, SHORT_US);
    round = run_rounds(round, LONG_MAX, LONG_US);
    atomic_store(&over, true);
    atomic_store(&begun, round + 1);
    CHECK(pthread_join(poster, NULL) == 0);
    fx_pair_close(&pair);
    check_done();
    return 0;
}
