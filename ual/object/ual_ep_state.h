/* SPDX-License-Identifier: BSD-2-Clause */
/* The state machine of an RC endpoint: a table, and one function through which all changes pass. */
#ifndef ITAPI_UAL_OBJECT_UAL_EP_STATE_H
#define ITAPI_UAL_OBJECT_UAL_EP_STATE_H

#include "ual/object/ual.h"
#include "ual/vp.h"

/*
 * Moves the EP to the next state and returns true; returns false and changes nothing when the step
 * is not legal in the present state. ep->lock is held. *before, if before is not NULL, gets the old
 * state.
 */
bool ual_ep_step_locked(struct ual_ep *ep, enum ual_ep_step step, it_ep_state_rc_t *before);

static inline it_ep_state_rc_t ual_ep_state(const struct ual_ep *ep)
{
    return (it_ep_state_rc_t)atomic_load_explicit(&ep->state, memory_order_acquire);
}

/* For log lines. */
const char *ual_ep_state_name(const struct ual_ep *ep);
/* Logs a call that the EP's state does not allow and returns IT_ERR_INVALID_EP_STATE. */
it_status_t ual_ep_refuse_state(const char *call, const struct ual_ep *ep_handle);

/* The same for a UD endpoint, which has two states. */
bool ual_ep_set_ud_state_locked(struct ual_ep *ep, it_ep_state_ud_t state);

static inline it_ep_state_ud_t ual_ep_ud_state(const struct ual_ep *ep)
{
    return (it_ep_state_ud_t)atomic_load_explicit(&ep->state, memory_order_acquire);
}

/* Queues the event, with the EP's dst_path, on its connect EVD and wakes. No lock may be held. */
void ual_ep_report(struct ual_ep *ep, const struct ual_conn_news *news);

#endif
