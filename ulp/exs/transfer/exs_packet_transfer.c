/* SPDX-License-Identifier: BSD-2-Clause */
/* SOCK_SEQPACKET: the protocol of packet/ on a connection. */
#include "transfer/exs_connection.h"

#include "include/exs.h"
#include "memory/exs_memory.h"

#include <string.h>

#define PACKET_INLINE_MAX (EXS_INLINE_MAX - EXS_PACKET_HEAD)

/* ---- Sending -------------------------------------------------------------------------------- */

static uint64_t inline_max(const struct exs_connection *connection)
{
    uint64_t wish = (uint64_t)connection->socket->options.inline_max;

    return wish < PACKET_INLINE_MAX ? wish : PACKET_INLINE_MAX;
}

/* Copies a packet to its place in the next message. Returns the octets used then. */
static size_t put_packet(struct exs_connection *connection, struct exs_request *request,
                         size_t used)
{
    unsigned char *to = exs_post_payload(connection) + used;

    exs_packet_head_put(to, (uint32_t)request->length);
    if (request->length > 0)
        memcpy(to + EXS_PACKET_HEAD, request->addr, request->length);
    request->moved = request->length;
    request->started = true;
    connection->waiting -= request->length + EXS_PACKET_HEAD;
    return used + EXS_PACKET_HEAD + request->length;
}

/* Sends as many packets as fit one message and go in the same way. */
static void send_inline(struct exs_connection *connection, enum exs_packet_step step)
{
    struct exs_message message = {.type = EXS_MESSAGE_DATA,
                                  .flags = EXS_MESSAGE_INLINE |
                                           (step == EXS_PACKET_DIRECT ? EXS_MESSAGE_DIRECT : 0)};
    struct exs_request *request = exs_sends_next(connection);
    struct exs_place place;
    size_t used = 0;

    while (request && request->length <= inline_max(connection) &&
           used + EXS_PACKET_HEAD + request->length <= EXS_INLINE_MAX &&
           exs_packet_out_step(&connection->packet_out, request->length, true) == step) {
        exs_packet_out_sent(&connection->packet_out, step, request->length, &place);
        used = put_packet(connection, request, used);
        request = exs_sends_next(connection);
    }
    message.count = used;
    exs_post(connection, &message);
}

static void send_written(struct exs_connection *connection, struct exs_request *request)
{
    struct exs_message message = {.type = EXS_MESSAGE_DATA, .flags = EXS_MESSAGE_DIRECT};
    struct exs_place place;
    size_t count;

    message.count = request->length;
    exs_packet_out_sent(&connection->packet_out, EXS_PACKET_WRITE, request->length, &place);
    count = request->length < place.length ? request->length : (size_t)place.length;
    if (count > 0 && !exs_post_write(connection, request, request->addr, count, &place))
        return;
    request->moved = request->length;
    request->started = true;
    connection->waiting -= request->length + EXS_PACKET_HEAD;
    exs_post(connection, &message);
}

static bool push_step(struct exs_connection *connection)
{
    struct exs_request *request = exs_sends_next(connection);
    struct exs_message need = {.type = EXS_MESSAGE_NEED};
    enum exs_packet_step step;

    if (!request || !exs_post_room(connection))
        return false;
    if (connection->waiting < EXS_INLINE_MAX / 2 &&
        !(connection->socket->options.fd_flags & EXS_FD_NODELAY) &&
        exs_flow_answer_comes(&connection->flow))
        return false;
    step = exs_packet_out_step(&connection->packet_out, request->length,
                               request->length <= inline_max(connection));
    switch ((int)step) {
    case EXS_PACKET_RING:
    case EXS_PACKET_DIRECT:
        send_inline(connection, step);
        return true;
    case EXS_PACKET_WRITE:
        send_written(connection, request);
        return true;
    case EXS_PACKET_NEED:
        need.count = connection->packet_out.next;
        exs_packet_out_sent(&connection->packet_out, step, 0, NULL);
        exs_post(connection, &need);
        return true;
    default:
        return false;
    }
}

/*
 * Ends the receive that was to be advertised, as if it was cancelled: others may be advertised, and
 * their numbers change.
 */
static void refuse(struct exs_connection *connection, struct exs_packet_receive *receive, int error)
{
    struct exs_packet_in *in = &connection->packet_in;
    struct exs_request *request = receive->owner;

    exs_packet_in_unadvertise(in, receive);
    if (!request->cancelled)
        exs_request_cancel(request, error);
    connection->cancels = true;
    if (exs_packet_in_withdraw(in))
        connection->due |= EXS_DUE_WITHDRAW;
    exs_packet_serve(connection);
}

static bool push_advert(struct exs_connection *connection)
{
    struct exs_message message = {.type = EXS_MESSAGE_ADVERT, .chain = connection->packet_in.chain};
    struct exs_packet_receive *receive;
    struct exs_request *request;
    it_lmr_handle_t lmr;
    it_rmr_context_t key = 0;
    int error = 0;

    if (!exs_post_room(connection))
        return false;
    receive = exs_packet_in_advertise(&connection->packet_in, &message.count);
    if (!receive)
        return false;
    request = receive->owner;
    if (request->length > 0)
        error = exs_memory_lmr(request->memory, &lmr, &key);
    if (error != 0) {
        refuse(connection, receive, error);
        return true;
    }
    message.place.addr = (uintptr_t)request->addr;
    message.place.length = request->length;
    message.place.stag = (uint32_t)key;
    exs_post(connection, &message);
    return true;
}

void exs_packet_push(struct exs_connection *connection)
{
    while (push_advert(connection)) {
    }
    while (push_step(connection)) {
    }
}

/* ---- Receiving ------------------------------------------------------------------------------ */

static void done(struct exs_connection *connection, const struct exs_packet_receive *receive,
                 uint64_t length)
{
    uint64_t moved = length < receive->length ? length : receive->length;
    struct exs_request *request = receive->owner;

    request->filled = true;
    exs_receive_done(connection, request, (size_t)moved, (size_t)(length - moved));
}

/* Copies an inline packet into a receive. */
static void give(struct exs_connection *connection, const struct exs_packet_receive *receive,
                 const unsigned char *octets, uint64_t length)
{
    uint64_t count = length < receive->length ? length : receive->length;

    if (count > 0)
        memcpy(((struct exs_request *)receive->owner)->addr, octets, (size_t)count);
    done(connection, receive, length);
}

static void sweep(struct exs_connection *connection)
{
    struct exs_packet_in *in = &connection->packet_in;
    struct exs_request *request;

    if (!connection->cancels || exs_packet_in_is_advertised(in) || in->withdrawing)
        return;
    connection->cancels = false;
    for (uint32_t i = 0; i < in->count;) {
        request = exs_packet_in_at(in, i)->owner;
        if (!request->cancelled) {
            i++;
            continue;
        }
        exs_packet_in_remove(in, i);
        exs_receive_cancelled(connection, request, 0);
    }
}

static void serve(struct exs_connection *connection)
{
    struct exs_packet_in *in = &connection->packet_in;
    struct exs_packet_receive receive;
    unsigned char head[EXS_PACKET_HEAD];
    uint64_t at;
    uint64_t length;
    uint64_t count;

    while (exs_packet_in_match(in)) {
        at = in->ring_read + EXS_PACKET_HEAD;
        exs_ring_get(connection, in->ring_read, head, sizeof(head));
        length = exs_packet_head_get(head);
        exs_packet_in_take(in, length, &receive);
        count = length < receive.length ? length : receive.length;
        if (count > 0)
            exs_ring_get(connection, at, ((struct exs_request *)receive.owner)->addr,
                         (size_t)count);
        done(connection, &receive, length);
    }
    while (exs_packet_in_left(in, &receive))
        exs_receive_done(connection, receive.owner, 0, 0);
}

void exs_packet_serve(struct exs_connection *connection)
{
    sweep(connection);
    serve(connection);
}

void exs_packet_drop(struct exs_connection *connection)
{
    struct exs_packet_in *in = &connection->packet_in;
    unsigned char head[EXS_PACKET_HEAD];

    while (in->ring_written != in->ring_read) {
        exs_ring_get(connection, in->ring_read, head, sizeof(head));
        exs_packet_in_drop(in, exs_packet_head_get(head));
    }
}

/* Stores a packet of a message, with its head, in the ring. */
static bool got_ring_packet(struct exs_connection *connection, const unsigned char *head,
                            uint32_t length)
{
    struct exs_packet_in *in = &connection->packet_in;
    struct exs_packet_receive receive;
    uint64_t at = in->ring_written;

    switch ((int)exs_packet_in_ring(in, length, &receive)) {
    case EXS_PACKET_GIVE:
        give(connection, &receive, head + EXS_PACKET_HEAD, length);
        return true;
    case EXS_PACKET_STORE:
        if (connection->no_more_receives)
            exs_packet_in_drop(in, length);
        else
            exs_ring_put(connection, at, head, EXS_PACKET_HEAD + length);
        return true;
    default:
        return false;
    }
}

static bool got_inline(struct exs_connection *connection, const struct exs_message *message)
{
    const unsigned char *at = message->payload;
    uint64_t rest = message->count;
    struct exs_packet_receive receive;
    uint32_t length;

    do {
        if (rest < EXS_PACKET_HEAD)
            return false;
        length = exs_packet_head_get(at);
        if (length > rest - EXS_PACKET_HEAD)
            return false;
        if (!(message->flags & EXS_MESSAGE_DIRECT)) {
            if (!got_ring_packet(connection, at, length))
                return false;
        } else {
            if (!exs_packet_in_direct(&connection->packet_in, &receive))
                return false;
            give(connection, &receive, at + EXS_PACKET_HEAD, length);
        }
        at += EXS_PACKET_HEAD + length;
        rest -= EXS_PACKET_HEAD + length;
    } while (rest > 0);
    return true;
}

static bool got_data(struct exs_connection *connection, const struct exs_message *message)
{
    struct exs_packet_receive receive;
    bool lie;

    if (message->flags & EXS_MESSAGE_INLINE)
        return got_inline(connection, message);
    lie = message->flags != EXS_MESSAGE_DIRECT || message->count > UINT32_MAX ||
          !exs_packet_in_direct(&connection->packet_in, &receive);
    if (!lie)
        done(connection, &receive, message->count);
    return !lie;
}

bool __attribute__((noinline))
exs_packet_message(struct exs_connection *connection, const struct exs_message *message)
{
    if (!exs_packet_out_freed(&connection->packet_out, message->freed))
        return false;
    switch (message->type) {
    case EXS_MESSAGE_DATA:
        return got_data(connection, message);
    case EXS_MESSAGE_ADVERT:
        return message->more == 0 && exs_packet_out_advert(&connection->packet_out, message);
    case EXS_MESSAGE_NEED:
        return exs_packet_in_need(&connection->packet_in, message->count);
    case EXS_MESSAGE_WITHDRAW:
        connection->withdrawn = message->chain;
        connection->due |= EXS_DUE_WITHDRAWN;
        return exs_packet_out_withdraw(&connection->packet_out, message->chain);
    case EXS_MESSAGE_WITHDRAWN:
        if (!exs_packet_in_withdrawn(&connection->packet_in, message->chain))
            return false;
        exs_packet_serve(connection);
        return true;
    default:
        return false;
    }
}

void exs_packet_receive(struct exs_connection *connection, struct exs_request *request)
{
    exs_packet_in_post(&connection->packet_in, request->length, request);
    serve(connection);
}
