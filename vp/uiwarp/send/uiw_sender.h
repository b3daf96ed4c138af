/* SPDX-License-Identifier: BSD-2-Clause */
/* The sender: turns requests and answers into FPDUs until there is nothing more to send. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_SENDER_H
#define ITAPI_VP_UIWARP_SEND_UIW_SENDER_H

#include "vp/uiwarp/send/uiw_failure.h"

/*
 * An EP that leaves CONNECTED executes nothing more: the thread that ends it waits for the token.
 */
static inline bool uiw_sender_may_run(const struct uiw_ep *ep)
{
    return ep->fd >= 0 && ual_ep_state(ep->ual) == IT_EP_STATE_CONNECTED &&
           !atomic_load_explicit(&ep->tx.dead, memory_order_acquire) && !uiw_has_failed(ep);
}

static inline bool uiw_sender_may_send(const struct uiw_ep *ep)
{
    return uiw_sender_may_run(ep) && !atomic_load_explicit(&ep->tx.hold, memory_order_acquire);
}

/*
 * Sends until the budget is used up: a batch costs one, and one more for each 128 KiB. writable:
 * the leader saw that the socket takes octets; only then a full socket is tried again.
 */
void uiw_sender_run(struct uiw_ep *ep, bool writable, unsigned *budget);

void uiw_sender_note_failure(const struct uiw_ep *ep, struct uiw_failure *failure);

#endif
