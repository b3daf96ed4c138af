/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events: raising them, and passing them to the program. */
#ifndef ITAPI_ULP_OFA_QUEUE_OFA_EVENT_H
#define ITAPI_ULP_OFA_QUEUE_OFA_EVENT_H

#include "object/ofa_object.h"

void ofa_event_raise(struct ofa_context *context, struct ibv_async_event event);

static inline void ofa_event_raise_qp(struct ofa_qp *qp, enum ibv_event_type type)
{
    ofa_event_raise(qp->context,
                    (struct ibv_async_event){.element.qp = &qp->base, .event_type = type});
}

static inline void ofa_event_raise_srq(struct ofa_srq *srq, enum ibv_event_type type)
{
    ofa_event_raise(ofa_context_of(srq->base.context),
                    (struct ibv_async_event){.element.srq = &srq->base, .event_type = type});
}

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
    ofa_event_raise_srq(srq, IBV_EVENT_SRQ_LIMIT_REACHED);
}

#endif /* ITAPI_ULP_OFA_QUEUE_OFA_EVENT_H */
