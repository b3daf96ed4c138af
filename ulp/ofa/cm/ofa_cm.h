/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids, channels and events of rdma_cm. One lock guards them all; it is held for no call of the door
 * (object/ofa_door.h), whose handlers take it.
 */
#ifndef ITAPI_ULP_OFA_CM_OFA_CM_H
#define ITAPI_ULP_OFA_CM_OFA_CM_H

#include "object/ofa_door.h"
#include "support/ofa_fifo.h"

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define CM_READS_MAX    128u
#define CM_PRIVATE_DATA 256
#define CM_RETRIES_MAX  7u
#define CM_ACK_TIMEOUT  14u /* unless the program chooses: 4.096 us << 14 */

struct cm_channel {
    struct rdma_event_channel base;
    struct ofa_fifo fifo; /* of struct cm_event */
};

struct cm_datagram;

enum cm_state {
    CM_IDLE,
    CM_BOUND,
    CM_ADDR_RESOLVED,
    CM_ROUTE_RESOLVED,
    CM_LISTENING,
    CM_REQUESTED, /* made by a request, which waits for the program's decision */
    CM_CONNECTING,
    CM_ACCEPTING,
    CM_CONNECTED,
    CM_OVER
};

struct cm_id {
    struct rdma_cm_id base;
    struct cm_id *next;  /* in the list of all */
    uintptr_t serial;    /* by which handlers find it */
    enum cm_state state; /* this and what follows: with cm_lock */
    bool sync;           /* calls wait for their events */
    bool reuse_address;
    bool family_only; /* the wildcard address of IPv6 does not mean IPv4, too */
    bool chosen_port; /* the program has named the local port */
    int port_socket;  /* that keeps the port; -1: none */
    struct ofa_listener *listener;
    it_cn_est_identifier_t request;
    struct cm_datagram *datagram; /* cm/ofa_cm_datagram.c */
    struct ibv_qp *qp; /* of the connection: base.qp, or one that the program has named */
    struct ibv_qp_init_attr *listen_attr; /* of rdma_create_ep */
    struct ibv_pd *listen_pd;
    uint32_t events_given; /* to the program */
    uint32_t events_acked;
    pthread_cond_t acked;
    /* What the peer has asked for; rdma_init_qp_attr and rdma_accept take it from here. */
    uint8_t responder_resources;
    uint8_t initiator_depth;
    uint8_t ack_timeout; /* RDMA_OPTION_ID_ACK_TIMEOUT */
};

struct cm_event {
    struct rdma_cm_event base;
    struct cm_id *counted; /* whose acknowledgement it needs */
    unsigned char data[CM_PRIVATE_DATA];
};

extern pthread_mutex_t cm_lock;

static inline struct cm_id *cm_id_of(struct rdma_cm_id *id)
{
    return (struct cm_id *)(void *)id;
}

/* Sets errno and gives -1, or 0 where there is no error. */
int cm_result(int error);

/* ---- Devices -------------------------------------------------------------------------------- */

/* The context that covers all addresses; NULL, with errno. */
struct ibv_context *cm_context(void);

/* The protection domain of programs that bring none; NULL, with errno. */
struct ibv_pd *cm_default_pd(void);

const struct ofa_door *cm_door(void);

bool cm_is_iwarp(void);

/* Gives an id its device. 0 or errno. */
int cm_attach_device(struct cm_id *id);

/* ---- Ids ------------------------------------------------------------------------------------ */

/* In the list of all. NULL: out of memory. */
struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                        enum ibv_qp_type type);

/* Out of the list, and its memory. */
void cm_id_delete(struct cm_id *id);

/* With cm_lock. NULL: gone. */
struct cm_id *cm_id_find_locked(uintptr_t serial);

/* With cm_lock. The first that is wanted, after all before it were asked about. NULL: none. */
struct cm_id *cm_id_search_locked(bool (*is_wanted)(const struct cm_id *id, void *argument),
                                  void *argument);

/* Lets go of the port that is kept. */
void cm_release_port(struct cm_id *id);

/* Moves an id to a channel, or makes it synchronous with NULL. 0 or errno. */
int cm_id_move(struct cm_id *id, struct rdma_event_channel *channel);

/* ---- Addresses ------------------------------------------------------------------------------ */

/* Of all addresses. */
bool cm_is_any(const struct sockaddr *address);

/* The local address that leads to the peer; its port is left alone. 0 or errno. */
int cm_route(const struct sockaddr *peer, struct sockaddr_storage *local);

/* ---- Events --------------------------------------------------------------------------------- */

/* An event for the program, to be filled further and posted. NULL: out of memory. */
struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status);

/*
 * Private data of the peer, shown as at least this long: InfiniBand always tells the length of its
 * field.
 */
void cm_event_set_data(struct cm_event *event, const void *data, size_t length, size_t least);

void cm_event_post(struct cm_event *event);

/* New and post, if there is nothing to fill. */
void cm_tell(struct cm_id *id, enum rdma_cm_event_type type, int status);

/* A call on a synchronous id waits for its event: 0, or -1 and errno. On others: 0 at once. */
int cm_complete(struct cm_id *id);

/* ---- Connecting ----------------------------------------------------------------------------- */

/* A request, for which an id has been made. */
struct cm_request {
    it_cn_est_identifier_t request; /* 0: of the port space UDP */
    const void *data;
    size_t length;
    size_t least; /* as of cm_event_set_data */
};

/* Tells the listener's program of a request. False: the listener is gone, or out of memory. */
bool cm_announce(struct cm_id *id, uintptr_t listener_serial, const struct cm_request *request);

/*
 * The peer's address, and the one from which it is reached; the latter's port is given. An address
 * of IPv4 is shown as one.
 */
void cm_fill_route(struct cm_id *id, uint16_t port, const struct sockaddr_storage *peer);

/* Handlers of the door. "owner" is the serial number of an id. */
void cm_on_connection(void *owner, const it_event_t *event, size_t data_length);
void cm_on_request(void *owner, const it_event_t *event, size_t data_length);

#endif /* ITAPI_ULP_OFA_CM_OFA_CM_H */
