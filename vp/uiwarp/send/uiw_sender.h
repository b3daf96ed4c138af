/* SPDX-License-Identifier: BSD-2-Clause */
/* The sender: turns requests and answers into FPDUs until there is nothing more to send. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_SENDER_H
#define ITAPI_VP_UIWARP_SEND_UIW_SENDER_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* Why the sender stopped, noted while the token is held: afterwards the EP may be used anew. */
struct uiw_sender_failure {
    uint32_t generation;
    it_dto_status_t status; /* of request `index` */
    uint32_t index;
    enum iw_error error; /* of the response to `entry`, of which `answered` octets have left */
    struct uiw_irq_entry entry;
    uint32_t answered;
};

static inline bool uiw_sender_has_failed(const struct uiw_ep *ep)
{
    return atomic_load_explicit(&ep->tx.failed_status, memory_order_acquire) != IT_DTO_SUCCESS ||
           atomic_load_explicit(&ep->tx.failed_error, memory_order_acquire) != IW_OK ||
           atomic_load_explicit(&ep->tx.failed_stream, memory_order_acquire);
}

/* An EP that leaves CONNECTED executes nothing more: whoever ends it waits for the token. */
static inline bool uiw_sender_may_run(const struct uiw_ep *ep)
{
    return ep->fd >= 0 && ual_ep_state(ep->ual) == IT_EP_STATE_CONNECTED &&
           !atomic_load_explicit(&ep->tx.dead, memory_order_acquire) && !uiw_sender_has_failed(ep);
}

static inline bool uiw_sender_may_send(const struct uiw_ep *ep)
{
    return uiw_sender_may_run(ep) && !atomic_load_explicit(&ep->tx.hold, memory_order_acquire);
}

void uiw_sender_run(struct uiw_ep *ep, bool writable, unsigned *budget);
void uiw_sender_note_failure(const struct uiw_ep *ep, struct uiw_sender_failure *failure);

#endif
