/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids, channels and events of rdma_cm. One lock, cm_lock, guards them all. It is not held during
 * calls of the door (object/ofa_door.h), whose handlers take it.
 */
#ifndef ITAPI_ULP_OFA_CM_OFA_CM_H
#define ITAPI_ULP_OFA_CM_OFA_CM_H

#include "object/ofa_door.h"
#include "support/ofa_fifo.h"

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_READS_MAX    128u
#define CM_PRIVATE_DATA 256
#define CM_RETRIES_MAX  7u

/*
 * Octets of private data that InfiniBand has room for. A peer's program sees the length of the
 * room. iWARP has no such limits.
 */
#define CM_REQUEST_DATA      56
#define CM_REPLY_DATA        196
#define CM_REJECT_DATA       148
#define CM_SIDR_REQUEST_DATA 180
#define CM_SIDR_REPLY_DATA   136

#define CM_BACKLOG_MAX 1024 /* as Linux's rdma_ucm */
#define CM_ACK_TIMEOUT 14u  /* default: 4.096 us << 14 */

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
    CM_REQUESTED, /* made for a request that waits for the program's decision */
    CM_CONNECTING,
    CM_ACCEPTING,
    CM_CONNECTED,
    CM_OVER
};

struct cm_id {
    struct rdma_cm_id base;
    struct cm_id *next;  /* in the list of all ids */
    uintptr_t serial;    /* handlers find the id by it */
    enum cm_state state; /* guarded by cm_lock, like what follows */
    bool sync;           /* synchronous: calls wait for their events */
    bool reuse_address;
    bool family_only; /* the wildcard address of IPv6 does not include IPv4 */
    bool chosen_port; /* the program has chosen the local port */
    int port_socket;  /* reserves the port; -1: none */
    struct ofa_listener *listener;
    int backlog; /* of a listener: requests that may wait for the program */
    int waiting;
    bool answered; /* the program may call rdma_establish */
    it_cn_est_identifier_t request;
    struct cm_datagram *datagram; /* cm/ofa_cm_datagram.c */
    struct ibv_qp *qp;            /* of the connection: base.qp, or one that the program named */
    uint32_t qp_num;              /* its number, which outlives it */
    struct ibv_qp_init_attr *listen_attr; /* of rdma_create_ep */
    struct ibv_pd *listen_pd;
    struct cm_event *spare; /* events for what happens to the connection; guarded by cm_lock */
    uint32_t events_given;  /* returned to the program; guarded by the channel's fifo */
    uint32_t events_acked;
    pthread_cond_t acked;
    /* Depths that the peer requested, for rdma_init_qp_attr and rdma_accept. */
    uint8_t responder_resources;
    uint8_t initiator_depth;
    uint8_t ack_timeout; /* RDMA_OPTION_ID_ACK_TIMEOUT */
};

struct cm_event {
    struct rdma_cm_event base;
    struct ofa_fifo_item item; /* in the queue of the channel */
    struct cm_event *next;     /* in the list of the id's spare events */
    struct cm_id *counted;     /* the id that counts it until it is acknowledged */
    /*
     * Both ends of the connection. The id gets them when the program gets the event. AF_UNSPEC:
     * unknown.
     */
    struct sockaddr_storage local;
    struct sockaddr_storage peer;
    unsigned char data[CM_PRIVATE_DATA];
};

static inline struct cm_event *cm_event_of(const struct ofa_fifo_item *item)
{
    return (struct cm_event *)((uintptr_t)item - offsetof(struct cm_event, item));
}

extern pthread_mutex_t cm_lock;

static inline struct cm_id *cm_id_of(struct rdma_cm_id *id)
{
    return (struct cm_id *)(void *)id;
}

/* Returns 0 for no error; otherwise sets errno and returns -1. */
int cm_result(int error);

/* ---- Devices -------------------------------------------------------------------------------- */

/* Returns the context for all addresses; NULL with errno. */
struct ibv_context *cm_context(void);

/* Returns the protection domain for programs without one; NULL with errno. */
struct ibv_pd *cm_default_pd(void);

const struct ofa_door *cm_door(void);

/* Moves a queue pair to ERR and ends its connection. */
void cm_disconnect(struct ibv_qp *qp);

bool cm_is_iwarp(void);

/* Returns EINVAL for private data that InfiniBand has no room for. */
int cm_check_data(size_t length, size_t room);

/* Attaches an id to the device. Returns 0 or errno. */
int cm_attach_device(struct cm_id *id);

/* ---- Ids ------------------------------------------------------------------------------------ */

/* Creates an id and adds it to the list. NULL: no memory. */
struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                        enum ibv_qp_type type);

/* Removes an id from the list and frees it. */
void cm_id_delete(struct cm_id *id);

/* With cm_lock. NULL: the id was destroyed. */
struct cm_id *cm_id_find_locked(uintptr_t serial);

/* Handlers on other threads use these members: calls without cm_lock read and set them here. */
enum cm_state cm_id_state(struct cm_id *id);
void cm_id_set_state(struct cm_id *id, enum cm_state state);
void cm_id_set_qp(struct cm_id *id, struct ibv_qp *qp);
void cm_id_set_qp_locked(struct cm_id *id, struct ibv_qp *qp);

/* With cm_lock. Calls is_wanted for each id until it returns true; returns that id or NULL. */
struct cm_id *cm_id_search_locked(bool (*is_wanted)(const struct cm_id *id, void *argument),
                                  void *argument);

/* Frees the reserved port. */
void cm_release_port(struct cm_id *id);

/* Called before a channel is destroyed. Its ids end what they do, and have no events any more. */
void cm_id_orphan_all(struct rdma_event_channel *channel);

/* Moves an id to a channel; NULL makes it synchronous. Returns 0 or errno. */
int cm_id_move(struct cm_id *id, struct rdma_event_channel *channel);

/* ---- Addresses ------------------------------------------------------------------------------ */

/* Returns true for a wildcard address. */
bool cm_is_any(const struct sockaddr *address);

/* ---- Events --------------------------------------------------------------------------------- */

/*
 * Called before an id connects or accepts. Reserves the memory of the events that its connection
 * causes, so that none of them is lost. Returns 0 or ENOMEM.
 */
int cm_event_reserve(struct cm_id *id);

/* Frees what is left of it. */
void cm_event_release(struct cm_id *id);

/* With cm_lock. Takes a reserved event, which the caller completes and posts. NULL: none left. */
struct cm_event *cm_event_take(struct cm_id *id, enum rdma_cm_event_type type, int status);

/* Creates an event, which the caller completes and posts. NULL: no memory. */
struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status);

/*
 * Sets the peer's private data. InfiniBand reports the length of its field, so `least` is the
 * smallest length that the program sees.
 */
void cm_event_set_data(struct cm_event *event, const void *data, size_t length, size_t least);

void cm_event_post(struct cm_event *event);

/*
 * Ends a call. On a synchronous id it waits for the event and returns 0, or -1 with errno; on
 * others it returns 0 at once.
 */
int cm_complete(struct cm_id *id);

/* ---- Connecting ----------------------------------------------------------------------------- */

/* A request with its new id. */
struct cm_request {
    it_cn_est_identifier_t request; /* 0: in the port space UDP */
    const void *data;
    size_t length;
    size_t least; /* see cm_event_set_data */
};

/* Reports a request to the listener's program. Returns false without listener or memory. */
bool cm_announce(struct cm_id *id, uintptr_t listener_serial, const struct cm_request *request);

/* Handlers for the door. owner is the serial number of an id. */
void cm_on_connection(void *owner, const it_event_t *event, size_t data_length);
void cm_on_request(void *owner, const it_event_t *event, size_t data_length);

#endif /* ITAPI_ULP_OFA_CM_OFA_CM_H */
