/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of connections. */
#include "socket/exs_events.h"

#include "socket/exs_address.h"

#include <errno.h>
#include <string.h>

/* Work to do without the lock. */
struct later {
    void (*accepted)(struct exs_socket *acceptor, struct exs_request *element, int fd, int error,
                     bool retry);
    struct exs_socket *acceptor;
    struct exs_request *element;
    int fd;
    bool retry;
};

/* ---- Established ---------------------------------------------------------------------------- */

static void keep_addresses(struct exs_socket *socket)
{
    struct itx_ep_addresses addresses = {.size = sizeof(addresses)};

    if (itx_ep_query_addresses(socket->connection->ep, &addresses) != IT_SUCCESS)
        return;
    socket->local = addresses.local;
    socket->peer = addresses.remote;
    exs_address_convert(socket->domain, &socket->local);
    exs_address_convert(socket->domain, &socket->peer);
}

static void finish_one(struct exs_socket *socket, struct exs_request **request, int error)
{
    struct exs_request *taken = *request;

    *request = NULL;
    if (taken)
        exs_socket_finish(socket, taken, error);
}

/* The peer has accepted; its private data has the parameters. */
static int agree(struct exs_connection *connection, const it_event_t *event)
{
    struct exs_setup setup;

    if (!exs_setup_get(event->conn.private_data, itx_event_private_data_length(event), &setup))
        return EPROTO;
    return exs_connection_agree(connection, &setup);
}

static void on_established(struct exs_socket *socket, const it_event_t *event, struct later *later)
{
    struct exs_connection *connection = socket->connection;
    struct sockaddr_storage bound = socket->local;
    int error = connection->element ? 0 : agree(connection, event);

    keep_addresses(socket);
    /* Cancelled or closed before this event was handled. */
    if (error == 0 && !connection->element)
        error = socket->connect_error;
    /* IT-API listens on all addresses; a peer that arrived at another one is turned away. */
    if (error == 0 && connection->element && !exs_address_covers(&bound, &socket->local))
        error = ECONNRESET;
    if (error != 0) {
        socket->error = error;
        exs_connection_fail(connection);
        return;
    }
    connection->live = true;
    connection->established = true;
    socket->state = EXS_STATE_CONNECTED;
    if (connection->element) {
        later->accepted = connection->accepted;
        later->acceptor = connection->acceptor;
        later->element = connection->element;
        later->fd = socket->fd;
        exs_address_give(&socket->peer, connection->element->address,
                         connection->element->address_length);
        connection->element = NULL;
    } else
        finish_one(socket, &socket->connect, 0);
    exs_socket_changed(socket);
}

/* ---- Over ----------------------------------------------------------------------------------- */

void exs_events_bury(struct exs_socket *socket)
{
    struct exs_connection *connection = socket->connection;

    socket->connection = NULL;
    exs_lead_errand(&connection->over);
}

static int error_of(const it_connection_event_t *event)
{
    if (event->event_number == IT_CM_MSG_CONN_PEER_REJECT_EVENT)
        return ECONNREFUSED;
    switch ((int)event->reject_reason_code) {
    case IT_CN_REJ_TIMEOUT:
        return ETIMEDOUT;
    case IT_CN_REJ_BAD_PATH:
        return EHOSTUNREACH;
    case IT_CN_REJ_RESOURCES:
        return ENOBUFS;
    default:
        return ECONNREFUSED;
    }
}

/* The connection was never established: a client may try again, an accepted one is freed. */
static void on_failed_attempt(struct exs_socket *socket, int error, struct later *later)
{
    struct exs_connection *connection = socket->connection;

    exs_connection_end(connection, error);
    if (connection->element) {
        *later = (struct later){.accepted = connection->accepted,
                                .acceptor = connection->acceptor,
                                .element = connection->element,
                                .retry = true};
        connection->element = NULL;
        exs_socket_detach(socket);
    }
    finish_one(socket, &socket->connect, socket->connect_error ? socket->connect_error : error);
    if (socket->closing)
        exs_socket_close_over(socket, 0);
    socket->state = EXS_STATE_OPEN;
    socket->error = 0;
    exs_events_bury(socket);
    exs_socket_changed(socket);
}

static void on_over(struct exs_socket *socket)
{
    struct exs_connection *connection = socket->connection;
    int error = connection->got_close ? 0 : ECONNRESET;

    if (socket->state != EXS_STATE_CONNECTED || !connection->live)
        return;
    /* Changes the state first, because exs_connection_end notifies threads that poll the socket. */
    socket->state = EXS_STATE_ENDED;
    socket->error = error;
    exs_connection_end(connection, socket->cut ? ECANCELED : error);
    finish_one(socket, &socket->shutdown, error);
    if (!socket->closing)
        return;
    /* Data that the peer has confirmed has arrived, whichever side ended the connection. */
    exs_socket_close_over(socket, connection->got_closed || socket->cut ? 0 : error);
    exs_events_bury(socket);
}

/* ---- All events ----------------------------------------------------------------------------- */

static void __attribute__((cold))
on_connection_event(struct exs_socket *socket, const it_event_t *event, struct later *later)
{
    switch ((int)event->event_number) {
    case IT_CM_MSG_CONN_ESTABLISHED_EVENT:
        on_established(socket, event, later);
        break;
    case IT_CM_MSG_CONN_PEER_REJECT_EVENT:
    case IT_CM_MSG_CONN_NONPEER_REJECT_EVENT:
        on_failed_attempt(socket, error_of(&event->conn), later);
        break;
    case IT_CM_MSG_CONN_DISCONNECT_EVENT:
    case IT_CM_MSG_CONN_BROKEN_EVENT:
        if (socket->state == EXS_STATE_CONNECTING)
            on_failed_attempt(socket, socket->error != 0 ? socket->error : ECONNRESET, later);
        else
            on_over(socket);
        break;
    default:
        break;
    }
}

static void on_event(struct exs_socket *socket, const it_event_t *event, struct later *later)
{
    if ((event->event_number & IT_EVENT_STREAM_MASK) == IT_DTO_EVENT_STREAM)
        exs_connection_completion(socket->connection, event);
    else
        on_connection_event(socket, event, later);
}

void exs_events_advance(struct exs_socket *socket)
{
    struct exs_connection *connection = socket->connection;

    if (!connection || !connection->live)
        return;
    if (socket->shutdown && !(connection->due & EXS_DUE_FIN))
        finish_one(socket, &socket->shutdown, 0);
    if (socket->closing && connection->got_closed && !connection->failed)
        exs_connection_fail(connection);
}

/*
 * A connection that has ended has no socket: its events are dropped. The connection counts as a
 * user of the socket until the leader, which is the caller, frees it.
 */
static void take(struct exs_source *source, const it_event_t *events, size_t count)
{
    struct exs_connection *connection =
        (struct exs_connection *)(void *)((char *)source - offsetof(struct exs_connection, source));
    struct exs_socket *socket = connection->socket;
    struct later later = {0};

    exs_lock_take(&socket->lock);
    for (size_t i = 0; i < count && socket->connection == connection; i++)
        on_event(socket, &events[i], &later);
    if (socket->connection == connection) {
        exs_connection_push(connection);
        exs_events_advance(socket);
    }
    exs_socket_unlock(socket);
    if (later.element)
        later.accepted(later.acceptor, later.element, later.fd, 0, later.retry);
}

int exs_events_connect(struct exs_socket *socket, struct exs_connection **result)
{
    return exs_connection_new(socket, take, result);
}

void exs_events_discard(struct exs_connection *connection)
{
    exs_lead_errand(&connection->over);
}
