/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_complete.h"

#include "peer_answer.h"
#include "peer_clock.h"
#include "peer_connection.h"
#include "peer_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* wr_id: 4 bits request, 1 bit owner, 11 bits stream, 48 bits number. */
#define SHIFT_REQUEST 60
#define SHIFT_OWNER   59
#define SHIFT_STREAM  48
#define STREAM_MASK   0x7ffu

#define DONE_MAX 1000000u

/*
 * How long a stream waits after the end of the connection. Until then all requests should complete,
 * but requests that siw gets after the end never do.
 */
#define GRACE_MS 3000

uint64_t peer_complete_id(const struct peer_connection *connection, enum peer_request request,
                          enum peer_complete_owner owner, uint64_t id)
{
    uint64_t stream = owner == PEER_OF_STREAM ? connection->complete.stream : 0;

    return (uint64_t)request << SHIFT_REQUEST | (uint64_t)owner << SHIFT_OWNER |
           stream << SHIFT_STREAM | id;
}

enum peer_request peer_complete_request(const struct ibv_wc *completion)
{
    return (enum peer_request)(completion->wr_id >> SHIFT_REQUEST);
}

uint64_t peer_complete_number(const struct ibv_wc *completion)
{
    return completion->wr_id & PEER_ID_MAX;
}

static enum peer_complete_owner peer_complete_owner(const struct ibv_wc *completion)
{
    return (enum peer_complete_owner)(completion->wr_id >> SHIFT_OWNER & 1);
}

void peer_complete_begin_stream(struct peer_complete *complete)
{
    complete->stream = (complete->stream + 1) & STREAM_MASK;
    complete->kept[PEER_OF_STREAM].count = 0;
}

/* ---- Those that are kept -------------------------------------------------------------------- */

static void peer_complete_grow(struct peer_complete_queue *queue)
{
    unsigned room = queue->room == 0 ? 64 : 2 * queue->room;
    struct ibv_wc *entry = calloc(room, sizeof(*entry));

    if (entry == NULL)
        peer_die("no memory");
    for (unsigned i = 0; i < queue->count; i++)
        entry[i] = queue->entry[(queue->first + i) % queue->room];
    free(queue->entry);
    queue->entry = entry;
    queue->room = room;
    queue->first = 0;
}

static void peer_complete_keep(struct peer_complete *complete, const struct ibv_wc *completion)
{
    enum peer_complete_owner owner = peer_complete_owner(completion);
    struct peer_complete_queue *queue = &complete->kept[owner];

    if (owner == PEER_OF_STREAM &&
        (completion->wr_id >> SHIFT_STREAM & STREAM_MASK) != complete->stream)
        return;
    if (owner == PEER_OF_DONE && peer_complete_request(completion) == PEER_RECV)
        complete->receives--;
    if (queue->count == queue->room)
        peer_complete_grow(queue);
    queue->entry[(queue->first + queue->count) % queue->room] = *completion;
    queue->count++;
}

static struct ibv_wc peer_complete_take(struct peer_complete_queue *queue)
{
    struct ibv_wc completion = queue->entry[queue->first];

    queue->first = (queue->first + 1) % queue->room;
    queue->count--;
    return completion;
}

/* ---- From the completion queue -------------------------------------------------------------- */

/*
 * Sleeps until the queue or the state of the connection may have changed. Returns false at the
 * deadline.
 */
static bool peer_complete_sleep(struct peer_connection *connection, int64_t deadline)
{
    struct ibv_cq *cq;
    void *context;
    bool complete;

    if (!peer_clock_readable_either(connection->channel->fd, peer_event_fd(), deadline, &complete))
        return false;
    if (!complete) {
        peer_event_take();
        return true;
    }
    if (ibv_get_cq_event(connection->channel, &cq, &context) != 0)
        peer_die("ibv_get_cq_event: %s", strerror(errno));
    ibv_ack_cq_events(cq, 1);
    connection->complete.armed = false;
    return true;
}

static int64_t peer_complete_deadline(const struct peer_connection *connection, int64_t deadline,
                                      enum peer_complete_owner owner)
{
    int64_t soon;

    if (owner == PEER_OF_DONE || !peer_event_is_disconnected(connection->events))
        return deadline;
    soon = peer_clock_deadline(GRACE_MS);
    return soon < deadline ? soon : deadline;
}

/*
 * Keeps the next completion, whoever its owner is. Returns false if none came before the deadline
 * of owner, which waits.
 */
static bool peer_complete_poll(struct peer_connection *connection, int64_t deadline,
                               enum peer_complete_owner owner)
{
    struct peer_complete *complete = &connection->complete;

    for (;;) {
        struct ibv_wc completion;
        int n = ibv_poll_cq(connection->cq, 1, &completion);
        int error;

        if (n < 0)
            peer_die("ibv_poll_cq fails");
        if (n > 0) {
            peer_complete_keep(complete, &completion);
            return true;
        }
        if (complete->armed) {
            if (!peer_complete_sleep(connection,
                                     peer_complete_deadline(connection, deadline, owner)))
                return false;
        } else {
            /* Poll again after this: earlier completions are not notified. */
            error = ibv_req_notify_cq(connection->cq, 0);
            if (error != 0)
                peer_die("ibv_req_notify_cq: %s", strerror(error));
            complete->armed = true;
        }
    }
}

/* Waits until this owner has count completions. */
static bool peer_complete_fill(struct peer_connection *connection, enum peer_complete_owner owner,
                               unsigned count, int64_t deadline)
{
    while (connection->complete.kept[owner].count < count) {
        if (!peer_complete_poll(connection, deadline, owner))
            return false;
    }
    return true;
}

bool peer_complete_next(struct peer_connection *connection, int64_t deadline,
                        struct ibv_wc *completion)
{
    if (!peer_complete_fill(connection, PEER_OF_STREAM, 1, deadline)) {
        peer_answer(peer_event_is_disconnected(connection->events) ? "error disconnected"
                                                                   : "error timeout");
        return false;
    }
    *completion = peer_complete_take(&connection->complete.kept[PEER_OF_STREAM]);
    if (completion->status == IBV_WC_SUCCESS)
        return true;
    peer_answer("error completion ");
    peer_complete_answer(completion);
    return false;
}

void peer_complete_answer(const struct ibv_wc *completion)
{
    static const char *const requests[] = {"recv", "send", "write", "read"};
    bool good = completion->status == IBV_WC_SUCCESS;

    /* A failed completion has no valid opcode and length, but its request is known. */
    peer_answer("%" PRIu64 ":%s:%s:%" PRIu32, peer_complete_number(completion),
                peer_name_status(completion->status),
                good ? peer_name_opcode(completion) : requests[peer_complete_request(completion)],
                good ? completion->byte_len : 0);
}

void peer_complete_free(struct peer_complete *complete)
{
    for (unsigned i = 0; i < PEER_OWNERS; i++)
        free(complete->kept[i].entry);
}

/* done C COUNT timeout=MS */
void peer_complete_done_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_connection_with_qp(args, 0);
    unsigned count = (unsigned)peer_args_number(args, 1, 0, DONE_MAX);
    int64_t deadline = peer_args_deadline(args);
    struct peer_complete_queue *queue;

    if (peer_args_refused(args))
        return;
    queue = &connection->complete.kept[PEER_OF_DONE];
    if (!peer_complete_fill(connection, PEER_OF_DONE, count, deadline)) {
        peer_answer("error timeout n=%u", queue->count);
        return;
    }
    peer_answer("ok n=%u", count);
    for (unsigned i = 0; i < count; i++) {
        struct ibv_wc completion = peer_complete_take(queue);

        peer_answer(" ");
        peer_complete_answer(&completion);
    }
}
