/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_fork.h"

#include "datagram/ofa_datagram.h"
#include "link/ofa_number.h"
#include "post/ofa_post.h"
#include "support/ofa_log.h"
#include "support/ofa_timer.h"
#include "support/ofa_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define WATCH_NS  UINT64_C(1000000000)
#define PERIOD_NS UINT64_C(5000000)

static void on_time(struct ofa_timer *timer);

/* Guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ofa_context *contexts;
static int ends[2] = {-1, -1}; /* of a pipe; the child has the other end until it exits */
static uint64_t until_ns;      /* when the parent stops waiting for its child */
static struct ofa_timer watch = {.callback = on_time};

/* ---- Claiming ------------------------------------------------------------------------------- */

/* Claims a queue pair if it uses this CQ; NULL: always. */
static void claim(struct ofa_qp *qp, void *cq)
{
    if (!cq || qp->send_cq == cq || qp->recv_cq == cq)
        ofa_hold_claim(qp);
}

static struct ofa_context *context_of(const struct ofa_cq *cq)
{
    return ofa_context_of(cq->base.context);
}

static void on_progress(struct ofa_cq *cq, bool armed)
{
    struct ofa_context *context = context_of(cq);
    ofa_progress before;

    (void)pthread_mutex_lock(&context->lock);
    before = cq->progress_before;
    if (atomic_load_explicit(&cq->progress, memory_order_relaxed) == on_progress)
        atomic_store_explicit(&cq->progress, before, memory_order_relaxed);
    ofa_number_each_locked(context, claim, cq);
    (void)pthread_mutex_unlock(&context->lock);
    if (before)
        before(cq, armed);
}

static void claim_all_locked(void)
{
    for (struct ofa_context *context = contexts; context; context = context->next) {
        (void)pthread_mutex_lock(&context->lock);
        ofa_number_each_locked(context, claim, NULL);
        (void)pthread_mutex_unlock(&context->lock);
    }
}

/* In the parent: claims all if the child has exited, or its time is over. */
static void on_time(struct ofa_timer *timer)
{
    struct pollfd end = {.events = 0};

    (void)pthread_mutex_lock(&lock);
    end.fd = ends[0];
    if (ofa_clock_ns() < until_ns && poll(&end, 1, 0) == 0) {
        ofa_timer_set(timer, ofa_clock_ns() + PERIOD_NS);
    } else {
        claim_all_locked();
        if (ends[0] >= 0)
            (void)close(ends[0]);
        ends[0] = -1;
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- Forking -------------------------------------------------------------------------------- */

static void wait_for_use(struct ofa_cq *cq)
{
    ofa_progress before = atomic_load_explicit(&cq->progress, memory_order_relaxed);

    if (before == on_progress)
        return;
    cq->progress_before = before;
    atomic_store_explicit(&cq->progress, on_progress, memory_order_relaxed);
}

/* Suspends a connected queue pair, and then sets *any. */
static void suspend(struct ofa_qp *qp, void *any)
{
    if (qp->link.state != OFA_LINK_UP || !ofa_hold_suspend(qp))
        return;
    wait_for_use(qp->send_cq);
    wait_for_use(qp->recv_cq);
    *(bool *)any = true;
}

/* No thread moves datagrams while the process forks. */
static void lock_datagrams(void)
{
    for (struct ofa_context *context = contexts; context; context = context->next)
        (void)pthread_mutex_lock(&context->datagram_lock);
}

static void unlock_datagrams(void)
{
    for (struct ofa_context *context = contexts; context; context = context->next)
        (void)pthread_mutex_unlock(&context->datagram_lock);
}

/* In the child: leaves the ports of numbers to the parent. */
static void leave_ports(void)
{
    for (struct ofa_context *context = contexts; context; context = context->next) {
        ofa_number_leave(context);
        ofa_datagram_leave_ports_locked(context);
    }
}

static void before_fork(void)
{
    bool any = false;

    (void)pthread_mutex_lock(&lock);
    for (struct ofa_context *context = contexts; context; context = context->next) {
        it_ia_handle_t ia = atomic_load_explicit(&context->ia, memory_order_acquire);

        context->frozen = ia && itx_ia_freeze(ia) == IT_SUCCESS;
        if (!context->frozen)
            continue;
        (void)pthread_mutex_lock(&context->lock);
        ofa_number_each_locked(context, suspend, &any);
        (void)pthread_mutex_unlock(&context->lock);
    }
    if (ends[0] >= 0)
        (void)close(ends[0]);
    ends[0] = ends[1] = -1;
    if (any && pipe2(ends, O_CLOEXEC) != 0)
        ends[0] = ends[1] = -1;
    until_ns = any ? ofa_clock_ns() + WATCH_NS : 0;
    lock_datagrams();
}

/* Thaws the adapters. Connections wait for a claim. */
static void go_on(void)
{
    for (struct ofa_context *context = contexts; context; context = context->next) {
        if (!context->frozen)
            continue;
        context->frozen = false;
        if (itx_ia_thaw(atomic_load_explicit(&context->ia, memory_order_relaxed)) != IT_SUCCESS)
            ofa_log("%s cannot be used in this process", context->device->base.name);
    }
}

static void after_in_parent(void)
{
    unlock_datagrams();
    go_on();
    if (ends[1] >= 0)
        (void)close(ends[1]);
    ends[1] = -1;
    if (until_ns != 0)
        ofa_timer_set(&watch, ofa_clock_ns() + PERIOD_NS);
    (void)pthread_mutex_unlock(&lock);
}

/* The child keeps its end of the pipe open until it exits or executes another program. */
static void after_in_child(void)
{
    leave_ports();
    unlock_datagrams();
    go_on();
    if (ends[0] >= 0)
        (void)close(ends[0]);
    ends[0] = ends[1] = -1;
    (void)pthread_mutex_unlock(&lock);
}

/* ---- Contexts ------------------------------------------------------------------------------- */

static void register_handlers(void)
{
    ofa_timer_survive_fork();
    ofa_watch_survive_fork();
    (void)pthread_atfork(before_fork, after_in_parent, after_in_child);
}

void ofa_fork_add(struct ofa_context *context)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, register_handlers);
    (void)pthread_mutex_lock(&lock);
    context->next = contexts;
    contexts = context;
    (void)pthread_mutex_unlock(&lock);
}

void ofa_fork_remove(struct ofa_context *context)
{
    struct ofa_context **link;

    (void)pthread_mutex_lock(&lock);
    for (link = &contexts; *link != context; link = &(*link)->next) {
    }
    *link = context->next;
    (void)pthread_mutex_unlock(&lock);
}
