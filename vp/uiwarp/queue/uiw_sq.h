/* SPDX-License-Identifier: BSD-2-Clause */
/* The send queue of an EP. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_SQ_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_SQ_H

#include "vp/uiwarp/queue/uiw_ep.h"

enum uiw_hold {
    UIW_HOLD_NONE,  /* nothing waits for another post */
    UIW_HOLD_YOUNG, /* met by this sweep for the first time */
    UIW_HOLD_OVER   /* met before: released to the sender now */
};

/* Returns true if the immediate value travels in a message of its own, behind the data. */
static inline bool uiw_sq_value_is_apart(const struct uiw_ep *ep, const struct uiw_sqe *sqe)
{
    return sqe->has_immediate &&
           (sqe->opcode != VP_SEND || sqe->operand > UINT32_MAX ||
            atomic_load_explicit(&ep->own.values, memory_order_relaxed) != UIW_VALUES_INSIDE);
}

/* Returns the number of messages of a Send or Write; 0 for other requests. */
static inline uint32_t uiw_sq_messages(const struct uiw_ep *ep, const struct uiw_sqe *sqe)
{
    bool is =
        sqe->opcode == VP_SEND || sqe->opcode == VP_SEND_UNLINK || sqe->opcode == VP_RDMA_WRITE;

    if (!is)
        return 0;
    return sqe->length > 0 && uiw_sq_value_is_apart(ep, sqe) ? 2 : 1;
}

/* ---- uiw_sq.c. Functions _locked need ual_ep.lock; true means that evd_wake is due. ---- */

/* Returns true if the request has completed: the peer has acknowledged it early. */
static inline bool uiw_sq_is_over(const struct uiw_ep *ep, uint32_t index)
{
    return (int32_t)(index - uiw_queue_head(&ep->sq)) < 0;
}

/* Marks a request of which the last octet has left. Its slot may be in use again. */
static inline void uiw_sq_mark_sent_locked(const struct uiw_ep *ep, struct uiw_sqe *sqe,
                                           uint32_t index)
{
    if (ep->sent_is == UIW_DONE || !uiw_sq_is_over(ep, index))
        sqe->done = ep->sent_is;
}

/* Reports the requests that are done, in order. */
bool uiw_sq_complete_locked(struct uiw_ep *ep);
/*
 * The same; then reports the rest in the order of posting: a failed request, if there is one, with
 * its status, the others as flushed.
 */
bool uiw_sq_flush_locked(struct uiw_ep *ep, bool has_failed, uint32_t failed_index,
                         it_dto_status_t failed_status);
/* Called by a sweep. Held posts that it meets for the second time are released to the sender. */
enum uiw_hold uiw_sq_age_hold(struct ual_ep *ual);
/* Releases all held posts to the sender. Returns true if there were any. */
bool uiw_sq_let_go(struct ual_ep *ual);
void uiw_segments_copy(struct uiw_segment *to, const it_lmr_triplet_t *from, size_t count);

/* ---- uiw_links.c: posting. Needs ual_ep.lock. A failure changes nothing. ---- */

it_status_t uiw_links_fill_locked(struct uiw_ep *ep, struct uiw_sqe *sqe,
                                  const struct vp_request *request);
it_status_t uiw_links_fill_windows(struct uiw_sqe *sqe, const struct vp_request *request);
/* Releases the regions of queued links that will never be executed. */
void uiw_links_drop(struct uiw_ep *ep);

#endif
