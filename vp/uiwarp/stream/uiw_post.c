/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting: a request enters the send queue, and is sent at once, deferred or held. */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "base/base_clock.h"
#include "evd/deliver/evd_deliver.h"
#include "vp/uiwarp/queue/uiw_token.h"

#include <string.h>

/* Fills the slot. After a failure the slot is still free, and nothing else has changed. */
static it_status_t post_fill_locked(struct uiw_ep *ep, struct uiw_sqe *sqe,
                                    const struct vp_request *request)
{
    sqe->cookie = request->cookie;
    sqe->rdma_addr = request->rdma_addr;
    sqe->remote_stag = (uint32_t)request->rmr_context;
    sqe->bad_key = false;
    sqe->length = (uint32_t)request->length;
    sqe->opcode = (uint8_t)request->opcode;
    sqe->flags = (uint8_t)request->flags;
    sqe->started = false;
    sqe->done = UIW_DONE_NOT;
    sqe->has_immediate = request->has_immediate;
    sqe->operand = request->has_immediate ? request->immediate : request->operand;
    sqe->compare = request->compare;
    sqe->segment_count = (uint8_t)request->segment_count;
    sqe->to_windows = request->opcode == VP_RDMA_READ_TO_RMR;
    sqe->resolved = false;
    if (__builtin_expect(request->rmr_context > UINT32_MAX, false) &&
        vp_request_has_bad_key(request))
        sqe->bad_key = true;
    if (request->link)
        return uiw_links_fill_locked(ep, sqe, request);
    if (sqe->to_windows)
        return uiw_links_fill_windows(sqe, request);
    uiw_segments_copy(sqe->segments, request->segments, request->segment_count);
    return IT_SUCCESS;
}

static void __attribute__((noinline))
post_lend_locked(struct uiw_ep *ep, uint32_t tail, struct vp_lent *lent)
{
    struct uiw_sqe *sqe = uiw_sqe_at(ep, tail);

    sqe->lent = lent->octets;
    sqe->flags |= UIW_LENT;
    lent->number = tail;
}

/* Returns true if the request may be deferred: uiw_later_defer says until when. */
static bool post_may_wait_locked(struct uiw_ep *ep, const struct vp_request *request)
{
    uint64_t heard = atomic_load_explicit(&ep->rx.heard, memory_order_relaxed);

    return !uiw_pacing_answers(&ep->pacing, heard) &&
           uiw_pacing_in_burst(&ep->pacing, base_rough_ticks()) &&
           uiw_pacing_gather(&ep->pacing, request->length);
}

static enum uiw_stay_order __attribute__((noinline))
post_learn_locked(struct uiw_ep *ep, uint64_t taken)
{
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    struct uiw_stay_times times = {
        .posted = atomic_load_explicit(&ep->pacing.last_post, memory_order_relaxed),
        .taken = taken,
        .now = base_rough_ticks(),
    };

    return uiw_stay_learn(&ep->stay, tail, &times);
}

/* When posted requests are sent. */
enum post_pace {
    POST_NEVER, /* flushed, or about to be */
    POST_NOW,
    POST_SOON,  /* deferred */
    POST_HELD,  /* by a post without IT_COALESCE_WR_FLAG */
    POST_STAYS, /* now, and the poster reads the answer: see uiw_stay.h */
    POST_STAYED /* now, and from here on other threads read the answers */
};

/*
 * Decides when the requests up to the tail are sent; all of them are filled in. A post with
 * IT_COALESCE_WR_FLAG is held until a post without it, or a sweep. If it takes the last slot, no
 * post can follow, so it releases the held ones itself. A post that releases others is never
 * deferred.
 */
static enum post_pace post_pace_locked(struct uiw_ep *ep, const struct vp_request *request)
{
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    bool others_held = atomic_load_explicit(&ep->sq_ready, memory_order_relaxed) != tail - 1;
    uint64_t taken;

    if ((request->flags & IT_COALESCE_WR_FLAG) && uiw_queue_in_use(&ep->sq) < ep->sq.depth) {
        if (!others_held)
            ep->hold_met = false;
        return POST_HELD;
    }
    /* Hands the slots to the sender, which reads it with acquire. */
    atomic_store_explicit(&ep->sq_ready, tail, memory_order_release);
    if (post_may_wait_locked(ep, request) && !others_held)
        return POST_SOON;
    uiw_pacing_release(&ep->pacing);
    /*
     * .taken is the time when the IA's thread last began to read. It is unchanged in a program that
     * reads on threads of its own, which has no use for staying: see uiw_stay.h.
     */
    taken = atomic_load_explicit(&ep->ia->progress.taken, memory_order_relaxed);
    if (__builtin_expect(taken == ep->stay.seen, true))
        return POST_NOW;
    switch (post_learn_locked(ep, taken)) {
    case UIW_STAY:
        return POST_STAYS;
    case UIW_STAY_NO_MORE:
        return POST_STAYED;
    case UIW_STAY_NOT:
        break;
    }
    return POST_NOW;
}

static void post_send_now(struct ual_ep *ual)
{
    uiw_drive_send(ual, false);
    uiw_pacing_sent(&uiw_ep_of(ual)->pacing, base_rough_ticks());
}

static void post_send_and_stay(struct ual_ep *ual, enum uiw_stay_order order)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    uint64_t heard = atomic_load_explicit(&ep->rx.heard, memory_order_relaxed);

    post_send_now(ual);
    ep->ia->progress.stay(ual, heard, order);
}

static void post_send(struct ual_ep *ual, enum post_pace pace)
{
    switch (pace) {
    case POST_NEVER:
        break;
    case POST_NOW:
        post_send_now(ual);
        break;
    case POST_SOON:
        uiw_later_defer(ual);
        break;
    case POST_HELD:
        uiw_later_hold(ual);
        break;
    case POST_STAYS:
        post_send_and_stay(ual, UIW_STAY);
        break;
    case POST_STAYED:
        post_send_and_stay(ual, UIW_STAY_NO_MORE);
        break;
    }
}

it_status_t uiw_post_request(struct ual_ep *ual, const struct vp_request *request)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_ep_state_rc_t state;
    enum post_pace pace = POST_NEVER;
    it_status_t status;
    bool wake = false;
    uint32_t tail;

    base_lock_take(&ual->lock);
    state = ual_ep_state(ual);
    if (state != IT_EP_STATE_CONNECTED && state != IT_EP_STATE_NONOPERATIONAL) {
        base_lock_drop(&ual->lock);
        return IT_ERR_INVALID_EP_STATE;
    }
    if (uiw_queue_in_use(&ep->sq) >= ep->sq.depth) {
        base_lock_drop(&ual->lock);
        return IT_ERR_TOO_MANY_POSTS;
    }
    tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    status = post_fill_locked(ep, uiw_sqe_at(ep, tail), request);
    if (status != IT_SUCCESS) {
        base_lock_drop(&ual->lock);
        return status;
    }
    if (__builtin_expect(request->lent != NULL, false))
        post_lend_locked(ep, tail, request->lent);
    /* Hands the slot to the sender, which reads the tail with acquire. */
    atomic_store_explicit(&ep->sq.tail, tail + 1, memory_order_release);
    if (state == IT_EP_STATE_CONNECTED)
        pace = post_pace_locked(ep, request);
    else if (ep->drained)
        wake = uiw_sq_flush_locked(ep, false, 0, IT_DTO_ERR_FLUSHED);
    base_lock_drop(&ual->lock);
    if (wake)
        evd_wake(ual->request_evd);
    post_send(ual, pace);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- octets from elsewhere */

/* Returns true if the request has left, or was flushed: its slot may be another one's. */
static bool post_is_gone(const struct uiw_ep *ep, uint32_t index)
{
    return (int32_t)(uiw_queue_head(&ep->sq) - index) > 0 ||
           (int32_t)(ep->tx.cursor.sq - index) > 0;
}

/* With the send token. Copies the octets that have not been sent to the last segment. */
static size_t post_copy_lent(struct uiw_ep *ep, uint32_t index, const uint8_t *lent)
{
    struct uiw_sqe *sqe = uiw_sqe_at(ep, index);
    const struct uiw_segment *last = &sqe->segments[sqe->segment_count - 1];
    uint32_t sent = ep->tx.cursor.sq == index ? ep->tx.cursor.sq_offset : 0;
    uint32_t before = sqe->length - last->length;
    uint32_t skip = sent > before ? sent - before : 0;

    sqe->flags &= (uint8_t)~UIW_LENT;
    if (!uiw_mr_pin_local(last->mr, last->stag, last->addr, last->length, IT_PRIV_LOCAL_READ,
                          ep->pz))
        return 0; /* the request will fail */
    memcpy(last->addr + skip, lent + skip, last->length - skip);
    uiw_mr_unpin(last->mr);
    return last->length - skip;
}

it_status_t uiw_post_lent(struct ual_ep *ual, const struct vp_request *request)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct vp_lent *lent = request->lent;
    it_status_t status;

    if (atomic_load_explicit(&ep->claim, memory_order_acquire))
        return IT_ERR_INVALID_EP_STATE; /* frozen: the token is taken */
    status = uiw_post_request(ual, request);
    if (status != IT_SUCCESS || (int32_t)(uiw_queue_head(&ep->sq) - lent->number) > 0)
        return status;
    uiw_token_wait(ep);
    if (!post_is_gone(ep, lent->number))
        lent->copied = post_copy_lent(ep, lent->number, lent->octets);
    uiw_token_drop(ep);
    uiw_drive_send(ual, false);
    return status;
}
