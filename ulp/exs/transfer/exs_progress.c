/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions, messages that are due, and the end. */
#include "transfer/exs_connection.h"

#include <errno.h>

void exs_connection_serve(struct exs_connection *connection)
{
    if (exs_is_stream(connection))
        exs_stream_serve(connection);
    else
        exs_packet_serve(connection);
}

/* ---- Messages that have come ---------------------------------------------------------------- */

/* Ends all remaining sends: the peer takes no more data. */
static void drop_sends(struct exs_connection *connection, int error)
{
    struct exs_request *request;

    while ((request = exs_requests_take(&connection->sends)) != NULL)
        exs_socket_finish(connection->socket, request, request->cancelled ? request->error : error);
    connection->next = NULL;
    connection->waiting = 0;
    connection->sends_open = 0;
    connection->gate = NULL;
}

static bool __attribute__((cold)) got_end(struct exs_connection *connection, bool close)
{
    if (connection->got_close)
        return false;
    connection->got_close = close;
    if (!connection->got_end &&
        !(exs_is_stream(connection) ? exs_stream_in_end(&connection->in)
                                    : exs_packet_in_end(&connection->packet_in)))
        return false;
    connection->got_end = true;
    if (close)
        connection->due |= EXS_DUE_CLOSED;
    exs_connection_serve(connection);
    return true;
}

static bool got_message(struct exs_connection *connection, const struct exs_message *message)
{
    if (!exs_flow_hear(&connection->flow, message->posted))
        return false;
    switch (message->type) {
    case EXS_MESSAGE_CREDIT:
        return exs_is_stream(connection)
                   ? exs_stream_out_freed(&connection->out, message->freed)
                   : exs_packet_out_freed(&connection->packet_out, message->freed);
    case EXS_MESSAGE_FIN:
        return !connection->got_end && got_end(connection, false);
    case EXS_MESSAGE_CLOSE:
        return got_end(connection, true);
    case EXS_MESSAGE_CLOSED:
        connection->got_closed = true;
        return connection->sent_close;
    default:
        return exs_is_stream(connection) ? exs_stream_message(connection, message)
                                         : exs_packet_message(connection, message);
    }
}

static void on_receive(struct exs_connection *connection, const it_dto_cmpl_event_t *event)
{
    size_t slot = (size_t)event->cookie;
    struct exs_message message;

    if (!exs_message_get(connection->slots + slot * EXS_SLOT_OCTETS, event->transferred_length,
                         &message) ||
        !got_message(connection, &message)) {
        exs_connection_fail(connection);
        return;
    }
    if (exs_flow_spend(&connection->flow))
        exs_post_spent(connection);
    exs_socket_changed(connection->socket);
}

void exs_connection_completion(struct exs_connection *connection, const it_event_t *event)
{
    const it_dto_cmpl_event_t *completion = &event->dto_cmpl;

    if (completion->dto_status != IT_DTO_SUCCESS) {
        connection->failed = true;
        return;
    }
    if (completion->event_number == IT_DTO_RC_RECV_CMPL_EVENT) {
        if (!connection->failed)
            on_receive(connection, completion);
    } else
        connection->tx_done = (uint32_t)completion->cookie;
}

/* ---- What is due ---------------------------------------------------------------------------- */

static void make_message(struct exs_connection *connection, unsigned due,
                         struct exs_message *message)
{
    *message = (struct exs_message){0};
    switch (due) {
    case EXS_DUE_WITHDRAWN:
        message->type = EXS_MESSAGE_WITHDRAWN;
        message->chain = connection->withdrawn;
        break;
    case EXS_DUE_WITHDRAW:
        message->type = EXS_MESSAGE_WITHDRAW;
        message->chain =
            exs_is_stream(connection) ? connection->in.chain : connection->packet_in.chain;
        break;
    case EXS_DUE_RING:
        message->type = EXS_MESSAGE_RING;
        message->place = (struct exs_place){.addr = (uintptr_t)connection->ring,
                                            .length = connection->ring_size,
                                            .stag = (uint32_t)connection->ring_key};
        break;
    case EXS_DUE_CLOSED:
        message->type = EXS_MESSAGE_CLOSED;
        break;
    case EXS_DUE_FIN:
        message->type = EXS_MESSAGE_FIN;
        break;
    default:
        message->type = EXS_MESSAGE_CLOSE;
        connection->sent_close = true;
        break;
    }
}

static void push_due(struct exs_connection *connection, unsigned which)
{
    struct exs_message message;

    if (!(connection->due & which))
        return;
    for (unsigned due = 1; due <= EXS_DUE_CLOSE; due <<= 1) {
        if (!(connection->due & which & due) || !exs_post_room(connection))
            continue;
        connection->due &= ~due;
        if (due == EXS_DUE_RING && !exs_ring_register(connection)) {
            exs_connection_fail(connection);
            return;
        }
        /* The chain to withdraw may have ended by now. */
        if (due == EXS_DUE_WITHDRAW &&
            !(exs_is_stream(connection) ? connection->in.withdrawing
                                        : connection->packet_in.withdrawing))
            continue;
        make_message(connection, due, &message);
        exs_post(connection, &message);
    }
}

static void push_credit(struct exs_connection *connection)
{
    struct exs_message message = {.type = EXS_MESSAGE_CREDIT};
    bool ack = exs_is_stream(connection) ? exs_stream_in_ack_due(&connection->in)
                                         : exs_packet_in_ack_due(&connection->packet_in);

    if ((!ack && !exs_flow_credit_due(&connection->flow)) || connection->failed ||
        connection->tx_posted - connection->tx_done >= EXS_SLOTS)
        return;
    if (exs_flow_credit_due(&connection->flow) || exs_post_room(connection))
        exs_post(connection, &message);
}

/* Returns false if a push would find nothing to do, as after most messages. */
static bool has_work(struct exs_connection *connection)
{
    struct exs_stream_in *in = &connection->in;

    return connection->sends.first || connection->due != 0 || connection->gate ||
           !exs_is_stream(connection) || exs_flow_credit_due(&connection->flow) ||
           exs_stream_in_adverts_due(in) || in->asked || exs_stream_in_ack_due(in);
}

void exs_connection_push(struct exs_connection *connection)
{
    if (!connection->live || connection->failed)
        return;
    if (connection->no_more_receives)
        exs_sink_push(connection);
    if (!has_work(connection))
        return;
    if (connection->got_close)
        (void)exs_sends_cut(connection, NULL, NULL, EPIPE);
    push_due(connection, EXS_DUE_WITHDRAWN | EXS_DUE_WITHDRAW | EXS_DUE_RING | EXS_DUE_CLOSED);
    exs_sends_reap(connection);
    if (exs_is_stream(connection))
        exs_stream_push(connection);
    else {
        exs_packet_push(connection);
        push_due(connection, EXS_DUE_WITHDRAW); /* since a receive has failed */
    }
    exs_sends_reap(connection);
    if (!connection->sends.first && !connection->gate)
        push_due(connection, EXS_DUE_FIN | EXS_DUE_CLOSE);
    push_credit(connection);
    exs_post_all(connection);
}

/* ---- The end -------------------------------------------------------------------------------- */

static void drop_receives(struct exs_connection *connection, int error)
{
    struct exs_stream_in *in = &connection->in;
    struct exs_packet_in *packets = &connection->packet_in;
    struct exs_request *request;

    in->advertised = 0;
    while (in->count > 0) {
        request = exs_stream_in_at(in, 0)->owner;
        request->moved = (size_t)exs_stream_in_at(in, 0)->filled;
        exs_stream_in_remove(in, 0);
        exs_socket_finish(connection->socket, request, request->cancelled ? request->error : error);
    }
    while (packets->count > 0) {
        request = exs_packet_in_at(packets, 0)->owner;
        exs_packet_in_remove(packets, 0);
        exs_socket_finish(connection->socket, request, request->cancelled ? request->error : error);
    }
}

void exs_connection_end(struct exs_connection *connection, int error)
{
    connection->live = false;
    connection->failed = true;
    if (!connection->arrays[1])
        return;
    drop_sends(connection, error != 0 ? error : EPIPE);
    drop_receives(connection, error);
    exs_socket_credit(connection->socket);
    exs_socket_changed(connection->socket);
}
