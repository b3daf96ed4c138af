/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that a fast poster left for later, so that many requests share a system call. It is sent by
 * the next poll of the thread that posted, the next poll of one of the EP's EVDs or of an AEVD, or
 * whoever waits next. For consumers that do neither the loop sweeps the list every half millisecond,
 * until there has been nothing to do; what those leave who poll elsewhere it sends when it meets it
 * twice, after a millisecond at the most.
 *
 * The list is a stack that is pushed to by compare-and-swap and only ever taken as a whole. Who has
 * taken it pushes back at once what is not for him: threads with EPs and EVDs of their own share no
 * lock, and none sends what is another's.
 *
 * ep.deferral tells whether the EP is on the list, or in the hand of somebody who has taken it, and
 * how many threads use it on that account. An EP of which it is 0 is in nobody's reach.
 */
#include "vp/uiwarp/lead/uiw_handover.h"

#include "base/base_clock.h"

#define DEFER_SWEEP_NS (BASE_NS_PER_MS / 2)

#define DEFER_LISTED UINT32_C(1)
#define DEFER_USER   UINT32_C(2) /* counts threads */

/* Where this thread has deferred last, unless it has flushed there since. Its address names the thread. */
static _Thread_local const struct uiw_progress *defer_here
    __attribute__((tls_model("initial-exec")));

static struct uiw_progress *defer_progress(struct ual_ia *ia)
{
    return &uiw_ia_of(ia)->progress;
}

/* ---------------------------------------------------------------- the list */

/* The EP is marked as listed, and stays for the time of this call: its poster or a user of it calls. */
static void defer_push(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = defer_progress(ia);
    struct ual_ep *head = atomic_load_explicit(&progress->deferred, memory_order_relaxed);

    do {
        uiw_ep_of(ual)->next_deferred = head;
    } while (!atomic_compare_exchange_weak_explicit(&progress->deferred, &head, ual,
                                                    memory_order_seq_cst, memory_order_relaxed));
    /* Whoever takes a mark off finds the EP, unless another has it, who sends it or comes by here. */
    evd_mark_unsent(ual->request_evd);
    evd_mark_unsent(ual->recv_evd);
    /* Pairs with defer_sweep, which says that it ends and then looks at the list. */
    if (!atomic_load_explicit(&progress->sweeping, memory_order_seq_cst) &&
        !atomic_exchange_explicit(&progress->sweeping, true, memory_order_seq_cst))
        (void)evd_loop_submit(ia->evd.loop, &progress->sweep_start);
}

static void defer_put_back(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    /* On the list it may be taken at once, and go away. */
    (void)atomic_fetch_add_explicit(&ep->deferral, DEFER_USER, memory_order_relaxed);
    defer_push(ia, ual);
    (void)atomic_fetch_sub_explicit(&ep->deferral, DEFER_USER, memory_order_release);
}

typedef bool defer_match(struct ual_ep *ual, const void *key);

/*
 * Takes those that match off the list, the oldest first. They remain marked as listed. What others
 * wait for is out of their sight for no longer than this takes.
 */
static struct ual_ep *defer_take(struct ual_ia *ia, defer_match *match, const void *key)
{
    struct ual_ep *all =
        atomic_exchange_explicit(&defer_progress(ia)->deferred, NULL, memory_order_seq_cst);
    struct ual_ep *taken = NULL;

    while (all) {
        struct ual_ep *ual = all;

        all = uiw_ep_of(ual)->next_deferred;
        if (match(ual, key)) {
            uiw_ep_of(ual)->next_deferred = taken;
            taken = ual;
        } else {
            defer_put_back(ia, ual);
        }
    }
    return taken;
}

static bool defer_match_ep(struct ual_ep *ual, const void *key)
{
    return ual == key;
}

static bool defer_match_any(struct ual_ep *ual, const void *key)
{
    (void)ual;
    (void)key;
    return true;
}

static bool defer_match_evd(struct ual_ep *ual, const void *key)
{
    return ual->request_evd == key || ual->recv_evd == key;
}

static bool defer_match_thread(struct ual_ep *ual, const void *key)
{
    return uiw_ep_of(ual)->deferred_by == key;
}

/* Has a sweep met it before? */
static bool defer_match_old(struct ual_ep *ual, const void *key)
{
    bool met = uiw_ep_of(ual)->deferred_met;

    (void)key;
    uiw_ep_of(ual)->deferred_met = true;
    return met;
}

/* ---------------------------------------------------------------- deferring */

void uiw_progress_defer(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    /* Pairs with the addition in defer_send: either it sees our post or we enter the list anew. */
    if (atomic_fetch_or_explicit(&ep->deferral, DEFER_LISTED, memory_order_seq_cst) & DEFER_LISTED)
        return;
    ep->deferred_met = false;
    ep->deferred_by = &defer_here;
    defer_here = defer_progress(ia);
    defer_push(ia, ual);
}

void uiw_progress_undefer(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    uiw_hold_leave(ia, ual);
    /* Nobody defers it any more but those who use it. */
    while (atomic_load_explicit(&ep->deferral, memory_order_acquire) != 0) {
        if (defer_take(ia, defer_match_ep, ual))
            (void)atomic_fetch_sub_explicit(&ep->deferral, DEFER_LISTED, memory_order_relaxed);
        else
            sched_yield();
    }
}

/* ---------------------------------------------------------------- flushing */

static void defer_send(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    /* A user instead of listed. */
    (void)atomic_fetch_add_explicit(&ep->deferral, DEFER_USER - DEFER_LISTED, memory_order_seq_cst);
    uiw_tx_kick(ual, false);
    (void)atomic_fetch_sub_explicit(&ep->deferral, DEFER_USER, memory_order_release);
}

/* Bounded: an EP that is deferred again meanwhile has its turn next time. */
static void defer_flush(struct ual_ia *ia, defer_match *match, const void *key)
{
    struct ual_ep *taken = defer_take(ia, match, key);

    while (taken) {
        struct ual_ep *ual = taken;

        taken = uiw_ep_of(ual)->next_deferred;
        defer_send(ual);
    }
}

static bool defer_is_empty(struct ual_ia *ia)
{
    return !atomic_load_explicit(&defer_progress(ia)->deferred, memory_order_relaxed);
}

void uiw_defer_flush(struct ual_ia *ia)
{
    if (!defer_is_empty(ia))
        defer_flush(ia, defer_match_any, NULL);
}

void uiw_defer_flush_evd(struct ual_ia *ia, const struct evd *evd)
{
    if (!defer_is_empty(ia))
        defer_flush(ia, defer_match_evd, evd);
}

void uiw_defer_flush_own(struct ual_ia *ia)
{
    if (defer_is_empty(ia) || defer_here != defer_progress(ia))
        return;
    defer_here = NULL;
    defer_flush(ia, defer_match_thread, &defer_here);
}

/* ---------------------------------------------------------------- the loop's part */

static void defer_sweep(void *argument);

/* Without memory for a timer the next post that defers tries again. */
static void defer_next_sweep(struct ual_ia *ia)
{
    struct uiw_progress *progress = defer_progress(ia);

    if (!evd_timer_start(&progress->sweep, ia->evd.loop, DEFER_SWEEP_NS, defer_sweep, ia))
        atomic_store_explicit(&progress->sweeping, false, memory_order_seq_cst);
}

static void defer_sweep(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = defer_progress(ia);
    uint32_t stints = atomic_load_explicit(&progress->stints, memory_order_relaxed);

    atomic_fetch_add_explicit(&progress->thread_wakeups, 1, memory_order_relaxed);
    if (!atomic_load_explicit(&progress->deferred, memory_order_seq_cst)) {
        atomic_store_explicit(&progress->sweeping, false, memory_order_seq_cst);
        /* Who has pushed in between, and saw .sweeping set, counts on us. */
        if (!atomic_load_explicit(&progress->deferred, memory_order_seq_cst) ||
            atomic_exchange_explicit(&progress->sweeping, true, memory_order_seq_cst))
            return;
    }
    /* A consumer that has led meanwhile is likely to flush by itself, and better than we would. */
    if (stints == progress->stints_swept)
        defer_flush(ia, defer_match_any, NULL);
    else
        defer_flush(ia, defer_match_old, NULL);
    progress->stints_swept = stints;
    defer_next_sweep(ia);
}

/* The consumer is likely to flush by itself: the loop does not come in between at once. */
static void defer_start(struct evd_task *task)
{
    struct uiw_progress *progress =
        (struct uiw_progress *)(void *)((char *)task - offsetof(struct uiw_progress, sweep_start));
    struct uiw_ia *ia =
        (struct uiw_ia *)(void *)((char *)progress - offsetof(struct uiw_ia, progress));

    progress->stints_swept = atomic_load_explicit(&progress->stints, memory_order_relaxed);
    defer_next_sweep(ia->ual);
}

void uiw_defer_init(struct ual_ia *ia)
{
    defer_progress(ia)->sweep_start.run = defer_start;
}

void uiw_defer_stop(struct ual_ia *ia)
{
    evd_timer_stop(&defer_progress(ia)->sweep);
}
