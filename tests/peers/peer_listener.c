/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_listener.h"

#include "peer_address.h"
#include "peer_answer.h"
#include "peer_connection.h"
#include "peer_event.h"
#include "peer_table.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct peer_listener {
    unsigned number;
    struct rdma_cm_id *id;
    struct peer_event_queue *events;
};

static struct peer_table peer_listeners;

static struct peer_listener *peer_listener_at(struct peer_args *args, unsigned i)
{
    struct peer_listener *listener = NULL;
    uint64_t number;

    if (peer_args_to_number(args->position[i], 1, UINT32_MAX, &number))
        listener = peer_table_find(&peer_listeners, number);
    if (listener == NULL)
        peer_args_refuse(args, "no listener %.40s", args->position[i]);
    return listener;
}

static bool peer_listener_start(struct rdma_cm_id *id, struct sockaddr_storage *address,
                                int backlog)
{
    if (rdma_bind_addr(id, (struct sockaddr *)address) != 0) {
        peer_answer_errno("rdma_bind_addr", errno);
        return false;
    }
    if (rdma_listen(id, backlog) != 0) {
        peer_answer_errno("rdma_listen", errno);
        return false;
    }
    return true;
}

/* listen ADDRESS PORT [backlog=N] */
void peer_listener_listen_command(struct peer_args *args)
{
    uint64_t port = peer_args_number(args, 1, 0, UINT16_MAX);
    int backlog = (int)peer_args_option(args, "backlog", 64, 0, 4096);
    struct sockaddr_storage address;
    struct peer_event_queue *events;
    struct peer_listener *listener;
    struct rdma_cm_id *id;

    peer_address_parse(args, args->position[0], port, &address);
    if (peer_args_refused(args))
        return;
    id = peer_event_create_id(&events);
    if (id == NULL)
        return;
    if (!peer_listener_start(id, &address, backlog)) {
        (void)peer_event_destroy_id(id, events);
        return;
    }
    listener = calloc(1, sizeof(*listener));
    if (listener == NULL)
        peer_die("no memory");
    listener->id = id;
    listener->events = events;
    listener->number = peer_table_add(&peer_listeners, listener);
    /* A listener on all addresses has no device. */
    if (id->verbs != NULL)
        peer_device_make_current(peer_device_of(id->verbs));
    peer_answer("ok listen=%u port=%u", listener->number, ntohs(rdma_get_src_port(id)));
}

/* request L timeout=MS */
void peer_listener_request_command(struct peer_args *args)
{
    struct peer_listener *listener = peer_listener_at(args, 0);
    int64_t deadline = peer_args_deadline(args);
    struct peer_connection *connection;
    struct peer_event *event;

    if (peer_args_refused(args))
        return;
    event = peer_event_wait(listener->events, deadline);
    if (event == NULL || event->type != RDMA_CM_EVENT_CONNECT_REQUEST) {
        peer_event_answer_other(event);
    } else {
        connection = peer_connection_add(event->id, event->queue, true);
        event->id = NULL;
        event->queue = NULL;
        connection->request_ird = event->ird;
        connection->request_ord = event->ord;
        peer_answer("ok conn=%u ird=%u ord=%u pd=", connection->number, event->ird, event->ord);
        peer_event_answer_private_data(event);
    }
    peer_event_free(event);
}

static int peer_listener_destroy(struct peer_listener *listener)
{
    int error = peer_event_destroy_id(listener->id, listener->events);

    peer_table_remove(&peer_listeners, listener->number);
    free(listener);
    return error;
}

/* destroy C, destroy listen L */
void peer_listener_destroy_command(struct peer_args *args)
{
    struct peer_connection *connection = NULL;
    struct peer_listener *listener = NULL;
    int error;

    if (args->positions == 1)
        connection = peer_connection_at(args, 0);
    else if (strcmp(args->position[0], "listen") == 0)
        listener = peer_listener_at(args, 1);
    else
        peer_args_refuse(args, "C or listen L is meant");
    if (peer_args_refused(args))
        return;
    error =
        connection != NULL ? peer_connection_destroy(connection) : peer_listener_destroy(listener);
    if (error != 0)
        peer_answer_errno("destroy", error);
    else
        peer_answer("ok");
}

void peer_listener_destroy_all(void)
{
    for (unsigned number = 1; number <= peer_listeners.room; number++) {
        struct peer_listener *listener = peer_table_find(&peer_listeners, number);

        if (listener != NULL)
            (void)peer_listener_destroy(listener);
    }
    peer_table_free(&peer_listeners);
}
