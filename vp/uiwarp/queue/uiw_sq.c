/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The send queue: posting, completion in the order of posting, flushing. A request is executed by
 * the sender (uiw_tx.c) and, for a Read, finished by the reader; whoever finishes it marks it done,
 * and it is reported as soon as all before it are.
 */
#include "vp/uiwarp/send/uiw_tx.h"

#include "base/base_clock.h"
#include "evd/deliver/evd_deliver.h"

/*
 * Posts that follow the end of the one before this closely (about a microsecond or two) make a burst:
 * how long that one was busy sending does not count ...
 */
#define SQ_BURST_GAP_TICKS UINT64_C(4000)
/* ... which lasts until there is a longer pause: what sends and polls between two posts take. */
#define SQ_BURST_KEEP_TICKS UINT64_C(100000)
/* A thread that fills the queues of many endpoints in turn comes back to each after at most this. */
#define SQ_BURST_PAUSE_MAX_TICKS UINT64_C(4000000)
/* So many posts of a burst go out one by one; those behind may wait for company. */
#define SQ_BURST_EAGER 4u
/* ... until so many requests or octets have gathered. */
#define SQ_GATHER_REQUESTS 64u
#define SQ_GATHER_OCTETS   UINT64_C(262144)

void uiw_segments_copy(struct uiw_segment *to, const it_lmr_triplet_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ual_lmr *lmr = (struct ual_lmr *)(void *)from[i].lmr;

        to[i].addr = lmr->addr_mode == IT_ADDR_MODE_RELATIVE
                         ? (uint8_t *)((uintptr_t)lmr->addr + (uintptr_t)from[i].addr.rel)
                         : from[i].addr.abs;
        /* A longer receive segment is legal; no message fills more of it. */
        to[i].length = from[i].length > UINT32_MAX ? UINT32_MAX : (uint32_t)from[i].length;
        to[i].mr = uiw_lmr_of(lmr)->local;
        to[i].stag = atomic_load_explicit(&uiw_lmr_of(lmr)->local_stag, memory_order_relaxed);
    }
}

static it_event_type_t sq_event_number(const struct uiw_sqe *sqe)
{
    switch ((enum vp_opcode)sqe->opcode) {
    case VP_RDMA_WRITE:
        return IT_DTO_RDMA_WRITE_CMPL_EVENT;
    case VP_RDMA_READ:
    case VP_RDMA_READ_TO_RMR:
        return IT_DTO_RDMA_READ_CMPL_EVENT;
    case VP_RMR_LINK:
    case VP_RMR_UNLINK:
        return IT_RMR_LINK_CMPL_EVENT;
    case VP_FETCH_ADD:
        return IT_DTO_FETCH_ADD_CMPL_EVENT;
    case VP_CMP_SWAP:
    case VP_SWAP: /* on the wire a compare and swap that compares no bit */
        return IT_DTO_CMP_SWAP_CMPL_EVENT;
    case VP_SEND:
    case VP_SEND_UNLINK:
    case VP_SENDTO: /* never: there are no datagrams */
        break;
    }
    return IT_DTO_SEND_CMPL_EVENT;
}

static bool sq_report_locked(struct uiw_ep *ep, uint32_t index, it_dto_status_t status)
{
    const struct uiw_sqe *sqe = uiw_sqe_at(ep, index);
    uint32_t reported = uiw_queue_reported(&ep->sq) + 1;
    struct evd_dto dto = {
        .event_number = sq_event_number(sqe),
        .status = status,
        .ep = ual_ep_handle(ep->ual),
        .cookie = sqe->cookie,
        .length = status == IT_DTO_SUCCESS ? sqe->length : 0,
        .unlinked =
            status == IT_DTO_SUCCESS && (sqe->flags & IT_UNLINK_LOCAL_SINK) ? sqe->unlinked : NULL,
        .notify = status != IT_DTO_SUCCESS || (sqe->flags & IT_NOTIFY_FLAG) != 0,
        .retire = &ep->sq.retired,
        .retire_value = reported,
    };
    enum evd_push_result result = evd_push_dto(ep->ual->request_evd, &dto);

    if (result == EVD_LOST)
        atomic_store_explicit(&ep->lost_event, true, memory_order_release);
    else
        uiw_queue_advance(&ep->sq, uiw_queue_head(&ep->sq), reported);
    return result != EVD_PUSHED;
}

bool uiw_sq_complete_locked(struct uiw_ep *ep)
{
    uint32_t head = uiw_queue_head(&ep->sq);
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    bool wake = false;

    base_lock_assert_held(&ep->ual->lock);
    for (; head != tail; head++) {
        const struct uiw_sqe *sqe = uiw_sqe_at(ep, head);

        if (!sqe->done)
            break;
        if (sqe->flags & IT_COMPLETION_FLAG)
            wake |= sq_report_locked(ep, head, IT_DTO_SUCCESS);
    }
    uiw_queue_advance(&ep->sq, head, uiw_queue_reported(&ep->sq));
    return wake;
}

bool uiw_sq_flush_locked(struct uiw_ep *ep, bool has_failed, uint32_t failed_index,
                         it_dto_status_t failed_status)
{
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    uint32_t head;
    bool wake = uiw_sq_complete_locked(ep);

    uiw_links_drop(ep);
    head = uiw_queue_head(&ep->sq);
    if (has_failed && failed_index - head < tail - head)
        wake |= sq_report_locked(ep, failed_index, failed_status);
    else
        has_failed = false;
    for (; head != tail; head++) {
        if (!has_failed || head != failed_index)
            wake |= sq_report_locked(ep, head, IT_DTO_ERR_FLUSHED);
    }
    uiw_queue_advance(&ep->sq, tail, uiw_queue_reported(&ep->sq));
    return wake;
}

/* On failure nothing has changed but the slot, which is still free. */
static it_status_t sq_fill_locked(struct uiw_ep *ep, struct uiw_sqe *sqe,
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
    sqe->quick = uiw_quick_may_be(ep, request);
    sqe->in_parts = false;
    if (__builtin_expect(request->rmr_context > UINT32_MAX, false) &&
        vp_request_has_bad_key(request)) {
        sqe->bad_key = true;
        sqe->quick = false;
    }
    if (request->link)
        return uiw_link_fill_locked(ep, sqe, request);
    if (sqe->to_windows)
        return uiw_windows_fill(sqe, request);
    uiw_segments_copy(sqe->segments, request->segments, request->segment_count);
    return IT_SUCCESS;
}

static void sq_gather_none_locked(struct uiw_ep *ep)
{
    ep->gathered_requests = 0;
    ep->gathered_octets = 0;
}

/* The first post since the peer has spoken, outside of a burst, begins none: the clock need not be looked at. */
static bool sq_answers_locked(struct uiw_ep *ep)
{
    uint64_t heard = atomic_load_explicit(&ep->fpdus_in, memory_order_relaxed);
    bool answers = ep->burst == 0 && heard != ep->burst_heard;

    ep->burst_heard = heard;
    return answers;
}

/*
 * Does this post belong to a burst, so long after the last one? The first behind a pause does not,
 * until such pauses have been met; two in a row that are alone are its end.
 */
static bool sq_is_in_burst_locked(struct uiw_ep *ep)
{
    uint64_t now = base_rough_ticks();
    uint64_t gap = now - atomic_load_explicit(&ep->last_post, memory_order_relaxed);
    bool alone = ep->burst_paused;

    atomic_store_explicit(&ep->last_post, now, memory_order_relaxed);
    if (ep->burst < SQ_BURST_EAGER) {
        ep->burst = gap < SQ_BURST_GAP_TICKS ? ep->burst + 1 : 0;
        return ep->burst >= SQ_BURST_EAGER;
    }
    ep->burst_paused = gap >= SQ_BURST_KEEP_TICKS;
    if (!ep->burst_paused)
        return true;
    if (alone || gap >= SQ_BURST_PAUSE_MAX_TICKS) {
        ep->burst = 0;
        ep->burst_pause = 0;
        ep->burst_paused = false;
        return false;
    }
    if (gap < ep->burst_pause)
        return true;
    ep->burst_pause = 2 * gap;
    return false;
}

/*
 * A program that posts faster than it polls is about to post more: a few requests then share one
 * system call. What waits for company goes out with the next poll, wait or gathering, and soon in
 * any case (uiw_defer.c).
 */
static bool sq_may_wait_locked(struct uiw_ep *ep, const struct vp_request *request)
{
    if (!sq_answers_locked(ep) && sq_is_in_burst_locked(ep)) {
        ep->gathered_requests++;
        ep->gathered_octets += request->length;
        if (ep->gathered_requests < SQ_GATHER_REQUESTS && ep->gathered_octets < SQ_GATHER_OCTETS)
            return true;
    }
    sq_gather_none_locked(ep);
    return false;
}

/* When what has been posted leaves. */
enum sq_pace {
    SQ_NEVER, /* flushed, or about to be */
    SQ_NOW,
    SQ_SOON, /* may wait for company */
    SQ_HELD  /* waits for a post without IT_COALESCE_WR_FLAG */
};

/*
 * Up to the tail all is filled in. A post without the flag lets everything go that waits for it, at
 * once; so does one that takes the last slot, since none can follow it.
 */
static enum sq_pace sq_pace_locked(struct uiw_ep *ep, const struct vp_request *request)
{
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    bool others_wait = atomic_load_explicit(&ep->sq_ready, memory_order_relaxed) != tail - 1;

    if ((request->flags & IT_COALESCE_WR_FLAG) && uiw_queue_in_use(&ep->sq) < ep->sq.depth) {
        if (!others_wait)
            ep->hold_met = false;
        return SQ_HELD;
    }
    /* Hands the slots to the sender, who reads it with acquire. */
    atomic_store_explicit(&ep->sq_ready, tail, memory_order_release);
    if (sq_may_wait_locked(ep, request) && !others_wait)
        return SQ_SOON;
    sq_gather_none_locked(ep);
    return SQ_NOW;
}

static bool sq_holds_locked(const struct uiw_ep *ep)
{
    return ual_ep_state(ep->ual) == IT_EP_STATE_CONNECTED &&
           atomic_load_explicit(&ep->sq_ready, memory_order_relaxed) !=
               atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
}

static void sq_show_all_locked(struct uiw_ep *ep)
{
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);

    atomic_store_explicit(&ep->sq_ready, tail, memory_order_release);
}

enum uiw_hold uiw_sq_age_hold(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    enum uiw_hold hold = UIW_HOLD_NONE;

    base_lock_take(&ual->lock);
    if (sq_holds_locked(ep)) {
        hold = ep->hold_met ? UIW_HOLD_OVER : UIW_HOLD_YOUNG;
        if (ep->hold_met)
            sq_show_all_locked(ep);
        ep->hold_met = true;
    }
    base_lock_drop(&ual->lock);
    return hold;
}

bool uiw_sq_let_go(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool held;

    base_lock_take(&ual->lock);
    held = sq_holds_locked(ep);
    if (held)
        sq_show_all_locked(ep);
    base_lock_drop(&ual->lock);
    return held;
}

static void sq_send(struct ual_ep *ual, enum sq_pace pace)
{
    struct ual_ia *ia = ual_ia_of(&ual->object);

    switch (pace) {
    case SQ_NEVER:
        break;
    case SQ_NOW:
        uiw_tx_kick(ual, false);
        /* A system call later. Of two posters the time of either will do. */
        atomic_store_explicit(&uiw_ep_of(ual)->last_post, base_rough_ticks(), memory_order_relaxed);
        break;
    case SQ_SOON:
        uiw_progress_defer(ia, ual);
        break;
    case SQ_HELD:
        uiw_progress_hold(ia, ual);
        break;
    }
}

it_status_t uiw_post_request(struct ual_ep *ual, const struct vp_request *request)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_ep_state_rc_t state;
    enum sq_pace pace = SQ_NEVER;
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
    status = sq_fill_locked(ep, uiw_sqe_at(ep, tail), request);
    if (status != IT_SUCCESS) {
        base_lock_drop(&ual->lock);
        return status;
    }
    /* Hands the slot to the sender, who reads the tail with acquire. */
    atomic_store_explicit(&ep->sq.tail, tail + 1, memory_order_release);
    if (state == IT_EP_STATE_CONNECTED)
        pace = sq_pace_locked(ep, request);
    else if (ep->drained)
        wake = uiw_sq_flush_locked(ep, false, 0, IT_DTO_ERR_FLUSHED);
    base_lock_drop(&ual->lock);
    if (wake)
        evd_wake(ual->request_evd);
    sq_send(ual, pace);
    return IT_SUCCESS;
}
