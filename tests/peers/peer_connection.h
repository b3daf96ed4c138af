/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection: an id of rdma_cm, from its request or resolution on, and its queue pair. */
#ifndef PEERS_CONNECTION_H
#define PEERS_CONNECTION_H

#include "peer_args.h"
#include "peer_complete.h"
#include "peer_device.h"
#include "peer_event.h"
#include "peer_stream.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

struct peer_connection {
    unsigned number;
    struct rdma_cm_id *id;
    struct peer_event_queue *events;
    struct peer_device *device;
    bool passive;
    uint8_t request_ird; /* IRD of the request */
    uint8_t request_ord;

    /* setup makes these; until then id->qp is NULL. */
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp_cap cap; /* the requested sizes */
    struct peer_complete complete;
    struct peer_stream stream;
};

/*
 * Return the connection that the word, or option conn, names. They return NULL after a refusal or
 * without the option.
 */
struct peer_connection *peer_connection_at(struct peer_args *args, unsigned i);
struct peer_connection *peer_connection_option(struct peer_args *args);

/* Does the same for a connection that must have a queue pair. */
struct peer_connection *peer_connection_with_qp(struct peer_args *args, unsigned i);

/*
 * Returns the device of option conn or, without it, of peer_device_pick(). Returns NULL after a
 * refusal.
 */
struct peer_device *peer_connection_pick_device(struct peer_args *args);

/* Takes over an id that is bound to a device, and its event queue. */
struct peer_connection *peer_connection_add(struct rdma_cm_id *id, struct peer_event_queue *events,
                                            bool passive);

/* Makes a queue pair with the default sizes if there is none. Returns false after an answer. */
bool peer_connection_ensure_qp(struct peer_connection *connection);

/* Returns 0 or the first error's errno. */
int peer_connection_destroy(struct peer_connection *connection);
void peer_connection_destroy_all(void);

void peer_connection_setup_command(struct peer_args *args);
void peer_connection_wait_command(struct peer_args *args);
void peer_connection_disconnect_command(struct peer_args *args);
void peer_connection_state_command(struct peer_args *args);

#endif
