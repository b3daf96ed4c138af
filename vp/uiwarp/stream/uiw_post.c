/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting a request: into the send queue, then out at once, soon, or with the next. */
#include "vp/uiwarp/stream/uiw_post.h"

#include "base/base_clock.h"
#include "evd/deliver/evd_deliver.h"
#include "vp/uiwarp/stream/uiw_drive.h"

/*
 * Posts that follow the end of the one before this closely (about a microsecond or two) make a burst:
 * how long that one was busy sending does not count ...
 */
#define POST_BURST_GAP_TICKS UINT64_C(4000)

/* ... which lasts until there is a longer pause: what sends and polls between two posts take. */
#define POST_BURST_KEEP_TICKS UINT64_C(100000)

/* A thread that fills the queues of many endpoints in turn comes back to each after at most this. */
#define POST_BURST_PAUSE_MAX_TICKS UINT64_C(4000000)

/* So many posts of a burst go out one by one; those behind may wait for company. */
#define POST_BURST_EAGER 4u

/* ... until so many requests or octets have gathered. */
#define POST_GATHER_REQUESTS 64u

#define POST_GATHER_OCTETS UINT64_C(262144)

/* On failure nothing has changed but the slot, which is still free. */
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
    sqe->done = false;
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
        return uiw_link_fill_locked(ep, sqe, request);
    if (sqe->to_windows)
        return uiw_windows_fill(sqe, request);
    uiw_segments_copy(sqe->segments, request->segments, request->segment_count);
    return IT_SUCCESS;
}

static void post_gather_none_locked(struct uiw_ep *ep)
{
    ep->pacing.gathered_requests = 0;
    ep->pacing.gathered_octets = 0;
}

/* The first post since the peer has spoken, outside of a burst, begins none: the clock need not be looked at. */
static bool post_answers_locked(struct uiw_ep *ep)
{
    uint64_t heard = atomic_load_explicit(&ep->rx.fpdus_in, memory_order_relaxed);
    bool answers = ep->pacing.burst == 0 && heard != ep->pacing.burst_heard;

    ep->pacing.burst_heard = heard;
    return answers;
}

/*
 * Does this post belong to a burst, so long after the last one? The first behind a pause does not,
 * until such pauses have been met; two in a row that are alone are its end.
 */
static bool post_is_in_burst_locked(struct uiw_ep *ep)
{
    uint64_t now = base_rough_ticks();
    uint64_t gap = now - atomic_load_explicit(&ep->pacing.last_post, memory_order_relaxed);
    bool alone = ep->pacing.burst_paused;

    atomic_store_explicit(&ep->pacing.last_post, now, memory_order_relaxed);
    if (ep->pacing.burst < POST_BURST_EAGER) {
        ep->pacing.burst = gap < POST_BURST_GAP_TICKS ? ep->pacing.burst + 1 : 0;
        return ep->pacing.burst >= POST_BURST_EAGER;
    }
    ep->pacing.burst_paused = gap >= POST_BURST_KEEP_TICKS;
    if (!ep->pacing.burst_paused)
        return true;
    if (alone || gap >= POST_BURST_PAUSE_MAX_TICKS) {
        ep->pacing.burst = 0;
        ep->pacing.burst_pause = 0;
        ep->pacing.burst_paused = false;
        return false;
    }
    if (gap < ep->pacing.burst_pause)
        return true;
    ep->pacing.burst_pause = 2 * gap;
    return false;
}

/*
 * A program that posts faster than it polls is about to post more: a few requests then share one
 * system call. What waits for company goes out with the next poll, wait or gathering, and soon in
 * any case (uiw_sweep.c).
 */
static bool post_may_wait_locked(struct uiw_ep *ep, const struct vp_request *request)
{
    if (!post_answers_locked(ep) && post_is_in_burst_locked(ep)) {
        ep->pacing.gathered_requests++;
        ep->pacing.gathered_octets += request->length;
        if (ep->pacing.gathered_requests < POST_GATHER_REQUESTS &&
            ep->pacing.gathered_octets < POST_GATHER_OCTETS)
            return true;
    }
    post_gather_none_locked(ep);
    return false;
}

/* When what has been posted leaves. */
enum post_pace {
    POST_NEVER, /* flushed, or about to be */
    POST_NOW,
    POST_SOON, /* may wait for company */
    POST_HELD  /* waits for a post without IT_COALESCE_WR_FLAG */
};

/*
 * Up to the tail all is filled in. A post without the flag lets everything go that waits for it, at
 * once; so does one that takes the last slot, since none can follow it.
 */
static enum post_pace post_pace_locked(struct uiw_ep *ep, const struct vp_request *request)
{
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    bool others_wait = atomic_load_explicit(&ep->sq_ready, memory_order_relaxed) != tail - 1;

    if ((request->flags & IT_COALESCE_WR_FLAG) && uiw_queue_in_use(&ep->sq) < ep->sq.depth) {
        if (!others_wait)
            ep->hold_met = false;
        return POST_HELD;
    }
    /* Hands the slots to the sender, who reads it with acquire. */
    atomic_store_explicit(&ep->sq_ready, tail, memory_order_release);
    if (post_may_wait_locked(ep, request) && !others_wait)
        return POST_SOON;
    post_gather_none_locked(ep);
    return POST_NOW;
}

static void post_send(struct ual_ep *ual, enum post_pace pace)
{
    switch (pace) {
    case POST_NEVER:
        break;
    case POST_NOW:
        uiw_drive_send(ual, false);
        /* A system call later. Of two posters the time of either will do. */
        atomic_store_explicit(&uiw_ep_of(ual)->pacing.last_post, base_rough_ticks(),
                              memory_order_relaxed);
        break;
    case POST_SOON:
        uiw_later_defer(ual);
        break;
    case POST_HELD:
        uiw_later_hold(ual);
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
    /* Hands the slot to the sender, who reads the tail with acquire. */
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
