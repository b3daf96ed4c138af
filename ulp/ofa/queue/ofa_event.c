/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/ofa_event.h"

#include <stdlib.h>

struct queued {
    struct ofa_fifo_item item;
    struct ibv_async_event event;
};

static struct ibv_async_event *event_of(const struct ofa_fifo_item *item)
{
    return &((struct queued *)(uintptr_t)item)->event;
}

void ofa_event_raise(struct ofa_context *context, struct ibv_async_event event)
{
    struct queued *queued = malloc(sizeof(*queued));

    if (!queued)
        return;
    *queued = (struct queued){.event = event};
    ofa_fifo_push(&context->async, &queued->item);
}

/* ---- To the program ------------------------------------------------------------------------- */

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
    free(item);
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
    struct ofa_fifo_item *unread;

    /* A callback that has found the object still holds the lock. */
    (void)pthread_mutex_lock(&context->lock);
    while ((unread = ofa_fifo_remove(&context->async, is_of, object)) != NULL)
        free(unread);
    (void)pthread_mutex_unlock(&context->lock);
    (void)pthread_mutex_lock(mutex);
    while ((int32_t)(*completed - *delivered) < 0)
        (void)pthread_cond_wait(cond, mutex);
    (void)pthread_mutex_unlock(mutex);
}
