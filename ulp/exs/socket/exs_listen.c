/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening: matches requests of peers with accepts of the program. */
#include "socket/exs_listen.h"

#include "adapter/exs_lead.h"
#include "socket/exs_address.h"
#include "socket/exs_events.h"
#include "socket/exs_socket_calls.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG_MIN 8
#define BACKLOG_MAX 4096
#define EVENTS      256u /* requests that wait for the leader; more are turned away */

struct peer_request {
    it_cn_est_identifier_t id;
    struct exs_setup setup;
};

struct exs_listener {
    struct exs_source source;  /* context of its EVD */
    struct exs_errand errand;  /* frees it */
    struct exs_socket *socket; /* counted */
    it_evd_handle_t evd;
    it_listen_handle_t point;
    struct exs_requests elements; /* accepts that wait; from here on guarded by the socket's lock */
    size_t first;
    size_t count;
    size_t backlog;
    struct peer_request requests[];
};

static void match(struct exs_socket *acceptor);

/* ---- One accept ----------------------------------------------------------------------------- */

static void reject(it_cn_est_identifier_t id)
{
    (void)it_reject(id, NULL, 0);
}

/* The element has ended with this descriptor, or with error. */
static void accepted(struct exs_socket *acceptor, struct exs_request *element, int fd, int error,
                     bool retry)
{
    bool again = false;

    exs_socket_enter(acceptor);
    if (retry && acceptor->listener) {
        exs_requests_insert(&acceptor->listener->elements, NULL, element);
        again = true;
    } else {
        element->accepted = fd;
        exs_socket_finish(acceptor, element, retry ? ECANCELED : error);
    }
    exs_socket_leave(acceptor);
    if (again)
        match(acceptor);
    exs_socket_put(acceptor);
}

/* Creates the accepted socket in the state CONNECTING. Returns NULL with errno on failure. */
static struct exs_socket *make_socket(struct exs_socket *acceptor, struct exs_request *element,
                                      const struct exs_setup *setup)
{
    struct exs_socket *made = exs_socket_new(acceptor->domain, acceptor->type);
    struct exs_connection *connection;
    int error;

    if (!made)
        return NULL;
    exs_socket_enter(made);
    made->options = acceptor->options;
    made->local = acceptor->local;
    made->state = EXS_STATE_CONNECTING;
    exs_lock_drop(&made->lock);
    error = exs_events_connect(made, &connection);
    exs_lock_take(&made->lock);
    if (error == 0) {
        made->connection = connection;
        error = exs_connection_agree(connection, setup);
    }
    if (error == 0) {
        connection->element = element;
        connection->acceptor = acceptor;
        connection->accepted = accepted;
        exs_socket_hold(acceptor);
    } else {
        if (made->connection)
            exs_events_bury(made);
        exs_socket_detach(made);
    }
    exs_socket_leave(made);
    errno = error;
    return error == 0 ? made : NULL;
}

/* The peer went away before its request was accepted: the element takes the next request. */
static void undo(struct exs_socket *made)
{
    struct exs_socket *acceptor;
    struct exs_request *element;

    exs_socket_enter(made);
    acceptor = made->connection->acceptor;
    element = made->connection->element;
    made->connection->element = NULL;
    exs_events_bury(made);
    exs_socket_detach(made);
    exs_socket_leave(made);
    accepted(acceptor, element, -1, 0, true);
}

static void accept_one(struct exs_socket *acceptor, struct exs_request *element,
                       const struct peer_request *request)
{
    struct exs_socket *made = make_socket(acceptor, element, &request->setup);
    unsigned char octets[EXS_SETUP_OCTETS];
    struct exs_setup setup;
    it_ep_handle_t ep;

    if (!made) {
        exs_socket_hold(acceptor);
        accepted(acceptor, element, -1, errno, errno == EPROTO);
        reject(request->id);
        return;
    }
    exs_socket_enter(made);
    exs_connection_offer(made->connection, &setup);
    ep = made->connection->ep;
    exs_lock_drop(&made->lock);
    exs_setup_put(octets, &setup);
    if (it_ep_accept(ep, request->id, octets, sizeof(octets)) != IT_SUCCESS) {
        undo(made);
        reject(request->id);
    }
    exs_socket_put(made);
}

/* ---- Finding each other --------------------------------------------------------------------- */

static void match(struct exs_socket *acceptor)
{
    struct exs_listener *listener;
    struct exs_request *element;
    struct peer_request request;

    for (;;) {
        exs_socket_enter(acceptor);
        listener = acceptor->listener;
        if (!listener || listener->count == 0 || !listener->elements.first) {
            exs_socket_leave(acceptor);
            return;
        }
        element = exs_requests_take(&listener->elements);
        request = listener->requests[listener->first];
        listener->first = (listener->first + 1) % listener->backlog;
        listener->count--;
        exs_socket_leave(acceptor);
        accept_one(acceptor, element, &request);
    }
}

/* ---- Requests ------------------------------------------------------------------------------- */

static void on_request(struct exs_listener *listener, const it_event_t *event)
{
    struct exs_socket *socket = listener->socket;
    struct peer_request request = {.id = event->conn_req.cn_est_id};
    bool taken = exs_setup_get(event->conn_req.private_data, itx_event_private_data_length(event),
                               &request.setup) &&
                 request.setup.packets == (socket->type == SOCK_SEQPACKET);

    exs_socket_enter(socket);
    if (taken && socket->listener == listener && listener->count < listener->backlog) {
        listener->requests[(listener->first + listener->count) % listener->backlog] = request;
        listener->count++;
        exs_socket_changed(socket);
    } else
        taken = false;
    exs_socket_leave(socket);
    if (!taken)
        reject(request.id);
}

static void take(struct exs_source *source, const it_event_t *events, size_t count)
{
    struct exs_listener *listener = (struct exs_listener *)(void *)source; /* its first member */

    for (size_t i = 0; i < count; i++)
        on_request(listener, &events[i]);
    match(listener->socket);
}

/* ---- The listen point ----------------------------------------------------------------------- */

static void reap(struct exs_errand *errand)
{
    struct exs_listener *listener =
        (struct exs_listener *)(void *)((char *)errand - offsetof(struct exs_listener, errand));
    it_event_t event;

    if (listener->point)
        (void)it_listen_free(listener->point);
    if (listener->evd) {
        while (it_evd_dequeue(listener->evd, &event) == IT_SUCCESS)
            reject(event.conn_req.cn_est_id);
        (void)it_evd_free(listener->evd);
    }
    for (; listener->count > 0; listener->count--) {
        reject(listener->requests[listener->first].id);
        listener->first = (listener->first + 1) % listener->backlog;
    }
    exs_socket_put(listener->socket);
    free(listener);
}

static int errno_of(it_status_t status)
{
    if (status == IT_ERR_CONN_QUAL_BUSY)
        return EADDRINUSE;
    return status == IT_ERR_NO_PERMISSION ? EACCES : ENOBUFS;
}

static int start(struct exs_listener *listener, uint16_t *port)
{
    struct exs_adapter *adapter = exs_adapter_get();
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = *port};
    it_status_t status =
        it_evd_create(adapter->ia, IT_CM_REQ_EVENT_STREAM, (it_evd_flags_t)0, EVENTS,
                      IT_THRESHOLD_DISABLE, adapter->aevd, &listener->evd, NULL);

    if (status == IT_SUCCESS)
        status = it_set_consumer_context((it_handle_t)listener->evd,
                                         (it_context_t){.ptr = &listener->source});
    if (status == IT_SUCCESS)
        status = it_listen_create(adapter->ia, 0, listener->evd,
                                  *port != 0 ? IT_LISTEN_CONN_QUAL_INPUT : IT_LISTEN_NO_FLAG, &qual,
                                  &listener->point);
    *port = qual.conn_qual.port;
    return status == IT_SUCCESS ? 0 : errno_of(status);
}

static size_t backlog_of(int backlog)
{
    return backlog < BACKLOG_MIN   ? BACKLOG_MIN
           : backlog > BACKLOG_MAX ? BACKLOG_MAX
                                   : (size_t)backlog;
}

/* Puts the socket in the state LISTENING, still without a listener. */
static int claim(int fd, struct exs_socket **result, uint16_t *port)
{
    struct exs_socket *socket = exs_socket_find(fd);

    if (!socket)
        return EBADF;
    if (socket->state != EXS_STATE_OPEN) {
        exs_socket_leave(socket);
        return EINVAL;
    }
    socket->state = EXS_STATE_LISTENING;
    *port = socket->bound ? exs_address_port(&socket->local) : 0;
    exs_socket_hold(socket);
    exs_socket_leave(socket);
    *result = socket;
    return 0;
}

int exs_socket_listen(int fd, int backlog)
{
    size_t size = backlog_of(backlog);
    struct exs_socket *socket;
    struct exs_listener *listener;
    uint16_t port;
    int error = claim(fd, &socket, &port);

    if (error != 0)
        return error;
    listener = calloc(1, sizeof(*listener) + size * sizeof(listener->requests[0]));
    error = listener ? (exs_adapter_get() ? 0 : errno) : ENOMEM;
    if (error == 0) {
        listener->backlog = size;
        listener->socket = socket;
        listener->source.take = take;
        listener->errand.run = reap;
        exs_socket_hold(socket);
        error = start(listener, &port);
        if (error != 0)
            exs_lead_errand(&listener->errand);
    } else
        free(listener);
    exs_socket_enter(socket);
    if (error != 0)
        socket->state = EXS_STATE_OPEN;
    else {
        socket->listener = listener;
        socket->local.ss_family = (sa_family_t)socket->domain;
        exs_address_set_port(&socket->local, port);
    }
    exs_socket_leave(socket);
    exs_socket_put(socket);
    return error;
}

/* ---- Accepting ------------------------------------------------------------------------------ */

int exs_socket_accept(int fd, struct exs_request *const *requests, size_t count)
{
    struct exs_socket *socket = exs_socket_find(fd);

    if (!socket)
        return EBADF;
    if (!socket->listener) {
        exs_socket_leave(socket);
        return EINVAL;
    }
    for (size_t i = 0; i < count; i++)
        exs_requests_put(&socket->listener->elements, requests[i]);
    exs_socket_hold(socket);
    exs_socket_leave(socket);
    match(socket);
    exs_socket_put(socket);
    return 0;
}

size_t exs_listen_cancel(struct exs_socket *socket,
                         bool (*want)(const struct exs_request *request, const void *key),
                         const void *key, int error)
{
    struct exs_requests rest = {0};
    struct exs_request *element;
    size_t count = 0;

    while ((element = exs_requests_take(&socket->listener->elements)) != NULL) {
        if (want && !want(element, key)) {
            exs_requests_put(&rest, element);
            continue;
        }
        element->accepted = -1;
        exs_socket_finish(socket, element, error);
        count++;
    }
    socket->listener->elements = rest;
    return count;
}

void exs_listen_end(struct exs_socket *socket)
{
    struct exs_listener *listener = socket->listener;

    (void)exs_listen_cancel(socket, NULL, NULL, ECANCELED);
    socket->listener = NULL;
    exs_lead_errand(&listener->errand);
}

bool exs_listen_ready(const struct exs_socket *socket)
{
    return socket->listener->count > 0;
}
