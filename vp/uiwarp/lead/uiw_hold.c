/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests posted with IT_COALESCE_WR_FLAG wait for one without it. A program that sleeps on an EVD of the EP posts none:
 * who is about to sleep lets go what is held, and a post that finds somebody asleep is deferred instead of held. One that
 * is elsewhere is forgiven: the loop looks at such EPs once a second and lets go what it meets twice.
 */
#include "vp/uiwarp/lead/uiw_handover.h"

#include "base/base_clock.h"

#define HOLD_SWEEP_NS (1000 * BASE_NS_PER_MS)

static void hold_enter_locked(struct uiw_progress *progress, struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    base_lock_assert_held(&progress->lock);
    if (ep->held)
        return;
    ep->held = true;
    ep->next_held = progress->held;
    progress->held = ual;
}

static void hold_leave_locked(struct uiw_progress *progress, struct ual_ep *ual)
{
    struct ual_ep **link = &progress->held;

    base_lock_assert_held(&progress->lock);
    if (!uiw_ep_of(ual)->held)
        return;
    while (*link != ual)
        link = &uiw_ep_of(*link)->next_held;
    *link = uiw_ep_of(ual)->next_held;
    uiw_ep_of(ual)->held = false;
}

static bool hold_is_awaited(const struct ual_ep *ual)
{
    return evd_is_awaited(ual->request_evd) || evd_is_awaited(ual->recv_evd) ||
           evd_is_awaited(ual->connect_evd);
}

/* The poster: off the list again, and sent soon. */
static void hold_defer(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = &uiw_ia_of(ia)->progress;

    base_lock_take(&progress->lock);
    hold_leave_locked(progress, ual);
    (void)atomic_exchange_explicit(&uiw_ep_of(ual)->held_hint, false, memory_order_seq_cst);
    base_lock_drop(&progress->lock);
    if (uiw_sq_let_go(ual))
        uiw_progress_defer(ia, ual);
}

static void hold_enter(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = &uiw_ia_of(ia)->progress;

    base_lock_take(&progress->lock);
    hold_enter_locked(progress, ual);
    base_lock_drop(&progress->lock);
    if (!atomic_exchange_explicit(&progress->holding, true, memory_order_seq_cst))
        (void)evd_loop_submit(ia->evd.loop, &progress->hold_start);
}

void uiw_progress_hold(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    /* Pairs with the exchange in hold_take: either it sees our post or we enter the list anew. */
    if (atomic_exchange_explicit(&ep->held_hint, true, memory_order_seq_cst))
        return;
    hold_enter(ia, ual);
    /* Pairs with the waiter, who registers and then looks at the list: either it or we see the other. */
    if (hold_is_awaited(ual))
        hold_defer(ia, ual);
}

void uiw_hold_leave(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = &uiw_ia_of(ia)->progress;
    bool used = true;

    while (used) {
        base_lock_take(&progress->lock);
        hold_leave_locked(progress, ual);
        used = progress->holders > 0;
        base_lock_drop(&progress->lock);
        if (used)
            sched_yield();
    }
}

static bool hold_concerns(const struct ual_ep *ual, const struct evd *evd)
{
    return !evd || ual->request_evd == evd || ual->recv_evd == evd || ual->connect_evd == evd;
}

/* Takes one off the list, with this EVD if it is not NULL; it stays valid until hold_done. */
static struct ual_ep *hold_take(struct uiw_progress *progress, const struct evd *evd)
{
    struct ual_ep *ual;

    base_lock_take(&progress->lock);
    ual = progress->held;
    while (ual && !hold_concerns(ual, evd))
        ual = uiw_ep_of(ual)->next_held;
    if (ual) {
        hold_leave_locked(progress, ual);
        (void)atomic_exchange_explicit(&uiw_ep_of(ual)->held_hint, false, memory_order_seq_cst);
        progress->holders++;
    }
    base_lock_drop(&progress->lock);
    return ual;
}

static void hold_done(struct uiw_progress *progress)
{
    base_lock_take(&progress->lock);
    progress->holders--;
    base_lock_drop(&progress->lock);
}

static unsigned hold_count(struct uiw_progress *progress)
{
    unsigned count = 0;

    base_lock_take(&progress->lock);
    for (struct ual_ep *ual = progress->held; ual; ual = uiw_ep_of(ual)->next_held)
        count++;
    base_lock_drop(&progress->lock);
    return count;
}

/* Bounded: an EP that enters the list meanwhile is its poster's. */
void uiw_progress_release_evd(void *context, const struct evd *evd)
{
    struct ual_ia *ia = context;
    struct uiw_progress *progress = &uiw_ia_of(ia)->progress;
    struct ual_ep *ual;

    if (!atomic_load_explicit(&progress->holding, memory_order_seq_cst))
        return;
    for (unsigned count = hold_count(progress); count > 0; count--) {
        ual = hold_take(progress, evd);
        if (!ual)
            break;
        if (uiw_sq_let_go(ual))
            uiw_tx_kick(ual, false);
        hold_done(progress);
    }
}

static void hold_sweep(void *argument);

/* Without memory for a timer the next post that is held tries again. */
static void hold_next_sweep(struct ual_ia *ia)
{
    struct uiw_progress *progress = &uiw_ia_of(ia)->progress;

    if (!evd_timer_start(&progress->hold, ia->evd.loop, HOLD_SWEEP_NS, hold_sweep, ia))
        atomic_store_explicit(&progress->holding, false, memory_order_seq_cst);
}

static void hold_look_at(struct ual_ia *ia, struct ual_ep *ual)
{
    switch (uiw_sq_age_hold(ual)) {
    case UIW_HOLD_NONE:
        break;
    case UIW_HOLD_YOUNG:
        uiw_progress_hold(ia, ual);
        break;
    case UIW_HOLD_OVER:
        uiw_tx_kick(ual, false);
        break;
    }
}

static void hold_sweep(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = &uiw_ia_of(ia)->progress;
    struct ual_ep *ual;

    atomic_fetch_add_explicit(&progress->thread_wakeups, 1, memory_order_relaxed);
    /* Bounded: an EP that enters the list meanwhile has its turn next time. */
    for (unsigned count = hold_count(progress); count > 0; count--) {
        ual = hold_take(progress, NULL);
        if (!ual)
            break;
        hold_look_at(ia, ual);
        hold_done(progress);
    }
    if (hold_count(progress) == 0) {
        atomic_store_explicit(&progress->holding, false, memory_order_seq_cst);
        /* A post that came in between saw .holding set: it counts on us. */
        if (hold_count(progress) == 0 ||
            atomic_exchange_explicit(&progress->holding, true, memory_order_seq_cst))
            return;
    }
    hold_next_sweep(ia);
}

static void hold_start(struct evd_task *task)
{
    struct uiw_progress *progress =
        (struct uiw_progress *)(void *)((char *)task - offsetof(struct uiw_progress, hold_start));
    struct uiw_ia *ia =
        (struct uiw_ia *)(void *)((char *)progress - offsetof(struct uiw_ia, progress));

    hold_next_sweep(ia->ual);
}

void uiw_hold_init(struct ual_ia *ia)
{
    uiw_ia_of(ia)->progress.hold_start.run = hold_start;
}

void uiw_hold_stop(struct ual_ia *ia)
{
    evd_timer_stop(&uiw_ia_of(ia)->progress.hold);
}
