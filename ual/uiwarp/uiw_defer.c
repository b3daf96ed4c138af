/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that a fast poster left for later, so that many requests share a system call. It is sent by
 * the next thread that polls or waits; for consumers that do neither the loop sweeps the list every
 * half millisecond, until there has been nothing to do.
 */
#include "ual/uiwarp/uiw_handover.h"

#include "base/base_clock.h"

#define DEFER_SWEEP_NS (BASE_NS_PER_MS / 2)

static struct uiw_progress *defer_progress(struct ual_ia *ia)
{
    return &uiw_ia_of(ia)->progress;
}

void uiw_progress_defer(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = defer_progress(ia);
    struct uiw_ep *ep = uiw_ep_of(ual);

    /* Pairs with the exchange in defer_take: either it sees our post or we enter the list anew. */
    if (atomic_exchange_explicit(&ep->deferred_hint, true, memory_order_seq_cst))
        return;
    base_lock_take(&progress->lock);
    if (!ep->deferred) {
        ep->deferred = true;
        ep->next_deferred = progress->deferred;
        progress->deferred = ual;
        atomic_fetch_add_explicit(&progress->deferred_count, 1, memory_order_seq_cst);
    }
    base_lock_drop(&progress->lock);
    if (!atomic_exchange_explicit(&progress->sweeping, true, memory_order_seq_cst))
        (void)evd_loop_submit(ia->evd.loop, &progress->sweep_start);
}

void uiw_progress_undefer(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = defer_progress(ia);
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool used = true;

    while (used) {
        base_lock_take(&progress->lock);
        if (ep->deferred) {
            struct ual_ep **link = &progress->deferred;

            while (*link != ual)
                link = &uiw_ep_of(*link)->next_deferred;
            *link = ep->next_deferred;
            ep->deferred = false;
            atomic_fetch_sub_explicit(&progress->deferred_count, 1, memory_order_seq_cst);
        }
        uiw_hold_leave_locked(progress, ual);
        used = progress->flushers > 0;
        base_lock_drop(&progress->lock);
        if (used)
            sched_yield();
    }
}

/* Takes the oldest EP off the list; it stays valid until .flushers goes down again. */
static struct ual_ep *defer_take(struct uiw_progress *progress)
{
    struct ual_ep *ual;

    base_lock_take(&progress->lock);
    ual = progress->deferred;
    if (ual) {
        struct uiw_ep *ep = uiw_ep_of(ual);

        progress->deferred = ep->next_deferred;
        ep->deferred = false;
        atomic_exchange_explicit(&ep->deferred_hint, false, memory_order_seq_cst);
        atomic_fetch_sub_explicit(&progress->deferred_count, 1, memory_order_seq_cst);
        progress->flushers++;
    }
    base_lock_drop(&progress->lock);
    return ual;
}

static void defer_done(struct uiw_progress *progress)
{
    base_lock_take(&progress->lock);
    progress->flushers--;
    base_lock_drop(&progress->lock);
}

void uiw_defer_flush(struct ual_ia *ia)
{
    struct uiw_progress *progress = defer_progress(ia);
    uint32_t count = atomic_load_explicit(&progress->deferred_count, memory_order_relaxed);

    /* Bounded: an EP that is deferred again meanwhile has its turn next time. */
    for (; count > 0; count--) {
        struct ual_ep *ual = defer_take(progress);

        if (!ual)
            return;
        uiw_tx_kick(ual, false, false);
        defer_done(progress);
    }
}

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
    if (atomic_load_explicit(&progress->deferred_count, memory_order_seq_cst) == 0) {
        atomic_store_explicit(&progress->sweeping, false, memory_order_seq_cst);
        /* A post that came in between saw .sweeping set: it counts on us. */
        if (atomic_load_explicit(&progress->deferred_count, memory_order_seq_cst) == 0 ||
            atomic_exchange_explicit(&progress->sweeping, true, memory_order_seq_cst))
            return;
    }
    /* A consumer that has led meanwhile flushes by itself, and better than we would. */
    if (stints == progress->stints_swept)
        uiw_defer_flush(ia);
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
