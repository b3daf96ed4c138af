/* SPDX-License-Identifier: BSD-2-Clause */
/* Event channels and events. */
#include "cm/ofa_cm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Channels ------------------------------------------------------------------------------- */

struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct cm_channel *channel;
    int error;

    if (!cm_context())
        return NULL;
    channel = calloc(1, sizeof(*channel));
    if (!channel)
        return NULL;
    error = ofa_fifo_open(&channel->fifo);
    if (error != 0) {
        free(channel);
        errno = error;
        return NULL;
    }
    channel->base.fd = channel->fifo.fd;
    return &channel->base;
}

void rdma_destroy_event_channel(struct rdma_event_channel *base)
{
    struct cm_channel *channel = (struct cm_channel *)(void *)base;

    cm_id_orphan_all(base);
    ofa_fifo_close(&channel->fifo);
    free(channel);
}

/* ---- Posting events ------------------------------------------------------------------------- */

/* The connection is established, ends, and leaves the state TIMEWAIT; or it fails. */
#define EVENTS_OF_CONNECTION 3

static struct cm_event *fill(struct cm_event *event, struct cm_id *id, enum rdma_cm_event_type type,
                             int status)
{
    if (!event)
        return NULL;
    event->base.id = &id->base;
    event->base.event = type;
    event->base.status = status;
    event->counted = id;
    return event;
}

/* After an attempt that was refused at once, the reserve is whole. */
int cm_event_reserve(struct cm_id *id)
{
    int count = id->spare ? EVENTS_OF_CONNECTION : 0;

    while (count < EVENTS_OF_CONNECTION) {
        struct cm_event *event = calloc(1, sizeof(*event));

        if (!event) {
            cm_event_release(id);
            return ENOMEM;
        }
        event->next = id->spare;
        id->spare = event;
        count++;
    }
    return 0;
}

void cm_event_release(struct cm_id *id)
{
    struct cm_event *event;

    while ((event = id->spare) != NULL) {
        id->spare = event->next;
        free(event);
    }
}

struct cm_event *cm_event_take(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
    struct cm_event *event = id->spare;

    if (event)
        id->spare = event->next;
    return fill(event, id, type, status);
}

struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
    return fill(calloc(1, sizeof(struct cm_event)), id, type, status);
}

/* On iWARP the program sees the length of the data, without `least`. */
void cm_event_set_data(struct cm_event *event, const void *data, size_t length, size_t least)
{
    if (length > UINT8_MAX)
        length = UINT8_MAX;
    if (length > 0)
        memcpy(event->data, data, length);
    if (!cm_is_iwarp() && length < least)
        length = least;
    if (length == 0)
        return;
    event->base.param.conn.private_data = event->data;
    event->base.param.conn.private_data_len = (uint8_t)length;
}

/* Posts to the current channel of the id that counts the event, unless it is destroyed. */
void cm_event_post(struct cm_event *event)
{
    struct cm_channel *channel = (struct cm_channel *)(void *)event->counted->base.channel;

    if (channel)
        ofa_fifo_push(&channel->fifo, &event->item);
    else
        free(event);
}

/* ---- Getting events ------------------------------------------------------------------------- */

static void count(struct ofa_fifo_item *item)
{
    cm_event_of(item)->counted->events_given++;
}

/* The new id is the listener's in all but its connection. */
static void take_request(struct cm_event *event)
{
    (void)pthread_mutex_lock(&cm_lock);
    event->counted->waiting--;
    (void)pthread_mutex_unlock(&cm_lock);
    event->base.id->context = event->base.listen_id->context;
}

/*
 * Shows the state of the queue pair that rdma_cm moves. The program may be destroying it on another
 * thread, so it is found by its number.
 */
static void show_state(struct cm_id *id)
{
    uint32_t number;

    (void)pthread_mutex_lock(&cm_lock);
    number = id->qp_num;
    (void)pthread_mutex_unlock(&cm_lock);
    cm_door()->show_state(id->base.verbs, number);
}

static void take_connection(const struct cm_event *event)
{
    struct rdma_cm_id *id = event->base.id;

    if (event->local.ss_family != AF_UNSPEC) {
        id->route.addr.src_storage = event->local;
        id->route.addr.dst_storage = event->peer;
    }
    if (id->qp)
        show_state(cm_id_of(id));
}

/*
 * What rdma_cm does to an id and its queue pair when the program gets an event. No other thread may
 * do it: programs read the members without a lock.
 */
static void take(struct cm_event *event)
{
    switch ((int)event->base.event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
        take_request(event);
        break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_ESTABLISHED:
        take_connection(event);
        break;
    case RDMA_CM_EVENT_REJECTED:
        if (event->base.id->qp)
            cm_disconnect(event->base.id->qp); /* so that posted receives complete */
        break;
    default:
        break;
    }
}

int rdma_get_cm_event(struct rdma_event_channel *base, struct rdma_cm_event **result)
{
    struct cm_channel *channel = (struct cm_channel *)(void *)base;
    struct ofa_fifo_item *item;
    int error;

    if (!result)
        return cm_result(EINVAL);
    error = ofa_fifo_pop(&channel->fifo, count, &item);
    if (error != 0)
        return cm_result(error);
    take(cm_event_of(item));
    *result = &cm_event_of(item)->base;
    return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *base)
{
    struct cm_event *event = (struct cm_event *)(void *)base;

    if (!base)
        return cm_result(EINVAL);
    (void)pthread_mutex_lock(&cm_lock);
    event->counted->events_acked++;
    (void)pthread_cond_signal(&event->counted->acked);
    (void)pthread_mutex_unlock(&cm_lock);
    free(event);
    return 0;
}

/* Returns the errno of an event that reports a failed call; otherwise 0. */
static int error_of(const struct rdma_cm_event *event)
{
    if (event->event == RDMA_CM_EVENT_REJECTED)
        return ECONNREFUSED;
    if (event->status < 0)
        return -event->status;
    return event->status > 0 ? EIO : 0;
}

int cm_complete(struct cm_id *id)
{
    if (!id->sync)
        return 0;
    if (id->base.event) {
        (void)rdma_ack_cm_event(id->base.event);
        id->base.event = NULL;
    }
    if (rdma_get_cm_event(id->base.channel, &id->base.event) != 0)
        return -1;
    return cm_result(error_of(id->base.event));
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
    static const char *const names[] = {
        [RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
        [RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
        [RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
        [RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
        [RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
        [RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
        [RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
        [RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
        [RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
        [RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
        [RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
        [RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
        [RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
        [RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
        [RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
        [RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
    };

    return (size_t)event < sizeof(names) / sizeof(names[0]) ? names[event] : "UNKNOWN EVENT";
}
