/* SPDX-License-Identifier: BSD-2-Clause */
/* The requests of the program. */
#include "transfer/exs_transfer.h"

#include "include/exs.h"
#include "memory/exs_memory.h"
#include "transfer/exs_connection.h"

#include <errno.h>

/* ---- Sends ---------------------------------------------------------------------------------- */

static void prepare(struct exs_request *request)
{
    request->moved = 0;
    request->lost = 0;
    request->error = 0;
    request->busy = false;
    request->started = false;
    request->filled = false;
    request->cancelled = false;
}

/* Registers the memory of a call that will need it, while the call can still fail alone. */
static int register_memory(const struct exs_request *request)
{
    it_lmr_handle_t lmr;
    it_rmr_context_t key;

    return exs_memory_lmr(request->memory, &lmr, &key);
}

/* Returns 0, or the reason why this socket cannot transfer now. */
static int check(const struct exs_socket *socket)
{
    switch ((int)socket->state) {
    case EXS_STATE_CONNECTED:
        return 0;
    case EXS_STATE_ENDED:
        return socket->error;
    default:
        return ENOTCONN;
    }
}

/*
 * Long sends wait until some have gathered, the program has as many open as before, or it waits for
 * events, so that they share a system call. A send with none before it is sent at once.
 */
static bool gathers(struct exs_connection *connection, const struct exs_request *request)
{
    if (exs_sends_wait(connection))
        return true;
    return request->length > EXS_INLINE_MAX && connection->sends.first != request &&
           !request->continues && connection->sends_open > connection->sends_level &&
           connection->waiting < EXS_BURST && exs_connection_waits(connection);
}

/* Returns true if octets may be sent from where they are, rather than in a message. */
static bool may_be_written(const struct exs_connection *connection,
                           const struct exs_request *request)
{
    size_t head = exs_is_stream(connection) ? 0 : EXS_PACKET_HEAD;
    size_t wish = (size_t)connection->socket->options.inline_max;

    return request->length > EXS_INLINE_MAX - head || request->length > wish;
}

int exs_transfer_send(struct exs_socket *socket, struct exs_request *request)
{
    struct exs_connection *connection = socket->connection;
    int error = check(socket);

    if (socket->closing && !request->continues)
        return EBADF;
    if (error != 0 || socket->state == EXS_STATE_ENDED)
        return error != 0 ? error : EPIPE;
    /* A send that began before the socket was closed or shut down continues. */
    if ((connection->no_more_sends && !request->continues) || connection->got_close)
        return EPIPE;
    if (connection->failed)
        return ECONNRESET;
    if (!exs_is_stream(connection) && request->length > UINT32_MAX / 2)
        return EMSGSIZE;
    if (!request->continues && connection->sends_open >= connection->send_credits)
        return EBUSY;
    if (may_be_written(connection, request))
        error = register_memory(request);
    if (error != 0)
        return error;
    prepare(request);
    exs_sends_put(connection, request);
    if (!gathers(connection, request))
        exs_connection_push(connection);
    return 0;
}

/* The finished requests of a socket are reported before a send that ends now. */
bool exs_transfer_send_at_once(struct exs_socket *socket, const void *octets, size_t length)
{
    struct exs_connection *connection = socket->connection;

    return socket->state == EXS_STATE_CONNECTED && socket->type == SOCK_STREAM &&
           !socket->finished.first && !socket->delivering && !connection->sends.first &&
           !connection->gate && !connection->no_more_sends && !connection->got_close &&
           connection->live && connection->due == 0 &&
           exs_stream_send_at_once(connection, octets, length);
}

void exs_transfer_send_over(struct exs_socket *socket, const void *context)
{
    struct exs_connection *connection = socket->connection;

    if (!connection)
        return;
    for (struct exs_request *at = connection->sends.first; at; at = at->next)
        if (at->context == context)
            at->more = false;
    if (connection->gate == context)
        connection->gate = NULL;
    exs_connection_push(connection);
}

/* ---- Receives ------------------------------------------------------------------------------- */

static uint32_t receives(const struct exs_connection *connection)
{
    return exs_is_stream(connection) ? connection->in.count : connection->packet_in.count;
}

/* Receives that the library serves from the ring need no registration. */
static bool may_be_advertised(const struct exs_connection *connection,
                              const struct exs_request *request)
{
    const struct exs_packet_in *packets = &connection->packet_in;
    const struct exs_stream_in *in = &connection->in;
    uint64_t least = connection->ring_size == 0 ? 1 : packets->advert_min;

    if (!exs_is_stream(connection))
        return request->length >= least && packets->ring_written == packets->ring_read;
    if (connection->ring_size > 0)
        least = in->small && !in->asked ? UINT64_MAX : in->advert_min;
    return !(request->flags & MSG_PEEK) && request->length >= (least > 0 ? least : 1) &&
           in->ring_written == in->ring_read;
}

int exs_transfer_recv(struct exs_socket *socket, struct exs_request *request)
{
    struct exs_connection *connection = socket->connection;
    int error = socket->closing ? EBADF : check(socket);

    if (error != 0)
        return error;
    if ((request->flags & MSG_PEEK) && (socket->type != SOCK_STREAM || connection->ring_size == 0))
        return EOPNOTSUPP;
    if (!connection->no_more_receives && receives(connection) >= (uint32_t)connection->recv_credits)
        return EBUSY;
    if (!connection->no_more_receives && may_be_advertised(connection, request))
        error = register_memory(request);
    if (error != 0)
        return error;
    prepare(request);
    if (connection->no_more_receives)
        exs_socket_finish(socket, request, 0);
    else if (exs_is_stream(connection))
        exs_stream_receive(connection, request);
    else
        exs_packet_receive(connection, request);
    exs_connection_push(connection);
    return 0;
}

/* ---- Cancelling ----------------------------------------------------------------------------- */

static struct exs_request *receive_at(struct exs_connection *connection, uint32_t index)
{
    if (exs_is_stream(connection))
        return index < connection->in.count ? exs_stream_in_at(&connection->in, index)->owner
                                            : NULL;
    return index < connection->packet_in.count
               ? exs_packet_in_at(&connection->packet_in, index)->owner
               : NULL;
}

size_t exs_connection_cancel_receives(struct exs_connection *connection,
                                      bool (*match)(const struct exs_request *request,
                                                    const void *key),
                                      const void *key, int error)
{
    struct exs_request *request;
    size_t count = 0;
    bool withdraw;

    for (uint32_t i = 0; (request = receive_at(connection, i)); i++)
        if (!request->cancelled && match(request, key)) {
            exs_request_cancel(request, error);
            count++;
        }
    if (count == 0)
        return 0;
    connection->cancels = true;
    withdraw = exs_is_stream(connection) ? exs_stream_in_withdraw(&connection->in)
                                         : exs_packet_in_withdraw(&connection->packet_in);
    if (withdraw)
        connection->due |= EXS_DUE_WITHDRAW;
    exs_connection_serve(connection);
    return count;
}

/* Returns the outstanding requests one by one: sends, then receives. *index is 0 at first. */
static struct exs_request *next_request(struct exs_connection *connection,
                                        const struct exs_request *last, uint32_t *index)
{
    struct exs_request *next = last ? last->next : connection->sends.first;

    if (*index == 0 && next)
        return next;
    return receive_at(connection, (*index)++);
}

void exs_transfer_break(struct exs_socket *socket,
                        bool (*match)(const struct exs_request *request, const void *key),
                        const void *key)
{
    struct exs_connection *connection = socket->connection;
    struct exs_request *at = NULL;
    uint32_t index = 0;

    if (!connection || !connection->arrays[1])
        return;
    while ((at = next_request(connection, at, &index)) && !(at->context && match(at, key))) {
    }
    if (at)
        exs_connection_fail(connection);
}

/* The requests that match and have not ended wait for the peer, which may transfer all others. */
static void await_peer(struct exs_connection *connection,
                       bool (*match)(const struct exs_request *request, const void *key),
                       const void *key)
{
    struct exs_request *at = NULL;
    uint64_t octets = 0;
    uint32_t index = 0;

    while ((at = next_request(connection, at, &index)))
        octets = at->length > UINT64_MAX - octets ? UINT64_MAX : octets + at->length;
    index = 0;
    while ((at = next_request(connection, at, &index)))
        if (at->context && match(at, key))
            at->waits(at, octets);
}

size_t exs_transfer_cancel(struct exs_socket *socket,
                           bool (*match)(const struct exs_request *request, const void *key),
                           const void *key, int error)
{
    struct exs_connection *connection = socket->connection;
    size_t cancelled;

    if (!connection || !connection->arrays[1])
        return 0;
    cancelled = exs_sends_cut(connection, match, key, error) +
                exs_connection_cancel_receives(connection, match, key, error);
    exs_connection_push(connection);
    await_peer(connection, match, key);
    return cancelled;
}
