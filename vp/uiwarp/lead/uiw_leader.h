/* SPDX-License-Identifier: BSD-2-Clause */
/* The leader: the one thread that reads the sockets of an IA. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_LEADER_H
#define ITAPI_VP_UIWARP_LEAD_UIW_LEADER_H

#include "evd/evd_progress.h"
#include "ual/object/ual.h"
#include "vp/uiwarp/queue/uiw.h"
#include "vp/uiwarp/queue/uiw_ep.h"

#include <sys/epoll.h>

/* ---- uiw_leader.c: the leader word ---- */

/* Returns true if the caller leads now. */
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

/* Wakes a follower without an event, so that it finds the leader word free and leads. */
void uiw_leader_wake_follower(struct uiw_progress *progress);

/* Returns when no leader holds a pointer to an EP that was removed before the call. */
void uiw_leader_quiesce(struct ual_ia *ia);

/* ---- uiw_detach.c: active streams outside of the poll set ---- */

/* Called after a poll of the active stream with data. May take it out of the poll set. */
void uiw_detach_found(struct uiw_progress *progress, struct uiw_active *active);
/* Puts the active stream back into the poll set. May wait briefly for the send token. */
void uiw_detach_end(struct uiw_progress *progress, struct uiw_active *active);
void uiw_detach_end_all(struct uiw_progress *progress);

/* ---- uiw_round.c: one poll of the sockets; leader only ---- */

#define UIW_ROUND_EVENTS 64

/* Polls the sockets once without blocking. Returns the octets read. */
size_t uiw_round_run(struct uiw_progress *progress, bool ask_epoll);

/* Handles events of the poll set. Returns the octets read. */
size_t uiw_round_handle(struct uiw_progress *progress, const struct epoll_event *events, int count);
void uiw_round_drain_kick(struct uiw_progress *progress);

/* Forgets EPs that go away. Returns false if events collected earlier may name one. */
bool uiw_round_purge(struct uiw_progress *progress);

/*
 * Only the leader writes .rounds and .stints, so no read-modify-write is needed. The store comes
 * before the next look at .purge: see uiw_leader_quiesce.
 */
static inline void uiw_round_end(struct uiw_progress *progress)
{
    uint32_t rounds = atomic_load_explicit(&progress->rounds, memory_order_relaxed);

    atomic_store_explicit(&progress->rounds, rounds + 1, memory_order_seq_cst);
}

/* ---- uiw_sweep.c: runs the agendas ---- */

/* Any thread. Send deferred posts: all, those of EPs with this EVD, or those of this thread. */
void uiw_sweep_deferred(void *ia);
void uiw_sweep_deferred_of(void *ia, const struct evd *evd);
void uiw_sweep_deferred_here(struct ual_ia *ia);

/* Called before a thread sleeps on this EVD. Sends held posts of its EPs. NULL: of all EPs. */
void uiw_sweep_held_of(void *ia, const struct evd *evd);

void uiw_sweep_open(struct ual_ia *ia);
void uiw_sweep_stop(struct ual_ia *ia); /* loop thread */

/* uiw_srq_sweep.c */
void uiw_srq_sweep(struct uiw_agenda *agenda);

/* uiw_hold_sweep.c */
void uiw_hold_sweep(struct uiw_agenda *agenda);

/* ---- uiw_handover.c: the loop leads when no consumer does ---- */

bool uiw_handover_open(struct ual_ia *ia);
void uiw_handover_close(struct ual_ia *ia); /* also after a failed open */
/* Called when no consumer will lead next. The loop watches at once, not at its next tick. */
void uiw_handover_at_once(struct ual_ia *ia);

/* ---- uiw_stay_here.c: the posting thread reads the answer ---- */

/* Obeys uiw_stay_learn's order. heard: uiw_rx.heard before the post left. */
void uiw_stay_here(struct ual_ep *ual, uint64_t heard, enum uiw_stay_order order);

/* ---- uiw_lead_abroad.c: a consumer leads while it sleeps in its own poll ---- */

bool uiw_lead_abroad_begin(void *ia, int *fd);
void uiw_lead_abroad_end(void *ia, bool work);
/* Wakes such a consumer, if there is one, so that it gives up the lead. */
void uiw_lead_abroad_call_home(struct uiw_progress *progress);

/* ---- uiw_lead.c: a consumer leads; opening and closing ---- */

bool uiw_lead_open(struct ual_ia *ia); /* starts the watch; the loop must run */
void uiw_lead_close(struct ual_ia *ia);

extern const struct evd_progress_ops uiw_lead_ops;

#endif
