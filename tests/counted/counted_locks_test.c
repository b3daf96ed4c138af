/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads, each with an IA, an endpoint and event dispatchers of its own, take no lock in common
 * when they post and poll. On the same IA they may meet where posts of a burst wait for company
 * (uiw_progress.lock): what they share there is shown. Which locks are taken is known in builds with
 * assertions only.
 */
#include "base/base_lock.h"

#include "support/it_fixture.h"

#include <pthread.h>
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

/* The locks that a thread has taken while it was at work. */
struct worker {
    pthread_t thread;
    struct fx_node node; /* on the common IA, with EVDs of its own */
    it_ep_handle_t ep;
    it_ep_handle_t peer;
    struct fx_buf from;
    struct fx_buf to;
    unsigned lock_count;
    const struct base_lock *locks[LOCKS_MAX];
    unsigned long taken;
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

static void write_one(struct worker *worker, it_dto_cookie_t cookie)
{
    it_event_t event;
    it_status_t status;

    fx_write(worker->ep, &worker->from, 0, OCTETS, &worker->to, 0, cookie, FX_SIGNAL);
    do {
        status = it_evd_dequeue(worker->node.request_evd, &event);
    } while (status == IT_ERR_QUEUE_EMPTY);
    CHECK_OK(status);
    CHECK_EQ(IT_DTO_RDMA_WRITE_CMPL_EVENT, event.event_number);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    /* Once more in vain: that reads the sockets of the IA. */
    CHECK(it_evd_dequeue(worker->node.request_evd, &event) == IT_ERR_QUEUE_EMPTY);
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    (void)pthread_barrier_wait(&together);
    current = worker;
    for (unsigned i = 0; i < MESSAGES; i++)
        write_one(worker, i);
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

/* Returns the number of locks that both threads have taken. */
static unsigned run(bool same_ia)
{
    struct fx_node a[THREADS];
    struct fx_node b[THREADS];
    struct worker workers[THREADS];

    memset(workers, 0, sizeof(workers));
    for (unsigned i = 0; i < THREADS; i++) {
        unsigned own = same_ia ? 0 : i;

        if (own == i) {
            fx_node_open(&a[i]);
            fx_node_open(&b[i]);
        }
        worker_open(&workers[i], &a[own], &b[own]);
    }
    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    atomic_store(&base_lock_watch, watch);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
    atomic_store(&base_lock_watch, NULL);
    (void)pthread_barrier_destroy(&together);
    for (unsigned i = 0; i < THREADS; i++) {
        printf("%s IA, thread %u: %u locks, taken %lu times\n", same_ia ? "same" : "own", i,
               workers[i].lock_count, workers[i].taken);
        /* Those of its EP and its EVD at least, by each post. */
        CHECK(workers[i].lock_count >= 2);
        CHECK(workers[i].taken >= 2 * MESSAGES);
        fx_buf_free(&workers[i].from);
        fx_buf_free(&workers[i].to);
    }
    for (unsigned i = 0; i < (same_ia ? 1 : THREADS); i++) {
        fx_node_close(&a[i]);
        fx_node_close(&b[i]);
    }
    return shared_locks(&workers[0], &workers[1]);
}

int main(void)
{
    printf("shared on the same IA: %u\n", run(true));
    CHECK_EQ(0, run(false));
    check_done();
    return 0;
}

#endif
