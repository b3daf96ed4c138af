/* SPDX-License-Identifier: BSD-2-Clause */
/* Events on their way into EVDs, for the layers above and the providers. */
#ifndef ITAPI_EVD_DELIVER_EVD_DELIVER_H
#define ITAPI_EVD_DELIVER_EVD_DELIVER_H

#include "evd/queue/evd.h"

enum evd_push_result {
    EVD_PUSHED,      /* queued, nobody to wake */
    EVD_PUSHED_WAKE, /* queued: call evd_wake() as soon as no lock is held */
    EVD_LOST         /* overflow: the event is gone; call evd_wake(), which reports the overflow */
};

/* Queues a completion. May be called with provider locks held: takes only the EVD's own lock. */
enum evd_push_result evd_push_dto(struct evd *evd, const struct evd_dto *dto);

/*
 * Wakes a waiter, raises the descriptor, tells the AEVD, reports an overflow. No lock may be held.
 */
void evd_wake(struct evd *evd);

/*
 * Queues any other event and, where needed, wakes as evd_wake does; event->any.evd is filled in
 * here. No lock may be held. True unless the event was lost.
 */
bool evd_deliver(struct evd *evd, const it_event_t *event);

/* The same, but a full EVD refuses the event (false) and does not overflow. No lock may be held. */
bool evd_push_unless_full(struct evd *evd, const it_event_t *event);

/* The EP is being freed: its events stay, but no longer write through evd_dto.retire. */
void evd_disown_dto(struct evd *evd, it_ep_handle_t ep);

/* News of a Spigot (IT_ASYNC_UNAFF_SPIGOT_...); dropped when there is no EVD. */
void evd_raise_unaffiliated_spigot(struct evd_ia *ia, it_event_type_t number, size_t spigot_id);

/*
 * Asynchronous error about one EP (0x04002..0x04061) or S-RQ (0x04100); dropped when there is no
 * EVD. No lock may be held.
 */
void evd_raise_affiliated_ep(struct evd_ia *ia, it_event_type_t number, it_ep_handle_t ep);

void evd_raise_affiliated_srq(struct evd_ia *ia, it_event_type_t number, it_srq_handle_t srq);
/* Moves completions up, as many as there is room for. True: call evd_wake(). */
bool evd_source_move(struct evd *evd);

#endif
