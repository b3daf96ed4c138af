/* SPDX-License-Identifier: BSD-2-Clause */
/* One thread reads the sockets of an IA: the leader. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_LEADER_H
#define ITAPI_VP_UIWARP_LEAD_UIW_LEADER_H

#include "evd/evd_progress.h"
#include "ual/object/ual.h"
#include "vp/uiwarp/queue/uiw.h"
#include "vp/uiwarp/queue/uiw_ep.h"

#include <sys/epoll.h>

/* ---- uiw_leader.c: the leader word ---- */

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

/* ---- uiw_detach.c: active streams that only the leader looks at ---- */

/* A poll of the active stream has found something: it may leave the poll set. */
void uiw_detach_found(struct uiw_progress *progress, struct uiw_active *active);
/* The active stream enters the poll set again. May wait for the send token, held briefly. */
void uiw_detach_end(struct uiw_progress *progress, struct uiw_active *active);
void uiw_detach_end_all(struct uiw_progress *progress);

/* ---- uiw_round.c: a look at the sockets; leader only ---- */

#define UIW_ROUND_EVENTS 64

/* One look, which does not block. Octets read. */
size_t uiw_round_run(struct uiw_progress *progress, bool ask_epoll);

/* Events of the poll set are acted on. Octets read. */
size_t uiw_round_handle(struct uiw_progress *progress, const struct epoll_event *events, int count);
void uiw_round_drain_kick(struct uiw_progress *progress);

/* EPs that are going away are forgotten. False: events collected earlier may name one. */
bool uiw_round_purge(struct uiw_progress *progress);

/* Only the leader writes .rounds and .stints: no read-modify-write is needed. */
static inline void uiw_round_end(struct uiw_progress *progress)
{
    uint32_t rounds = atomic_load_explicit(&progress->rounds, memory_order_relaxed);

    atomic_store_explicit(&progress->rounds, rounds + 1, memory_order_release);
}

/* ---- uiw_sweep.c: what EPs are noted down for is done ---- */

/* Any thread: sends what is deferred, all of it, or of EPs with this EVD, or by this thread. */
void uiw_sweep_deferred(void *ia);
void uiw_sweep_deferred_of(void *ia, const struct evd *evd);
void uiw_sweep_deferred_here(struct ual_ia *ia);

/* A thread is about to sleep on this EVD: held posts of EPs with it go out. NULL: of all EPs. */
void uiw_sweep_held_of(void *ia, const struct evd *evd);

void uiw_sweep_open(struct ual_ia *ia);
void uiw_sweep_stop(struct ual_ia *ia); /* loop thread */

/* uiw_srq_sweep.c */
void uiw_srq_sweep(struct uiw_agenda *agenda);

/* uiw_hold_sweep.c */
void uiw_hold_sweep(struct uiw_agenda *agenda);

/* ---- uiw_handover.c: the loop leads when no consumer does ---- */

bool uiw_handover_open(struct ual_ia *ia);
void uiw_handover_close(struct ual_ia *ia); /* also after an open that failed */
/* No consumer will lead: the loop watches from now on, without waiting for its next tick. */
void uiw_handover_at_once(struct ual_ia *ia);

/* ---- uiw_stay_here.c: a post has left, when so many FPDUs had come ---- */

void uiw_stay_here(struct ual_ep *ual, uint64_t heard, enum uiw_stay_order order);

/* ---- uiw_lead_abroad.c: a consumer leads that sleeps in a poll of its own ---- */

bool uiw_lead_abroad_begin(void *ia, int *fd);
void uiw_lead_abroad_end(void *ia, bool work);
/* If there is one it wakes up, and leaves. */
void uiw_lead_abroad_call_home(struct uiw_progress *progress);

/* ---- uiw_lead.c: a consumer leads; opening and closing ---- */

bool uiw_lead_open(struct ual_ia *ia); /* starts the watch; the loop runs */
void uiw_lead_close(struct ual_ia *ia);

extern const struct evd_progress_ops uiw_lead_ops;

#endif
