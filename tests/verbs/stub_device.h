/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device in place of libibverbs, for tests of the verbs provider without any: QPs of one process
 * that reach each other, at once. Connections are made by stub_connect instead of rdma_cm.
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

/* How the device behaves; set before the IA is opened. */
struct stub_settings {
    bool like_siw;       /* vendor of siw: what is posted on a failed QP never completes */
    bool like_iwarp;     /* another device of iWARP */
    bool on_ethernet;    /* the ports are: RoCE, if it is no iWARP */
    uint8_t ports;       /* 0: 1 */
    bool lazy_flush;     /* a failed QP completes what it has when stub_flush is called */
    bool tells_late;     /* of a QP that has failed: not before it is in ERROR */
    bool checks_keys;    /* of the memory here, as a device does */
    bool has_windows;    /* of both types; and it checks the keys of peers */
    bool refuse_window;  /* ibv_alloc_mw fails with ENOMEM */
    int refuse_bind;     /* posting that a window be opened fails so; 0: it does not */
    bool takes_half;     /* then what is posted in front of it is executed */
    int max_cqe;         /* 0: many */
    int refuse_qps;      /* so many ibv_create_qp fail with ENOMEM */
    bool refuse_memory;  /* ibv_reg_mr fails with ENOMEM */
    bool no_device;      /* the list is empty */
    bool has_node;       /* the device says which file below /dev it is */
    bool raises_sigpipe; /* posting a request does, in its thread, as siw where the peer is gone */
    bool blocks_sigpipe; /* so did that thread */
    int open_error;      /* ibv_open_device fails so; 0: it does not */
};

extern struct stub_settings stub;

/* Back to the defaults, with the provider registered. */
void stub_start(void);

/* While held, requests are queued and not executed. Releasing executes them in order. */
void stub_hold(struct ibv_qp *qp, bool hold);
/* Does what .lazy_flush has put off. */
void stub_flush(struct ibv_qp *qp);
/* The next request fails like this. */
void stub_fail_next(struct ibv_qp *qp, enum ibv_wc_status status);
/* Objects that exist: 0 when all is given back. */
size_t stub_objects(void);
/* Times that somebody has looked for completions. */
unsigned stub_looks(void);
/* Times that this thread has asked for a notification of a CQ. */
unsigned stub_arms(void);
/* And any thread. */
unsigned stub_all_arms(void);
/* An asynchronous event of the device. */
void stub_raise(enum ibv_event_type type, struct ibv_qp *qp, int port);

/* ---- Instead of connection management (stub_cm.c) */

struct ibv_qp *stub_qp(it_ep_handle_t ep);
void stub_join(struct ibv_qp *a, struct ibv_qp *b);
void stub_connect(it_ep_handle_t a, it_ep_handle_t b);
/* The connection of that side is over: as when the peer has disconnected. */
void stub_disconnected(it_ep_handle_t ep);
/* The same, and connection management reports it. */
void stub_disconnect(it_ep_handle_t ep);
/* Calls of verbs_cm_ep_failed since the start. */
unsigned stub_failures(void);

#endif
