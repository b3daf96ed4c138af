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
#include "vp/uiwarp/queue/uiw_agenda.h"
#include "vp/uiwarp/stream/uiw_drive.h"

#define DEFER_SWEEP_NS (BASE_NS_PER_MS / 2)

/* ---------------------------------------------------------------- the list */

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
    return uiw_ep_of(ual)->later.deferred_by == key;
}

/* Has a sweep met it before? */
static bool defer_match_old(struct ual_ep *ual, const void *key)
{
    bool met = uiw_ep_of(ual)->later.deferred_met;

    (void)key;
    uiw_ep_of(ual)->later.deferred_met = true;
    return met;
}

/* ---------------------------------------------------------------- flushing */

static void defer_send(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    /* A user instead of listed. */
    (void)atomic_fetch_add_explicit(&ep->later.deferral, UIW_DEFER_USER - UIW_DEFER_LISTED,
                                    memory_order_seq_cst);
    uiw_tx_kick(ual, false);
    (void)atomic_fetch_sub_explicit(&ep->later.deferral, UIW_DEFER_USER, memory_order_release);
}

/* Bounded: an EP that is deferred again meanwhile has its turn next time. */
static void defer_flush(struct ual_ia *ia, uiw_defer_match *match, const void *key)
{
    struct ual_ep *taken = uiw_defer_take(ia, match, key);

    while (taken) {
        struct ual_ep *ual = taken;

        taken = uiw_ep_of(ual)->later.next_deferred;
        defer_send(ual);
    }
}

static bool defer_is_empty(struct ual_ia *ia)
{
    return !atomic_load_explicit(&uiw_progress_of(ia)->deferred, memory_order_relaxed);
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
    if (defer_is_empty(ia) || uiw_defer_here != uiw_progress_of(ia))
        return;
    uiw_defer_here = NULL;
    defer_flush(ia, defer_match_thread, &uiw_defer_here);
}

/* ---------------------------------------------------------------- the loop's part */

static void defer_sweep(void *argument);

/* Without memory for a timer the next post that defers tries again. */
static void defer_next_sweep(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    if (!evd_timer_start(&progress->sweep, ia->evd.loop, DEFER_SWEEP_NS, defer_sweep, ia))
        atomic_store_explicit(&progress->sweeping, false, memory_order_seq_cst);
}

static void defer_sweep(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = uiw_progress_of(ia);
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
    uiw_progress_of(ia)->sweep_start.run = defer_start;
}

void uiw_defer_stop(struct ual_ia *ia)
{
    evd_timer_stop(&uiw_progress_of(ia)->sweep);
}
