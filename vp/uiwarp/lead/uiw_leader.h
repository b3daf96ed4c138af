/* SPDX-License-Identifier: BSD-2-Clause */
/* The leader word: claimed before anything is read, given back afterwards. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_LEADER_H
#define ITAPI_VP_UIWARP_LEAD_UIW_LEADER_H

#include "vp/uiwarp/queue/uiw.h"

/* True: the caller leads now. */
static inline bool uiw_leader_claim(struct uiw_progress *progress, enum uiw_leader who)
{
    int none = UIW_LEADER_NONE;

    if (atomic_load_explicit(&progress->leader, memory_order_relaxed) != UIW_LEADER_NONE ||
        !atomic_compare_exchange_strong_explicit(&progress->leader, &none, (int)who,
                                                 memory_order_seq_cst, memory_order_relaxed))
        return false;
    if (who == UIW_LEADER_CONSUMER) {
        uint32_t stints = atomic_load_explicit(&progress->stints, memory_order_relaxed);

        atomic_store_explicit(&progress->stints, stints + 1, memory_order_relaxed);
    }
    return true;
}

void uiw_leader_release(struct ual_ia *ia);

/* A thread that waits is woken without an event: it finds the leader word free. */
void uiw_leader_wake_follower(struct uiw_progress *progress);

/* Returns when no leader holds a pointer to an EP that was removed before the call. */
void uiw_leader_quiesce(struct ual_ia *ia);

#endif
