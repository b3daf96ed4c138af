/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_event.h"

#include "peer_answer.h"
#include "peer_clock.h"
#include "peer_names.h"
#include "peer_tally.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct peer_event_queue {
    struct peer_event *first;
    struct peer_event **last;
    bool disconnected;
};

static struct rdma_event_channel *peer_event_channel;

static struct peer_event_queue *peer_event_queue_new(void)
{
    struct peer_event_queue *queue = calloc(1, sizeof(*queue));

    if (queue == NULL)
        peer_die("no memory");
    queue->last = &queue->first;
    return queue;
}

/* The channel does not block: rdma_get_cm_event() may drop the event that made it readable. */
static bool peer_event_open(void)
{
    if (peer_event_channel != NULL)
        return true;
    peer_event_channel = rdma_create_event_channel();
    if (peer_event_channel == NULL) {
        peer_answer_errno("rdma_create_event_channel", errno);
        return false;
    }
    peer_tally_made(PEER_EVENT_CHANNEL);
    if (fcntl(peer_event_channel->fd, F_SETFL, O_NONBLOCK) != 0)
        peer_die("fcntl: %s", strerror(errno));
    return true;
}

struct rdma_cm_id *peer_event_create_id(struct peer_event_queue **queue)
{
    struct rdma_cm_id *id;

    if (!peer_event_open())
        return NULL;
    *queue = peer_event_queue_new();
    if (rdma_create_id(peer_event_channel, &id, *queue, RDMA_PS_TCP) != 0) {
        peer_answer_errno("rdma_create_id", errno);
        free(*queue);
        return NULL;
    }
    peer_tally_made(PEER_ID);
    return id;
}

int peer_event_destroy_id(struct rdma_cm_id *id, struct peer_event_queue *queue)
{
    int error = rdma_destroy_id(id) == 0 ? 0 : errno;
    struct peer_event *event;

    (void)peer_tally_gone(PEER_ID, "rdma_destroy_id", error);
    while ((event = queue->first) != NULL) {
        queue->first = event->next;
        peer_event_free(event);
    }
    free(queue);
    return error;
}

void peer_event_free(struct peer_event *event)
{
    if (event != NULL && event->id != NULL)
        (void)peer_event_destroy_id(event->id, event->queue);
    free(event);
}

/* ---- From the channel into the queues ------------------------------------------------------- */

static bool peer_event_has_parameters(enum rdma_cm_event_type type)
{
    return type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_CONNECT_RESPONSE ||
           type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_REJECTED;
}

static struct peer_event *peer_event_copy(const struct rdma_cm_event *event)
{
    struct peer_event *copy = calloc(1, sizeof(*copy));

    if (copy == NULL)
        peer_die("no memory");
    copy->type = event->event;
    copy->status = event->status;
    if (!peer_event_has_parameters(event->event))
        return copy;
    copy->ird = event->param.conn.responder_resources;
    copy->ord = event->param.conn.initiator_depth;
    if (event->param.conn.private_data != NULL) {
        copy->private_data_len = event->param.conn.private_data_len;
        memcpy(copy->private_data, event->param.conn.private_data, copy->private_data_len);
    }
    return copy;
}

int peer_event_fd(void)
{
    return peer_event_channel->fd;
}

void peer_event_take(void)
{
    struct rdma_cm_event *event;
    struct peer_event_queue *queue;
    struct peer_event *copy;

    if (rdma_get_cm_event(peer_event_channel, &event) != 0) {
        if (errno == EINTR || errno == EAGAIN)
            return;
        peer_die("rdma_get_cm_event: %s", strerror(errno));
    }
    copy = peer_event_copy(event);
    queue = event->id->context;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        /*
         * From here on the new id has its queue: its next event may be the next one in the channel.
         */
        queue = event->listen_id->context;
        copy->id = event->id;
        copy->queue = peer_event_queue_new();
        event->id->context = copy->queue;
        peer_tally_made(PEER_ID);
    }
    if (event->event == RDMA_CM_EVENT_DISCONNECTED)
        queue->disconnected = true;
    *queue->last = copy;
    queue->last = &copy->next;
    if (rdma_ack_cm_event(event) != 0)
        peer_die("rdma_ack_cm_event: %s", strerror(errno));
}

struct peer_event *peer_event_wait(struct peer_event_queue *queue, int64_t deadline)
{
    struct peer_event *event;

    while (queue->first == NULL) {
        if (!peer_clock_readable(peer_event_channel->fd, deadline))
            return NULL;
        peer_event_take();
    }
    event = queue->first;
    queue->first = event->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    event->next = NULL;
    return event;
}

bool peer_event_is_disconnected(const struct peer_event_queue *queue)
{
    return queue->disconnected;
}

/* ---- Answers -------------------------------------------------------------------------------- */

void peer_event_answer_private_data(const struct peer_event *event)
{
    if (event->private_data_len == 0)
        peer_answer("-");
    for (unsigned i = 0; i < event->private_data_len; i++)
        peer_answer("%02x", event->private_data[i]);
}

void peer_event_answer_other(const struct peer_event *event)
{
    if (event == NULL)
        peer_answer("error timeout");
    else
        peer_answer("error %s status=%d", peer_name_event(event->type), event->status);
}

void peer_event_close(void)
{
    if (peer_event_channel == NULL)
        return;
    rdma_destroy_event_channel(peer_event_channel);
    (void)peer_tally_gone(PEER_EVENT_CHANNEL, "rdma_destroy_event_channel", 0);
    peer_event_channel = NULL;
}
