/* SPDX-License-Identifier: BSD-2-Clause */
/* The sends of a connection, in order. */
#include "transfer/exs_connection.h"

/* Inserts after the last piece of the same context, or as the next one to send. */
static void insert_piece(struct exs_connection *connection, struct exs_request *request)
{
    struct exs_request *before = NULL;

    for (struct exs_request *at = connection->sends.first; at && at != connection->next;
         at = at->next)
        before = at;
    for (struct exs_request *at = connection->next; at; at = at->next)
        if (at->context == request->context)
            before = at;
    exs_requests_insert(&connection->sends, before, request);
    if (!connection->next || request->next == connection->next)
        connection->next = request;
}

void exs_sends_put(struct exs_connection *connection, struct exs_request *request)
{
    if (request->continues)
        insert_piece(connection, request);
    else {
        exs_requests_put(&connection->sends, request);
        if (!connection->next)
            connection->next = request;
        connection->sends_open++;
    }
    connection->waiting += request->length + (exs_is_stream(connection) ? 0 : EXS_PACKET_HEAD);
}

static bool is_sent(const struct exs_connection *connection, const struct exs_request *request)
{
    return exs_is_stream(connection) ? request->moved == request->length : request->started;
}

struct exs_request *exs_sends_next(struct exs_connection *connection)
{
    struct exs_request *request = connection->next;

    while (request && is_sent(connection, request) &&
           (!connection->gate || connection->gate == request->context)) {
        connection->gate = request->more ? request->context : NULL;
        request = request->next;
    }
    connection->next = request;
    if (request && connection->gate && connection->gate != request->context)
        return NULL;
    return request;
}

bool exs_sends_wait(struct exs_connection *connection)
{
    const struct exs_request *next = connection->next;

    return next && connection->sends_open < connection->sends_level &&
           next->length - next->moved > EXS_INLINE_MAX && !next->continues &&
           connection->waiting < EXS_BURST && exs_connection_waits(connection);
}

void exs_sends_reap(struct exs_connection *connection)
{
    struct exs_request *request = connection->sends.first;
    bool credit = false;
    int open = connection->sends_open;

    (void)exs_sends_next(connection);
    while (request && request != connection->next &&
           (!request->busy || (int32_t)(connection->tx_done - request->last_tx) >= 0)) {
        (void)exs_requests_take(&connection->sends);
        if (!request->continues) {
            connection->sends_open--;
            credit = true;
        }
        exs_socket_finish(connection->socket, request, request->cancelled ? request->error : 0);
        request = connection->sends.first;
    }
    if (credit) {
        if (open > connection->sends_level)
            connection->sends_level = open;
        exs_socket_credit(connection->socket);
        exs_socket_changed(connection->socket);
    }
}

/*
 * Drops the part of a send that has not been posted; the stream continues without a gap.
 */
static bool cut(struct exs_connection *connection, struct exs_request *request, int error)
{
    if (is_sent(connection, request))
        return false;
    connection->waiting -=
        request->length - request->moved + (exs_is_stream(connection) ? 0 : EXS_PACKET_HEAD);
    request->length = request->moved;
    request->started = true;
    request->more = false;
    exs_request_cancel(request, error);
    return true;
}

size_t exs_sends_cut(struct exs_connection *connection,
                     bool (*match)(const struct exs_request *request, const void *key),
                     const void *key, int error)
{
    size_t count = 0;

    for (struct exs_request *at = connection->next; at; at = at->next)
        if ((!match || match(at, key)) && cut(connection, at, error))
            count += !at->part;
    if (!match)
        connection->gate = NULL;
    return count;
}

void exs_receive_done(struct exs_connection *connection, struct exs_request *request, size_t moved,
                      size_t lost)
{
    request->moved = moved;
    request->lost = lost;
    exs_socket_finish(connection->socket, request, 0);
    exs_socket_credit(connection->socket);
}

void exs_receive_cancelled(struct exs_connection *connection, struct exs_request *request,
                           size_t moved)
{
    request->moved = moved;
    exs_socket_finish(connection->socket, request, request->error);
    exs_socket_credit(connection->socket);
}
