/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids: creating and destroying them, their channels and options. */
#include "cm/ofa_cm.h"
#include "cm/ofa_cm_datagram.h"

#include <errno.h>
#include <infiniband/sa.h>
#include <stdlib.h>

static bool is_of(const struct ofa_fifo_item *item, const void *id)
{
    return cm_event_of(item)->counted == id;
}

/* Takes an event of the id out of the channel. NULL: there is none. */
static struct cm_event *remove_event(struct cm_channel *channel, const struct cm_id *id)
{
    struct ofa_fifo_item *item = ofa_fifo_remove(&channel->fifo, is_of, id);

    return item ? cm_event_of(item) : NULL;
}

/* ---- Life ----------------------------------------------------------------------------------- */

static enum ibv_qp_type type_of(enum rdma_port_space ps)
{
    return ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **result, void *context,
                   enum rdma_port_space ps)
{
    bool sync = channel == NULL;
    struct cm_id *id;

    if (!cm_context())
        return -1;
    if (ps != RDMA_PS_TCP && ps != RDMA_PS_UDP && ps != RDMA_PS_IPOIB && ps != RDMA_PS_IB)
        return cm_result(EINVAL);
    if (sync)
        channel = rdma_create_event_channel();
    if (!channel)
        return -1;
    id = cm_id_new(channel, context, ps, type_of(ps));
    if (!id) {
        if (sync)
            rdma_destroy_event_channel(channel);
        return cm_result(ENOMEM);
    }
    id->sync = sync;
    *result = &id->base;
    return 0;
}

/* Ends the id's listener, pending request, attempt or connection. */
static void stop(struct cm_id *id)
{
    struct ofa_listener *listener;
    it_cn_est_identifier_t request;
    uint32_t connected = 0; /* number of the queue pair */

    (void)pthread_mutex_lock(&cm_lock);
    if (id->state >= CM_CONNECTING && id->state < CM_OVER && !id->datagram)
        connected = id->qp_num;
    listener = id->listener;
    request = id->request;
    id->listener = NULL;
    id->request = 0;
    id->state = CM_OVER;
    (void)pthread_mutex_unlock(&cm_lock);
    if (listener)
        cm_door()->unlisten(listener);
    if (request)
        (void)cm_door()->reject(request, NULL, 0);
    if (connected)
        cm_door()->leave(id->base.verbs, connected);
}

/* Drops the events of an id that are still in the channel. */
static void drop_events(struct rdma_event_channel *base, const struct cm_id *id)
{
    struct cm_channel *channel = (struct cm_channel *)(void *)base;
    struct cm_event *event;

    while (channel && (event = remove_event(channel, id)) != NULL) {
        /* The program never gets this request. */
        if (event->base.event == RDMA_CM_EVENT_CONNECT_REQUEST)
            (void)rdma_destroy_id(event->base.id);
        free(event);
    }
}

static void wait_for_acknowledgements(struct cm_id *id)
{
    (void)pthread_mutex_lock(&cm_lock);
    while (id->events_acked != id->events_given)
        (void)pthread_cond_wait(&id->acked, &cm_lock);
    (void)pthread_mutex_unlock(&cm_lock);
}

int rdma_destroy_id(struct rdma_cm_id *base)
{
    struct cm_id *id = cm_id_of(base);
    struct rdma_event_channel *channel = base->channel;
    bool sync = id->sync;

    cm_datagram_close(id);
    stop(id);
    if (base->event) {
        (void)rdma_ack_cm_event(base->event);
        base->event = NULL;
    }
    drop_events(channel, id);
    wait_for_acknowledgements(id);
    cm_id_delete(id);
    if (sync)
        rdma_destroy_event_channel(channel);
    return 0;
}

/* ---- Channels ------------------------------------------------------------------------------- */

static bool is_on(const struct cm_id *id, void *channel)
{
    return id->base.channel == channel;
}

/* Linux does the same: it ends the ids of a channel that is closed. */
void cm_id_orphan_all(struct rdma_event_channel *channel)
{
    struct cm_id *id;

    do {
        (void)pthread_mutex_lock(&cm_lock);
        id = cm_id_search_locked(is_on, channel);
        if (id)
            id->base.channel = NULL;
        (void)pthread_mutex_unlock(&cm_lock);
        if (id) {
            cm_datagram_close(id);
            stop(id);
            drop_events(channel, id);
        }
    } while (id);
}

/* Moves an event, and the new id of a request, which is on the channel of its listener. */
static void move_event(struct cm_event *event, struct rdma_event_channel *channel)
{
    if (event->base.event == RDMA_CM_EVENT_CONNECT_REQUEST)
        event->base.id->channel = channel;
    cm_event_post(event);
}

/* Moves queued events to the new channel. Waits until the program has acknowledged the others. */
static void move_events(struct cm_id *id, struct rdma_event_channel *channel)
{
    struct cm_channel *old = (struct cm_channel *)(void *)id->base.channel;
    struct cm_event *event;

    (void)pthread_mutex_lock(&cm_lock);
    id->base.channel = channel;
    while (old && (event = remove_event(old, id)) != NULL)
        move_event(event, channel);
    while (id->events_acked != id->events_given)
        (void)pthread_cond_wait(&id->acked, &cm_lock);
    (void)pthread_mutex_unlock(&cm_lock);
}

int cm_id_move(struct cm_id *id, struct rdma_event_channel *channel)
{
    struct rdma_event_channel *old = id->base.channel;
    bool was_sync = id->sync;
    bool sync = channel == NULL;

    if (was_sync && sync)
        return EINVAL;
    if (sync)
        channel = rdma_create_event_channel();
    if (!channel)
        return errno;
    if (was_sync && id->base.event) {
        (void)rdma_ack_cm_event(id->base.event);
        id->base.event = NULL;
    }
    move_events(id, channel);
    id->sync = sync;
    if (was_sync)
        rdma_destroy_event_channel(old);
    return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
    return cm_result(cm_id_move(cm_id_of(id), channel));
}

/* ---- Options -------------------------------------------------------------------------------- */

#define ACK_TIMEOUT_MASK 31 /* of a field of 5 bits */

int rdma_set_option(struct rdma_cm_id *base, int level, int optname, void *optval, size_t optlen)
{
    struct cm_id *id = cm_id_of(base);

    if (level == RDMA_OPTION_IB)
        return cm_result(optname != RDMA_OPTION_IB_PATH                         ? ENOSYS
                         : optlen == 0 || optlen % sizeof(struct ibv_path_data) ? EINVAL
                                                                                : 0);
    if (level != RDMA_OPTION_ID)
        return cm_result(ENOSYS);
    switch (optname) {
    case RDMA_OPTION_ID_TOS:
        return optlen == sizeof(uint8_t) ? 0 : cm_result(EINVAL);
    case RDMA_OPTION_ID_ACK_TIMEOUT:
        if (optlen != sizeof(uint8_t) || base->qp_type != IBV_QPT_RC)
            return cm_result(EINVAL);
        id->ack_timeout = *(const uint8_t *)optval & ACK_TIMEOUT_MASK;
        return 0;
    case RDMA_OPTION_ID_REUSEADDR:
        if (optlen != sizeof(int) || cm_id_state(id) == CM_LISTENING)
            return cm_result(EINVAL);
        id->reuse_address = *(const int *)optval != 0;
        return 0;
    case RDMA_OPTION_ID_AFONLY:
        if (optlen != sizeof(int) || cm_id_state(id) > CM_BOUND)
            return cm_result(EINVAL);
        id->family_only = *(const int *)optval != 0;
        return 0;
    default:
        return cm_result(ENOSYS);
    }
}
