/* SPDX-License-Identifier: BSD-2-Clause */
/* The leader word, and how the lead passes on. */
#include "vp/uiwarp/lead/uiw_leader.h"

#include <sched.h>

void uiw_leader_wake_follower(struct uiw_progress *progress)
{
    const struct uiw_follower *follower;
    struct evd_waiter *waiter;

    base_lock_take(&progress->lock);
    follower = BASE_LIST_FIRST(&progress->followers, struct uiw_follower, link);
    waiter = follower ? follower->waiter : NULL;
    base_lock_drop(&progress->lock);
    /* The waiter is part of an EVD, whose memory stays valid: at worst it wakes for nothing. */
    if (waiter) {
        atomic_fetch_add_explicit(&progress->leader_changes, 1, memory_order_relaxed);
        evd_waiter_wake(waiter);
    }
}

/* Notifies a parked loop that a leader has left. Any thread. */
static void leader_tell_loop(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    if (atomic_load_explicit(&progress->loop_parked, memory_order_seq_cst) &&
        atomic_exchange_explicit(&progress->loop_parked, false, memory_order_seq_cst))
        (void)evd_loop_submit(ia->evd.loop, &progress->unpark);
}

void uiw_leader_release(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    uiw_round_end(progress);
    /* Pairs with lead_follow, which enters the list before it reads the word. */
    atomic_store_explicit(&progress->leader, UIW_LEADER_NONE, memory_order_seq_cst);
    if (atomic_load_explicit(&progress->follower_count, memory_order_seq_cst) != 0)
        uiw_leader_wake_follower(progress);
    leader_tell_loop(ia);
}

void uiw_leader_quiesce(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    uint32_t rounds;

    /*
     * A leader has pointers to EPs in the events of its round, and, from round to round, among the
     * active streams. Each round first looks at .purge, and if that has changed, removes all active
     * streams, which still uses them. The round that runs now may have looked before the addition.
     * It may use the EP, and leave it among the active streams. The next round removes it from
     * there. So two rounds have to end.
     */
    atomic_fetch_add_explicit(&progress->purge, 1, memory_order_seq_cst);
    rounds = atomic_load_explicit(&progress->rounds, memory_order_seq_cst);
    while (!uiw_leader_claim(progress, UIW_LEADER_CONSUMER)) {
        /* A leader that sleeps looks at .purge before it uses what epoll reports. */
        if (atomic_load_explicit(&progress->asleep, memory_order_seq_cst) ||
            atomic_load_explicit(&progress->rounds, memory_order_acquire) - rounds >= 2)
            return;
        sched_yield();
    }
    (void)uiw_round_purge(progress);
    uiw_leader_release(ia);
}
