/* SPDX-License-Identifier: BSD-2-Clause */
/* Delivering events into EVDs: for the access layer and the providers. */
#ifndef ITAPI_EVD_DELIVER_EVD_DELIVER_H
#define ITAPI_EVD_DELIVER_EVD_DELIVER_H

#include "evd/queue/evd.h"

enum evd_push_result {
    EVD_PUSHED,      /* queued, nobody to wake */
    EVD_PUSHED_WAKE, /* queued: call evd_wake() as soon as no lock is held */
    EVD_LOST         /* overflow: the event is lost; call evd_wake(), which reports the overflow */
};

/* Queues a completion. May be called with provider locks held: takes only the EVD's own lock. */
enum evd_push_result evd_push_dto(struct evd *evd, const struct evd_dto *dto);

/*
 * Wakes a waiter, makes the descriptor readable, wakes the AEVD, reports an overflow: whatever is
 * due. No lock may be held.
 */
void evd_wake(struct evd *evd);

/*
 * Queues an event that is no completion, fills in its any.evd, and wakes as evd_wake does where
 * needed. No lock may be held. Returns false when the event was lost.
 */
bool evd_deliver(struct evd *evd, const it_event_t *event);

/* The same, but returns false, and causes no overflow, when the EVD is full. */
bool evd_push_unless_full(struct evd *evd, const it_event_t *event);

/* For an EP that is being freed: its queued completions stay, but retire no slots any more. */
void evd_disown_dto(struct evd *evd, it_ep_handle_t ep);

/* Raises an event of a Spigot (IT_ASYNC_UNAFF_SPIGOT_...); drops it when no EVD takes it. */
void evd_raise_unaffiliated_spigot(struct evd_ia *ia, it_event_type_t number, size_t spigot_id);

/*
 * Raises an asynchronous error of one EP (0x04002..0x04061) or S-RQ (0x04100); drops it when no
 * EVD takes it. No lock may be held.
 */
void evd_raise_affiliated_ep(struct evd_ia *ia, it_event_type_t number, it_ep_handle_t ep);

void evd_raise_affiliated_srq(struct evd_ia *ia, it_event_type_t number, it_srq_handle_t srq);
/*
 * Moves completions from the source to the queue while it has room. If it returns true, call
 * evd_wake().
 */
bool evd_source_move(struct evd *evd);

#endif
