/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device that replaces libibverbs, so that tests of the verbs provider need no real one. QPs of
 * one process reach each other at once. stub_connect makes connections in place of rdma_cm.
 */
#ifndef ITAPI_TESTS_VERBS_STUB_DEVICE_H
#define ITAPI_TESTS_VERBS_STUB_DEVICE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "it_api.h"

#define STUB_NAME "stub0"
#define STUB_NODE "uverbs0"
#define STUB_GID  "::ffff:192.0.2.1"

/* How the device behaves. Set before the IA is opened. */
struct stub_settings {
    bool like_siw;       /* has siw's vendor ID; posts on a failed QP never complete */
    bool like_iwarp;     /* another iWARP device */
    bool on_ethernet;    /* the ports are Ethernet ports: RoCE, if the device is not iWARP */
    uint8_t ports;       /* 0: 1 */
    bool lazy_flush;     /* a failed QP flushes its requests when stub_flush is called */
    bool tells_late;     /* reports a failed QP only when it is in ERROR */
    bool checks_keys;    /* checks keys of local memory, as devices do */
    bool has_windows;    /* has windows of both types, and checks the keys of peers */
    bool refuse_window;  /* ibv_alloc_mw fails with ENOMEM */
    int refuse_bind;     /* errno of posting a bind; 0: it succeeds */
    int refuse_post;     /* errno of any post; 0: it succeeds */
    bool takes_half;     /* on such an error, requests posted before the bind are executed */
    int max_cqe;         /* 0: many */
    int refuse_qps;      /* this many ibv_create_qp fail with ENOMEM */
    bool refuse_memory;  /* ibv_reg_mr fails with ENOMEM */
    bool no_device;      /* the list of devices is empty */
    bool has_node;       /* the device names its file below /dev */
    bool raises_sigpipe; /* posting raises SIGPIPE in its thread, as siw does without a peer */
    bool blocks_sigpipe; /* set by the stub: the thread had SIGPIPE blocked */
    int open_error;      /* errno of ibv_open_device; 0: it succeeds */
    int modify_error;    /* errno of ibv_modify_qp; 0: it succeeds */
    int address_error;   /* errno of ibv_create_ah; 0: it succeeds */
    void (*destroys_qp)(void); /* called by ibv_destroy_qp; NULL: nothing is */
    bool has_gids;             /* port 1 has STUB_GID for RoCE 1 and for RoCE 2 */
};

extern struct stub_settings stub;

/* Resets the settings and registers the provider. */
void stub_start(void);

/*
 * While the QP is held, requests are queued and not executed. Releasing it executes them in order.
 */
void stub_hold(struct ibv_qp *qp, bool hold);
/* Does the same by itself once, when a notification is requested and just before it is armed. */
void stub_release_at_arm(struct ibv_qp *qp);

/* What was posted to the send queue. */
struct stub_posted {
    unsigned flags;        /* of the last request */
    unsigned empty_writes; /* Writes of no octets so far */
};

struct stub_posted stub_posted(struct ibv_qp *qp);
/* Returns the number of Reads at once that the QP was set to. */
unsigned stub_ord(struct ibv_qp *qp);
/* Return the rights of the peer, and the key of datagrams, that the QP was set to. */
unsigned stub_access(struct ibv_qp *qp);
uint32_t stub_key(struct ibv_qp *qp);
/* Returns what the last address was made of. */
struct ibv_ah_attr stub_address(void);

/* Flushes what .lazy_flush has deferred. */
void stub_flush(struct ibv_qp *qp);
/* Makes the next request fail with this status. */
void stub_fail_next(struct ibv_qp *qp, enum ibv_wc_status status);
/* Returns the number of objects, which is 0 when all were destroyed. */
size_t stub_objects(void);
/* Returns how often completions were polled. */
unsigned stub_looks(void);
/* Returns how often this thread has requested a notification of a CQ. */
unsigned stub_arms(void);
/* Returns how often any thread has. */
unsigned stub_all_arms(void);
/* Raises an asynchronous event of the device. */
void stub_raise(enum ibv_event_type type, struct ibv_qp *qp, int port);

/* ---- Instead of connection management (stub_cm.c) */

struct ibv_qp *stub_qp(it_ep_handle_t ep);
void stub_join(struct ibv_qp *a, struct ibv_qp *b);
/* Connects them; no event reports it. */
void stub_connect(it_ep_handle_t a, it_ep_handle_t b);
/*
 * The same in steps: the QPs are connected, and connection management has not heard of it yet; one
 * side is established, or its attempt has failed, and an event reports it.
 */
void stub_attempt(it_ep_handle_t a, it_ep_handle_t b);
void stub_established(it_ep_handle_t ep);
/* Three-way: the consumer of the active side has been asked; no event asks it. */
void stub_arrived(it_ep_handle_t ep);
void stub_attempt_failed(it_ep_handle_t ep);
/* Ends the connection of that side, as when the peer has disconnected. */
void stub_disconnected(it_ep_handle_t ep);
/* Does the same, and connection management reports it. */
void stub_disconnect(it_ep_handle_t ep);
/* Return the numbers of calls of verbs_cm_ep_failed and verbs_cm_ep_heard since the start. */
unsigned stub_failures(void);
unsigned stub_heard(void);

#endif
