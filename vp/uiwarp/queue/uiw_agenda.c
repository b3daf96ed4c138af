/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of EPs with something to do later. A stack holds posts that wait for company, a list with a lock
 * holds posts that wait for another post. lead/uiw_defer.c and lead/uiw_hold.c act on what they take out.
 */
#include "vp/uiwarp/queue/uiw_agenda.h"

#include "vp/uiwarp/queue/uiw_sq.h"

/* ---------------------------------------------------------------- posts that wait for company */

/* Where this thread has deferred last, unless it has flushed there since. Its address names the thread. */
_Thread_local const struct uiw_progress *uiw_defer_here;

/* The EP is marked as listed, and stays for the time of this call: its poster or a user of it calls. */
static void defer_push(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    struct ual_ep *head = atomic_load_explicit(&progress->deferred, memory_order_relaxed);

    do {
        uiw_ep_of(ual)->later.next_deferred = head;
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
    (void)atomic_fetch_add_explicit(&ep->later.deferral, UIW_DEFER_USER, memory_order_relaxed);
    defer_push(ia, ual);
    (void)atomic_fetch_sub_explicit(&ep->later.deferral, UIW_DEFER_USER, memory_order_release);
}

/*
 * Takes those that match off the list, the oldest first. They remain marked as listed. What others
 * wait for is out of their sight for no longer than this takes.
 */
struct ual_ep *uiw_defer_take(struct ual_ia *ia, uiw_defer_match *match, const void *key)
{
    struct ual_ep *all =
        atomic_exchange_explicit(&uiw_progress_of(ia)->deferred, NULL, memory_order_seq_cst);
    struct ual_ep *taken = NULL;

    while (all) {
        struct ual_ep *ual = all;

        all = uiw_ep_of(ual)->later.next_deferred;
        if (match(ual, key)) {
            uiw_ep_of(ual)->later.next_deferred = taken;
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

void uiw_progress_defer(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    /* Pairs with the addition in defer_send: either it sees our post or we enter the list anew. */
    if (atomic_fetch_or_explicit(&ep->later.deferral, UIW_DEFER_LISTED, memory_order_seq_cst) &
        UIW_DEFER_LISTED)
        return;
    ep->later.deferred_met = false;
    ep->later.deferred_by = &uiw_defer_here;
    uiw_defer_here = uiw_progress_of(ia);
    defer_push(ia, ual);
}

void uiw_progress_undefer(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    uiw_hold_leave(ia, ual);
    /* Nobody defers it any more but those who use it. */
    while (atomic_load_explicit(&ep->later.deferral, memory_order_acquire) != 0) {
        if (uiw_defer_take(ia, defer_match_ep, ual))
            (void)atomic_fetch_sub_explicit(&ep->later.deferral, UIW_DEFER_LISTED,
                                            memory_order_relaxed);
        else
            sched_yield();
    }
}

/* ---------------------------------------------------------------- posts that wait for another post */

static void hold_enter_locked(struct uiw_progress *progress, struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    base_lock_assert_held(&progress->lock);
    if (ep->later.held)
        return;
    ep->later.held = true;
    ep->later.next_held = progress->held;
    progress->held = ual;
}

static void hold_leave_locked(struct uiw_progress *progress, struct ual_ep *ual)
{
    struct ual_ep **link = &progress->held;

    base_lock_assert_held(&progress->lock);
    if (!uiw_ep_of(ual)->later.held)
        return;
    while (*link != ual)
        link = &uiw_ep_of(*link)->later.next_held;
    *link = uiw_ep_of(ual)->later.next_held;
    uiw_ep_of(ual)->later.held = false;
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
    (void)atomic_exchange_explicit(&uiw_ep_of(ual)->later.held_hint, false, memory_order_seq_cst);
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

    /* Pairs with the exchange in uiw_hold_take: either it sees our post or we enter the list anew. */
    if (atomic_exchange_explicit(&ep->later.held_hint, true, memory_order_seq_cst))
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

/* Takes one off the list, with this EVD if it is not NULL; it stays valid until uiw_hold_done. */
struct ual_ep *uiw_hold_take(struct uiw_progress *progress, const struct evd *evd)
{
    struct ual_ep *ual;

    base_lock_take(&progress->lock);
    ual = progress->held;
    while (ual && !hold_concerns(ual, evd))
        ual = uiw_ep_of(ual)->later.next_held;
    if (ual) {
        hold_leave_locked(progress, ual);
        (void)atomic_exchange_explicit(&uiw_ep_of(ual)->later.held_hint, false,
                                       memory_order_seq_cst);
        progress->holders++;
    }
    base_lock_drop(&progress->lock);
    return ual;
}

void uiw_hold_done(struct uiw_progress *progress)
{
    base_lock_take(&progress->lock);
    progress->holders--;
    base_lock_drop(&progress->lock);
}

unsigned uiw_hold_count(struct uiw_progress *progress)
{
    unsigned count = 0;

    base_lock_take(&progress->lock);
    for (struct ual_ep *ual = progress->held; ual; ual = uiw_ep_of(ual)->later.next_held)
        count++;
    base_lock_drop(&progress->lock);
    return count;
}
