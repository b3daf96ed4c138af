/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma_cm in place of librdmacm: it does nothing by itself. Tests say what becomes of a connection
 * by events (stub_rdma_tell), and which calls fail. It ends the process when the provider breaks
 * the rules: an id that is destroyed twice, used afterwards, or destroyed while the same thread has
 * an event of it; an event that is acknowledged twice.
 */
#ifndef ITAPI_TESTS_VERBS_CM_STUB_RDMA_H
#define ITAPI_TESTS_VERBS_CM_STUB_RDMA_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>

enum stub_call {
    STUB_CREATE_CHANNEL,
    STUB_CREATE_ID,
    STUB_BIND,
    STUB_LISTEN,
    STUB_RESOLVE_ADDR,
    STUB_RESOLVE_ROUTE,
    STUB_INIT_QP_ATTR,
    STUB_CONNECT,
    STUB_ACCEPT,
    STUB_REJECT,
    STUB_ESTABLISH,
    STUB_DISCONNECT,
    STUB_NOTIFY,
    STUB_SET_OPTION,
    STUB_DESTROY,
    STUB_CALLS
};

/* What an event says beyond its number. */
struct stub_news {
    uint8_t responder_resources, initiator_depth;
    uint32_t qp_num, qkey; /* of datagrams */
    const void *data;      /* private */
    size_t length;
};

/* Nothing fails, nothing is held, nothing has been counted. */
void stub_rdma_start(void);

/*
 * Of ids with a channel, but that of the device's guard: so many calls succeed, then so many fail
 * with this errno, then they succeed again.
 */
void stub_rdma_fail(enum stub_call call, int error, unsigned successes, unsigned failures);
/* The same also for ids without channel, which the provider asks for addresses. */
void stub_rdma_fail_all(enum stub_call call, int error);
/* Calls since the start, of ids as above, those that failed included. */
unsigned stub_rdma_count(enum stub_call call);

/* While held, rdma_connect does not come back; it may be cancelled. */
void stub_rdma_hold_connect(bool hold);
/* The same of rdma_destroy_id of this id. NULL: of none. */
void stub_rdma_hold_destroy(const struct rdma_cm_id *id);

/* The id that was made last and is still there, of these ports; NULL: there is none. */
struct rdma_cm_id *stub_rdma_newest(enum rdma_port_space space);
/* The one that listens, of those that are there. */
struct rdma_cm_id *stub_rdma_listener(void);
bool stub_rdma_lives(const struct rdma_cm_id *id);
/* An id for a request to this listener. */
struct rdma_cm_id *stub_rdma_asked(struct rdma_cm_id *listener, const struct sockaddr *peer);
/*
 * Any number may be an event. listener: of a CONNECT_REQUEST. Tells nothing of an id that is gone.
 */
void stub_rdma_tell(struct rdma_cm_id *id, struct rdma_cm_id *listener, int event, int status,
                    const struct stub_news *news);
/* Of the call that was made last; its private data is valid until the next one. */
struct rdma_conn_param stub_rdma_param(void);

/* Events that were handed out, and those that were acknowledged. */
unsigned stub_rdma_handed(void);
unsigned stub_rdma_acknowledged(void);
/* Channels, ids and events that have not been given back. */
size_t stub_rdma_left(void);

/* The port of the device that an address is on; 0: it is on none. NULL: each is on port 1. */
extern uint8_t (*stub_rdma_port)(const struct sockaddr *address);

#endif
