/* SPDX-License-Identifier: BSD-2-Clause */
/* The state machine of an RC endpoint: one table, one function through which every change passes. */
#ifndef ITAPI_UAL_UAL_EP_STATE_H
#define ITAPI_UAL_UAL_EP_STATE_H

#include "ual/ual.h"

enum ual_ep_step {
    UAL_EP_CONNECT,        /* it_ep_connect, or conversion as Initiator */
    UAL_EP_ACCEPT,         /* it_ep_accept of a request */
    UAL_EP_WAIT_REQUEST,   /* conversion as Responder */
    UAL_EP_ARRIVAL,        /* three-way: positive answer */
    UAL_EP_ESTABLISHED,    /* data may flow */
    UAL_EP_ATTEMPT_FAILED, /* rejected by the peer or otherwise */
    UAL_EP_DISCONNECT,     /* it_ep_disconnect */
    UAL_EP_CLOSED,         /* the peer has disconnected */
    UAL_EP_BROKEN,         /* the established connection failed */
    UAL_EP_RESET,          /* it_ep_reset */
    UAL_EP_STEPS
};

/*
 * ep->lock is held. Moves the EP and returns true, or returns false and changes nothing when the
 * step is not legal in the present state. *before (may be NULL) gets the state it was in.
 */
bool ual_ep_step_locked(struct ual_ep *ep, enum ual_ep_step step, it_ep_state_rc_t *before);

static inline it_ep_state_rc_t ual_ep_state(const struct ual_ep *ep)
{
    return (it_ep_state_rc_t)atomic_load_explicit(&ep->state, memory_order_acquire);
}

/* What a connection event says beyond its number. Zeroed members are "nothing". */
struct ual_conn_news {
    it_event_type_t number;
    it_cn_est_identifier_t cn_est_id;
    uint32_t ird, ord;
    it_conn_reject_code_t reject_code;
    const void *private_data;
    size_t private_length; /* cut to IT_MAX_PRIV_DATA */
};

/* Queues the event on the EP's connect EVD with its dst_path and wakes. No lock may be held. */
void ual_ep_report(struct ual_ep *ep, const struct ual_conn_news *news);

#endif
