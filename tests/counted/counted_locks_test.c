/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads, each with its own endpoint and event dispatchers, take no lock in common when they
 * post and poll. The test runs them on two IAs and on one IA, with single posts and with bursts, a
 * part of which is deferred. It watches the initiators of RDMA Writes only: nothing is sent to them
 * that one thread would read for both. Only builds with assertions record the locks.
 */
#include "base/base_lock.h"

#include "support/it_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#ifdef NDEBUG

int main(void)
{
    (void)puts("skipped: locks are recorded in builds with assertions only");
    return 77;
}

#else

#define THREADS   2u
#define LOCKS_MAX 64u
#define MESSAGES  2000u
#define OCTETS    64u
#define BURST     50u       /* divides MESSAGES; some posts of so many are deferred */

/* The locks that a thread has taken while it worked. */
struct worker {
    pthread_t thread;
    struct fx_node node; /* on the common IA, with its own EVDs */
    it_ep_handle_t ep;
    it_ep_handle_t peer;
    struct fx_buf from;
    struct fx_buf to;
    unsigned lock_count;
    const struct base_lock *locks[LOCKS_MAX];
    unsigned long taken;
    unsigned burst; /* posts between two completions */
};

static _Thread_local struct worker *current;
static pthread_barrier_t together;

static void watch(const struct base_lock *lock)
{
    struct worker *worker = current;

    if (worker == NULL)
        return;
    worker->taken++;
    for (unsigned i = 0; i < worker->lock_count; i++) {
        if (worker->locks[i] == lock)
            return;
    }
    CHECK(worker->lock_count < LOCKS_MAX);
    worker->locks[worker->lock_count++] = lock;
}

static uint64_t arrived(const struct worker *worker)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    CHECK_OK(itx_ep_stats(worker->peer, &counters));
    return counters.fpdus_received;
}

static void write_burst(struct worker *worker, uint64_t number)
{
    it_event_t event;
    it_status_t status;

    for (unsigned i = 1; i <= worker->burst; i++)
        fx_write(worker->ep, &worker->from, 0, OCTETS, &worker->to, 0, number,
                 i < worker->burst ? FX_QUIET : FX_SIGNAL);
    do {
        status = it_evd_dequeue(worker->node.request_evd, &event);
    } while (status == IT_ERR_QUEUE_EMPTY);
    CHECK_OK(status);
    CHECK_EQ(IT_DTO_RDMA_WRITE_CMPL_EVENT, event.event_number);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    /* A poll that finds nothing reads the sockets of the IA. */
    CHECK(it_evd_dequeue(worker->node.request_evd, &event) == IT_ERR_QUEUE_EMPTY);
    /* Wait for the octets: any thread that reads would write to a full socket. */
    while (arrived(worker) < number * worker->burst)
        (void)sched_yield();
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    (void)pthread_barrier_wait(&together);
    current = worker;
    for (unsigned i = 1; i <= MESSAGES / worker->burst; i++)
        write_burst(worker, i);
    current = NULL;
    return NULL;
}

static void worker_open(struct worker *worker, const struct fx_node *a, const struct fx_node *b)
{
    worker->node = *a;
    worker->node.request_evd = fx_evd(a, IT_DTO_EVENT_STREAM, 256, IT_THRESHOLD_DISABLE);
    worker->node.recv_evd = fx_evd(a, IT_DTO_EVENT_STREAM, 256, IT_THRESHOLD_DISABLE);
    worker->ep = fx_ep(&worker->node, NULL);
    worker->peer = fx_ep(b, NULL);
    fx_join(&worker->node, worker->ep, b, worker->peer);
    worker->from = fx_buf_make(a, OCTETS);
    worker->to = fx_buf_make(b, OCTETS);
    /* After its response the peer sends nothing more for the start of the connection. */
    fx_read(worker->ep, &worker->from, 0, OCTETS, &worker->to, 0, 0, FX_SIGNAL);
    CHECK_EQ(IT_DTO_SUCCESS, fx_next(worker->node.request_evd).dto_cmpl.dto_status);
}

static unsigned shared_locks(const struct worker *one, const struct worker *other)
{
    unsigned shared = 0;

    for (unsigned i = 0; i < one->lock_count; i++) {
        for (unsigned k = 0; k < other->lock_count; k++)
            shared += one->locks[i] == other->locks[k];
    }
    return shared;
}

static void worker_close(struct worker *worker)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    CHECK_OK(itx_ep_stats(worker->ep, &counters));
    printf("  %u locks, taken %lu times; %" PRIu64 " FPDUs in %" PRIu64 " calls\n",
           worker->lock_count, worker->taken, counters.fpdus_sent, counters.send_calls);
#ifndef __SANITIZE_THREAD__ /* posts may be too slow for a burst under ThreadSanitizer */
    CHECK(worker->burst == 1 || counters.send_calls < counters.fpdus_sent);
#endif
    /* Each post takes at least the locks of its EP and its EVD. */
    CHECK(worker->lock_count >= 2);
    CHECK(worker->taken >= MESSAGES);
    fx_buf_free(&worker->from);
    fx_buf_free(&worker->to);
}

/* Returns the number of locks that both threads have taken. */
static unsigned run(bool same_ia, unsigned burst)
{
    struct fx_node a[THREADS];
    struct fx_node b[THREADS];
    struct worker workers[THREADS];

    printf("%s IA, posts in a burst: %u\n", same_ia ? "same" : "own", burst);
    memset(workers, 0, sizeof(workers));
    for (unsigned i = 0; i < THREADS; i++) {
        unsigned own = same_ia ? 0 : i;

        if (own == i) {
            fx_node_open(&a[i]);
            fx_node_open(&b[i]);
        }
        worker_open(&workers[i], &a[own], &b[own]);
        workers[i].burst = burst;
    }
    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    atomic_store(&base_lock_watch, watch);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
    atomic_store(&base_lock_watch, NULL);
    (void)pthread_barrier_destroy(&together);
    for (unsigned i = 0; i < THREADS; i++)
        worker_close(&workers[i]);
    for (unsigned i = 0; i < (same_ia ? 1 : THREADS); i++) {
        fx_node_close(&a[i]);
        fx_node_close(&b[i]);
    }
    return shared_locks(&workers[0], &workers[1]);
}

int main(void)
{
    CHECK_EQ(0, run(true, 1));
    CHECK_EQ(0, run(true, BURST));
    CHECK_EQ(0, run(false, 1));
    CHECK_EQ(0, run(false, BURST));
    check_done();
    return 0;
}

#endif
