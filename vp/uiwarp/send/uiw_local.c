/* SPDX-License-Identifier: BSD-2-Clause */
/* Links, unlinks and the windows of Reads: the sender executes or resolves them in their turn. */

#include "vp/uiwarp/send/uiw_send.h"

static bool local_is_fenced(const struct uiw_ep *ep, uint32_t index, const struct uiw_sqe *sqe)
{
    if ((sqe->flags & IT_BARRIER_FENCE_FLAG) && uiw_orq_open(&ep->reads) > 0)
        return true;
    return (sqe->flags & IT_UNLINK_FENCE_FLAG) && uiw_queue_head(&ep->sq) != index;
}

/* Executes the request. Returns false if it must wait, or failed: then ep->tx has the status. */
static bool local_start(struct uiw_ep *ep, uint32_t index, struct uiw_sqe *sqe, bool may_wait)
{
    struct uiw_mr_table *table = &ep->ia->memory.mrs;
    struct uiw_link *link = uiw_sqe_link(sqe);
    enum uiw_window_result result;

    if (local_is_fenced(ep, index, sqe))
        return false;
    if (link->window)
        result = uiw_window_run(table, &ep->id, ep->ual, link, may_wait);
    else
        result = uiw_key_invalidate(table, &ep->id, link->stag, may_wait);
    if (result == UIW_WINDOW_REFUSED)
        uiw_fail_request(ep, index, (it_dto_status_t)IT_RMR_OPERATION_FAILED);
    sqe->started = result == UIW_WINDOW_DONE;
    return sqe->started;
}

bool uiw_local_run(struct uiw_ep *ep, struct uiw_cursor *cursor, bool may_wait)
{
    uint32_t first = cursor->sq;

    while (uiw_local_is_next(ep, cursor)) {
        struct uiw_sqe *sqe = uiw_sqe_at(ep, cursor->sq);

        if (!sqe->started && !local_start(ep, cursor->sq, sqe, may_wait))
            break;
        cursor->sq++;
    }
    return cursor->sq != first;
}

bool uiw_local_resolve(struct uiw_ep *ep, struct uiw_sqe *sqe)
{
    for (unsigned i = 0; i < sqe->segment_count; i++) {
        struct uiw_segment *segment = &sqe->segments[i];

        if (uiw_window_resolve(&ep->id, segment))
            continue;
        if (segment->length > 0)
            return false;
        segment->stag = 0; /* nothing is placed there, so no check is needed */
    }
    sqe->resolved = true;
    return true;
}

/* Returns false for a region with windows, which cannot be unlinked. */
bool uiw_local_may_unlink_sink(const struct uiw_sqe *sqe)
{
    const struct uiw_segment *sink = &sqe->segments[0];
    const struct ual_lmr *lmr;
    bool may;

    if (sqe->to_windows || sink->stag == 0 || !uiw_mr_pin_entry(sink->mr, sink->stag))
        return true; /* a check that follows finds a freed region */
    lmr = sink->mr->region.handle;
    may = atomic_load_explicit(&lmr->object.children, memory_order_acquire) == 0;
    uiw_mr_unpin(sink->mr);
    return may;
}
