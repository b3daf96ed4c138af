/* SPDX-License-Identifier: BSD-2-Clause */
/* Shutting down, closing, cancelling, readiness. */
#include "socket/exs_events.h"
#include "socket/exs_listen.h"
#include "socket/exs_socket_calls.h"

#include "include/exs.h"
#include "transfer/exs_transfer.h"

#include <errno.h>

static bool any(const struct exs_request *request, const void *key)
{
    (void)request;
    (void)key;
    return true;
}

/* ---- Shutdown ------------------------------------------------------------------------------- */

static void shut_receives(struct exs_socket *socket)
{
    socket->connection->no_more_receives = true;
    exs_connection_cancel_receives(socket->connection, any, NULL, 0);
}

static int shutdown_locked(struct exs_socket *socket, int how, struct exs_request *request)
{
    struct exs_connection *connection = socket->connection;
    bool sends = how == SHUT_WR || how == SHUT_RDWR;

    if (socket->state == EXS_STATE_ENDED && socket->error == 0) {
        exs_socket_finish(socket, request, 0);
        return 0;
    }
    if (socket->state != EXS_STATE_CONNECTED)
        return socket->state == EXS_STATE_ENDED ? socket->error : ENOTCONN;
    if (sends && socket->shutdown)
        return EBUSY;
    if (how != SHUT_WR)
        shut_receives(socket);
    if (sends && !connection->no_more_sends) {
        connection->no_more_sends = true;
        connection->due |= EXS_DUE_FIN;
        socket->shutdown = request;
        exs_socket_credit(socket);
    } else
        exs_socket_finish(socket, request, 0);
    exs_connection_push(connection);
    exs_events_advance(socket);
    return 0;
}

int exs_socket_shutdown(int fd, int how, struct exs_request *request)
{
    struct exs_socket *socket = exs_socket_find(fd);
    int error;

    if (!socket)
        return EBADF;
    error = shutdown_locked(socket, how, request);
    exs_socket_leave(socket);
    return error;
}

/* ---- Close ---------------------------------------------------------------------------------- */

/* The peer gets CLOSE after all data, and answers. */
static void linger(struct exs_socket *socket)
{
    struct exs_connection *connection = socket->connection;

    connection->no_more_sends = true;
    connection->no_more_receives = true;
    connection->due |= EXS_DUE_CLOSE;
    exs_connection_cancel_receives(connection, any, NULL, ECANCELED);
    exs_connection_push(connection);
    exs_events_advance(socket);
}

static void close_connection(struct exs_socket *socket, bool cut)
{
    struct exs_connection *connection = socket->connection;

    if (socket->state == EXS_STATE_CONNECTED && connection->live && !cut && !connection->failed)
        linger(socket);
    else if (socket->state == EXS_STATE_ENDED) {
        exs_connection_end(connection, ECANCELED);
        exs_events_bury(socket);
        exs_socket_close_over(socket, 0);
    } else {
        socket->cut = cut;
        socket->connect_error = ECANCELED;
        exs_connection_fail(connection);
    }
}

int exs_socket_close(int fd, bool cut, struct exs_request *request)
{
    struct exs_socket *socket = exs_socket_find(fd);

    if (!socket)
        return EBADF;
    /* Another thread is creating the connection or the listener. */
    if ((socket->state == EXS_STATE_CONNECTING && !socket->connection) ||
        (socket->state == EXS_STATE_LISTENING && !socket->listener)) {
        exs_socket_leave(socket);
        return EBUSY;
    }
    socket->closing = true;
    socket->close = request;
    if (socket->listener)
        exs_listen_end(socket);
    if (socket->connection)
        close_connection(socket, cut);
    else
        exs_socket_close_over(socket, 0);
    exs_socket_detach(socket);
    exs_socket_changed(socket);
    exs_socket_credit(socket);
    exs_socket_leave(socket);
    return 0;
}

/* ---- Cancel --------------------------------------------------------------------------------- */

size_t exs_socket_cancel(struct exs_socket *socket,
                         bool (*match)(const struct exs_request *request, const void *key),
                         const void *key, int error)
{
    size_t waits;

    if (socket->listener)
        return exs_listen_cancel(socket, match, key, error);
    if (!socket->connect) {
        waits = exs_socket_cancel_waits(socket, match, key, error);
        return waits + exs_transfer_cancel(socket, match, key, error);
    }
    if (socket->connect_error != 0 || !match(socket->connect, key))
        return 0;
    socket->connect_error = error;
    exs_connection_fail(socket->connection);
    return 1;
}

/* ---- Readiness ------------------------------------------------------------------------------ */

/* Data is here, or waits at the peer for a receive. */
static bool has_data(const struct exs_connection *connection)
{
    const struct exs_packet_in *packets = &connection->packet_in;
    const struct exs_stream_in *in = &connection->in;

    return exs_is_stream(connection)
               ? in->ring_written != in->ring_read || exs_stream_in_is_needed(in)
               : packets->ring_written != packets->ring_read || exs_packet_in_is_needed(packets);
}

int exs_socket_ready(const struct exs_socket *socket)
{
    const struct exs_connection *connection = socket->connection;
    int ready = 0;

    if (socket->listener)
        return exs_listen_ready(socket) ? EXS_POLLIN : 0;
    if (socket->state == EXS_STATE_ENDED)
        return EXS_POLLIN | EXS_POLLOUT | EXS_POLLHUP | (socket->error != 0 ? EXS_POLLERR : 0);
    if (socket->state != EXS_STATE_CONNECTED || !connection)
        return 0;
    if (has_data(connection) || connection->got_end || connection->no_more_receives)
        ready |= EXS_POLLIN;
    if (connection->sends_open < connection->send_credits || connection->no_more_sends ||
        connection->got_close)
        ready |= EXS_POLLOUT;
    return ready;
}
