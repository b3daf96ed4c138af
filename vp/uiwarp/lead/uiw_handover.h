/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the progress engine share: the leader's round, the loop's part, deferral. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_HANDOVER_H
#define ITAPI_VP_UIWARP_LEAD_UIW_HANDOVER_H

#include "vp/uiwarp/queue/uiw_ep.h"

#include <sys/epoll.h>

void uiw_progress_release(struct ual_ia *ia);
/* Leader: one non-blocking look at the sockets. Octets read. */
size_t uiw_progress_round(struct uiw_progress *progress, bool ask_epoll);

/* uiw_handover.c */
bool uiw_handover_open(struct ual_ia *ia);
void uiw_handover_close(struct ual_ia *ia);

/* uiw_defer.c */
/* Any thread: sends what was deferred, all of it, or of EPs with this EVD, or by this thread. */
void uiw_defer_flush(struct ual_ia *ia);
void uiw_defer_flush_evd(struct ual_ia *ia, const struct evd *evd);
void uiw_defer_flush_own(struct ual_ia *ia);
void uiw_defer_init(struct ual_ia *ia);
void uiw_defer_stop(struct ual_ia *ia); /* loop thread */
void uiw_hold_init(struct ual_ia *ia);
void uiw_hold_stop(struct ual_ia *ia); /* loop thread */

#define UIW_ROUND_EVENTS 64
bool uiw_round_purge(struct uiw_progress *progress);
size_t uiw_round_handle(struct uiw_progress *progress, const struct epoll_event *events, int count);
void uiw_round_drain_kick(struct uiw_progress *progress);
void uiw_leader_wake_follower(struct uiw_progress *progress);

/* Returns true if the caller leads now. */
static inline bool uiw_progress_claim(struct uiw_progress *progress, enum uiw_leader who)
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

/* Only the leader writes .rounds and .stints: no read-modify-write is needed. */
static inline void uiw_round_end(struct uiw_progress *progress)
{
    uint32_t rounds = atomic_load_explicit(&progress->rounds, memory_order_relaxed);

    atomic_store_explicit(&progress->rounds, rounds + 1, memory_order_release);
}

/* Somebody is about to sleep on this EVD: what is held of EPs with it goes out now. NULL: of all. */
void uiw_progress_release_evd(void *ia, const struct evd *evd);
void uiw_srq_watch_init(struct ual_ia *ia);
void uiw_srq_watch_stop(struct ual_ia *ia); /* loop thread */

#endif
