/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events: raising them, and passing them to the program. */
#ifndef ITAPI_ULP_OFA_QUEUE_OFA_EVENT_H
#define ITAPI_ULP_OFA_QUEUE_OFA_EVENT_H

#include "object/ofa_object.h"

/* Called when the object is created. Its events need no memory later. */
void ofa_event_init_port(struct ofa_context *context);
void ofa_event_init_cq(struct ofa_cq *cq);
void ofa_event_init_srq(struct ofa_srq *srq);
void ofa_event_init_qp(struct ofa_qp *qp);

/* Adds an event to the queue of the context. */
void ofa_event_raise_port(struct ofa_context *context, enum ibv_event_type type);
void ofa_event_raise_overrun(struct ofa_cq *cq);
void ofa_event_raise_limit(struct ofa_srq *srq);
void ofa_event_raise_qp(struct ofa_qp *qp, enum ibv_event_type type);

/*
 * The EP takes no more receives of its S-RQ. The program is told once the queue pair is in ERR: the
 * EP has also ended if only the peer is gone, which an InfiniBand queue pair does not notice.
 */
void ofa_event_last_receive(struct ofa_qp *qp);
/* Moves the queue pair to ERR. May be called with any lock. */
void ofa_event_enter_error(struct ofa_qp *qp);

/* Takes the next event for ibv_get_async_event. Returns 0 or errno. */
int ofa_event_get(struct ofa_context *context, struct ibv_async_event *event);

/*
 * Called when nothing raises events of an object any more. Drops its unread events and waits until
 * the program has acknowledged the others.
 */
void ofa_event_drain(struct ofa_context *context, const void *object, pthread_mutex_t *mutex,
                     pthread_cond_t *cond, const uint32_t *completed, const uint32_t *delivered);

/* The limit has caused its event, so that the S-RQ has none any more. */
static inline void ofa_srq_limit_reached(struct ofa_srq *srq)
{
    atomic_store_explicit(&srq->limit, 0, memory_order_relaxed);
    ofa_event_raise_limit(srq);
}

#endif /* ITAPI_ULP_OFA_QUEUE_OFA_EVENT_H */
