/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/ofa_event.h"

/* ---- Raising -------------------------------------------------------------------------------- */

void ofa_event_init_port(struct ofa_context *context)
{
    static const enum ibv_event_type types[OFA_PORT_EVENTS] = {
        IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR, IBV_EVENT_GID_CHANGE};

    for (size_t i = 0; i < OFA_PORT_EVENTS; i++)
        context->port_events[i].event =
            (struct ibv_async_event){.element.port_num = 1, .event_type = types[i]};
}

void ofa_event_init_cq(struct ofa_cq *cq)
{
    cq->overrun.event =
        (struct ibv_async_event){.element.cq = &cq->base, .event_type = IBV_EVENT_CQ_ERR};
}

void ofa_event_init_srq(struct ofa_srq *srq)
{
    srq->limit_reached.event = (struct ibv_async_event){.element.srq = &srq->base,
                                                        .event_type = IBV_EVENT_SRQ_LIMIT_REACHED};
}

void ofa_event_init_qp(struct ofa_qp *qp)
{
    static const enum ibv_event_type types[OFA_QP_EVENTS] = {
        IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR, IBV_EVENT_SQ_DRAINED,
        IBV_EVENT_QP_LAST_WQE_REACHED};

    for (size_t i = 0; i < OFA_QP_EVENTS; i++)
        qp->events[i].event =
            (struct ibv_async_event){.element.qp = &qp->base, .event_type = types[i]};
}

static void raise_type(struct ofa_context *context, struct ofa_async *events, size_t count,
                       enum ibv_event_type type)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].event.event_type == type)
            ofa_fifo_push(&context->async, &events[i].item);
}

void ofa_event_raise_port(struct ofa_context *context, enum ibv_event_type type)
{
    raise_type(context, context->port_events, OFA_PORT_EVENTS, type);
}

void ofa_event_raise_overrun(struct ofa_cq *cq)
{
    ofa_fifo_push(&ofa_context_of(cq->base.context)->async, &cq->overrun.item);
}

void ofa_event_raise_limit(struct ofa_srq *srq)
{
    ofa_fifo_push(&ofa_context_of(srq->base.context)->async, &srq->limit_reached.item);
}

void ofa_event_raise_qp(struct ofa_qp *qp, enum ibv_event_type type)
{
    raise_type(qp->context, qp->events, OFA_QP_EVENTS, type);
}

/* Of two threads that enter ERR and take the last receive, at least one sees both. */
static void tell_last(struct ofa_qp *qp)
{
    if (atomic_exchange(&qp->last_due, false))
        ofa_event_raise_qp(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
}

void ofa_event_last_receive(struct ofa_qp *qp)
{
    atomic_store(&qp->last_due, true);
    if (!qp->parks || atomic_load(&qp->state) == IBV_QPS_ERR)
        tell_last(qp);
}

void ofa_event_enter_error(struct ofa_qp *qp)
{
    atomic_store(&qp->state, IBV_QPS_ERR);
    tell_last(qp);
}

/* ---- To the program ------------------------------------------------------------------------- */

static const struct ibv_async_event *event_of(const struct ofa_fifo_item *item)
{
    return &((const struct ofa_async *)(const void *)item)->event; /* the first member */
}

/* Returns the object of an event; NULL: the port. */
static void *object_of(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        return event->element.cq;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        return event->element.srq;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        return event->element.qp;
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_WQ_FATAL:
    default:
        return NULL;
    }
}

static void count_delivered(struct ofa_fifo_item *item)
{
    const struct ibv_async_event *event = event_of(item);
    void *object = object_of(event);

    if (!object)
        return;
    if (event->event_type == IBV_EVENT_CQ_ERR)
        ((struct ofa_cq *)object)->async_delivered++;
    else if (event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
        ((struct ofa_srq *)object)->delivered_events++;
    else
        ((struct ofa_qp *)object)->delivered_events++;
}

int ofa_event_get(struct ofa_context *context, struct ibv_async_event *event)
{
    struct ofa_fifo_item *item;
    int error = ofa_fifo_pop(&context->async, count_delivered, &item);

    if (error != 0)
        return error;
    *event = *event_of(item);
    return 0;
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
    (void)pthread_mutex_lock(mutex);
    (*completed)++;
    (void)pthread_cond_signal(cond);
    (void)pthread_mutex_unlock(mutex);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    void *object = object_of(event);

    if (!object)
        return;
    if (event->event_type == IBV_EVENT_CQ_ERR)
        acknowledge(&event->element.cq->mutex, &event->element.cq->cond,
                    &event->element.cq->async_events_completed);
    else if (event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED ||
             event->event_type == IBV_EVENT_SRQ_ERR)
        acknowledge(&event->element.srq->mutex, &event->element.srq->cond,
                    &event->element.srq->events_completed);
    else
        acknowledge(&event->element.qp->mutex, &event->element.qp->cond,
                    &event->element.qp->events_completed);
}

static bool is_of(const struct ofa_fifo_item *item, const void *object)
{
    return object_of(event_of(item)) == object;
}

void ofa_event_drain(struct ofa_context *context, const void *object, pthread_mutex_t *mutex,
                     pthread_cond_t *cond, const uint32_t *completed, const uint32_t *delivered)
{
    /* A callback that has found the object still holds the lock. */
    (void)pthread_mutex_lock(&context->lock);
    while (ofa_fifo_remove(&context->async, is_of, object)) {
    }
    (void)pthread_mutex_unlock(&context->lock);
    (void)pthread_mutex_lock(mutex);
    while ((int32_t)(*completed - *delivered) < 0)
        (void)pthread_cond_wait(cond, mutex);
    (void)pthread_mutex_unlock(mutex);
}
