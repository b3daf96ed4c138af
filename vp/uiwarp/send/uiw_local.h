/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that nothing of goes to the peer, executed by the sender. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_LOCAL_H
#define ITAPI_VP_UIWARP_SEND_UIW_LOCAL_H

#include "vp/uiwarp/queue/uiw_sq.h"

static inline bool uiw_local_is_next(const struct uiw_ep *ep, const struct uiw_cursor *cursor)
{
    return cursor->sq_offset == 0 &&
           cursor->sq != atomic_load_explicit(&ep->sq_ready, memory_order_acquire) &&
           uiw_sqe_is_local(uiw_sqe_at(ep, cursor->sq));
}

/*
 * Sender. Executes the local requests at the cursor and moves it behind them, as far as fences let
 * it; may_wait: the caller holds no pin. What fails is left in ep->tx. True if the cursor moved.
 */
bool uiw_local_run(struct uiw_ep *ep, struct uiw_cursor *cursor, bool may_wait);

/* Sender. A Read that starts: its windows as they are now. False: not linked, or not for us. */
bool uiw_local_resolve(struct uiw_ep *ep, struct uiw_sqe *sqe);

/* May a Read with IT_UNLINK_LOCAL_SINK have this sink? */
bool uiw_local_may_unlink_sink(const struct uiw_sqe *sqe);

#endif
