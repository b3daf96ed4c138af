/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state machine of an RC endpoint: one table, one function through which every change passes.
 */
#ifndef ITAPI_UAL_OBJECT_UAL_EP_STATE_H
#define ITAPI_UAL_OBJECT_UAL_EP_STATE_H

#include "ual/object/ual.h"
#include "ual/vp.h"

/*
 * ep->lock is held. Moves the EP and returns true, or returns false and changes nothing when the
 * step is not legal in the present state. *before (may be NULL) gets the state it was in.
 */
bool ual_ep_step_locked(struct ual_ep *ep, enum ual_ep_step step, it_ep_state_rc_t *before);

static inline it_ep_state_rc_t ual_ep_state(const struct ual_ep *ep)
{
    return (it_ep_state_rc_t)atomic_load_explicit(&ep->state, memory_order_acquire);
}

/* For lines of the log. */
const char *ual_ep_state_name(const struct ual_ep *ep);
/* A call that the EP's state does not allow: IT_ERR_INVALID_EP_STATE. */
it_status_t ual_ep_refuse_state(const char *call, const struct ual_ep *ep_handle);

/* An EP of datagrams: the same with its two states. */
bool ual_ep_set_ud_state_locked(struct ual_ep *ep, it_ep_state_ud_t state);

static inline it_ep_state_ud_t ual_ep_ud_state(const struct ual_ep *ep)
{
    return (it_ep_state_ud_t)atomic_load_explicit(&ep->state, memory_order_acquire);
}

/* Queues the event on the EP's connect EVD with its dst_path and wakes. No lock may be held. */
void ual_ep_report(struct ual_ep *ep, const struct ual_conn_news *news);

#endif
