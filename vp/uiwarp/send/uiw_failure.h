/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why the sender has stopped for good. It leaves the reason in ep->tx and returns;
 * stream/uiw_drive.c ends the connection when the token is back.
 */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_FAILURE_H
#define ITAPI_VP_UIWARP_SEND_UIW_FAILURE_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* A copy, taken while the token is held: afterwards the EP may be used anew. */
struct uiw_failure {
    uint32_t generation;
    it_dto_status_t status; /* of request `index` */
    uint32_t index;
    enum iw_error error; /* of the response to `entry`; `answered` octets of it have left */
    struct uiw_irq_entry entry;
    uint32_t answered;
};

/* The request cannot be executed. */
static inline void uiw_fail_request(struct uiw_ep *ep, uint32_t index, it_dto_status_t status)
{
    ep->tx.failed_index = index;
    atomic_store_explicit(&ep->tx.failed_status, (int)status, memory_order_release);
}

/* The Read of the peer at the cursor cannot be answered. */
static inline void uiw_fail_response(struct uiw_ep *ep, enum iw_error error)
{
    atomic_store_explicit(&ep->tx.failed_error, (int)error, memory_order_release);
}

/* No request and no Read is to blame. */
static inline void uiw_fail_stream(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->tx.failed_stream, true, memory_order_release);
}

static inline bool uiw_has_failed(const struct uiw_ep *ep)
{
    return atomic_load_explicit(&ep->tx.failed_status, memory_order_acquire) != IT_DTO_SUCCESS ||
           atomic_load_explicit(&ep->tx.failed_error, memory_order_acquire) != IW_OK ||
           atomic_load_explicit(&ep->tx.failed_stream, memory_order_acquire);
}

/*
 * A request or response that has failed lies behind what could not be sent: its turn comes again.
 */
static inline void uiw_failure_forget(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->tx.failed_status, IT_DTO_SUCCESS, memory_order_relaxed);
    atomic_store_explicit(&ep->tx.failed_error, IW_OK, memory_order_relaxed);
}

#endif
