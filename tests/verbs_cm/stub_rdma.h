/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A replacement of librdmacm that does nothing by itself. Tests tell by events (stub_rdma_tell) how
 * a connection proceeds, and which calls fail. It ends the process when the provider violates a
 * rule: it destroys an id twice, uses a destroyed one, destroys one while the same thread holds an
 * event of it, or acknowledges an event twice.
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

/* The content of an event besides its number. */
struct stub_news {
    uint8_t responder_resources, initiator_depth;
    uint32_t qp_num, qkey; /* of datagrams */
    const void *data;      /* private data */
    size_t length;
};

/* Resets the stub: nothing fails, nothing is held, all counts are 0. */
void stub_rdma_start(void);

/*
 * Makes calls fail for ids with a channel, except the device's guard: so many succeed, then so many
 * fail with this errno, then they succeed again.
 */
void stub_rdma_fail(enum stub_call call, int error, unsigned successes, unsigned failures);
/*
 * Does the same for all ids, including those without a channel, which the provider uses for
 * addresses.
 */
void stub_rdma_fail_all(enum stub_call call, int error);
/* Returns the number of calls since the start, for ids as above, including failed calls. */
unsigned stub_rdma_count(enum stub_call call);

/* While held, rdma_connect does not return. It can be cancelled. */
void stub_rdma_hold_connect(bool hold);
/* Does the same for rdma_destroy_id of this id. NULL: of none. */
void stub_rdma_hold_destroy(const struct rdma_cm_id *id);

/* Returns the newest id of this port space that exists, or NULL. */
struct rdma_cm_id *stub_rdma_newest(enum rdma_port_space space);
/* Returns the id that listens. */
struct rdma_cm_id *stub_rdma_listener(void);
bool stub_rdma_lives(const struct rdma_cm_id *id);
/* Makes an id for a request to this listener. */
struct rdma_cm_id *stub_rdma_asked(struct rdma_cm_id *listener, const struct sockaddr *peer);
/*
 * Tells the provider of an event, which may be any number. listener is that of a CONNECT_REQUEST.
 * Does nothing if the id is gone.
 */
void stub_rdma_tell(struct rdma_cm_id *id, struct rdma_cm_id *listener, int event, int status,
                    const struct stub_news *news);
/* Returns the parameters of the last call. Its private data is valid until the next call. */
struct rdma_conn_param stub_rdma_param(void);

/* Return the numbers of events that were returned and that were acknowledged. */
unsigned stub_rdma_handed(void);
unsigned stub_rdma_acknowledged(void);
/* Returns the number of channels, ids and events that are left. */
size_t stub_rdma_left(void);

/*
 * Returns the device's port that has this address; 0: none has. If NULL, port 1 has every address.
 */
extern uint8_t (*stub_rdma_port)(const struct sockaddr *address);

#endif
