/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The send queue: completion in the order of posting, and flushing. The sender executes a request;
 * the reader finishes a Read or atomic. The thread that finishes a request marks it done. It is
 * reported once all requests before it are done.
 */
#include "vp/uiwarp/queue/uiw_sq.h"

#include "evd/deliver/evd_deliver.h"

void uiw_segments_copy(struct uiw_segment *to, const it_lmr_triplet_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ual_lmr *lmr = (struct ual_lmr *)(void *)from[i].lmr;

        to[i].addr = lmr->addr_mode == IT_ADDR_MODE_RELATIVE
                         ? (uint8_t *)((uintptr_t)lmr->addr + (uintptr_t)from[i].addr.rel)
                         : from[i].addr.abs;
        /* A longer receive segment is legal, but no message fills more than 2^32-1 octets. */
        to[i].length = from[i].length > UINT32_MAX ? UINT32_MAX : (uint32_t)from[i].length;
        to[i].mr = uiw_lmr_of(lmr)->local;
        to[i].stag = atomic_load_explicit(&uiw_lmr_of(lmr)->local_stag, memory_order_relaxed);
    }
}

static const it_event_type_t sq_event_numbers[VP_SENDTO + 1] = {
    [VP_SEND] = IT_DTO_SEND_CMPL_EVENT,
    [VP_SEND_UNLINK] = IT_DTO_SEND_CMPL_EVENT,
    [VP_RDMA_WRITE] = IT_DTO_RDMA_WRITE_CMPL_EVENT,
    [VP_RDMA_READ] = IT_DTO_RDMA_READ_CMPL_EVENT,
    [VP_RDMA_READ_TO_RMR] = IT_DTO_RDMA_READ_CMPL_EVENT,
    [VP_RMR_LINK] = IT_RMR_LINK_CMPL_EVENT,
    [VP_RMR_UNLINK] = IT_RMR_LINK_CMPL_EVENT,
    [VP_FETCH_ADD] = IT_DTO_FETCH_ADD_CMPL_EVENT,
    [VP_CMP_SWAP] = IT_DTO_CMP_SWAP_CMPL_EVENT,
    [VP_SWAP] = IT_DTO_CMP_SWAP_CMPL_EVENT, /* on the wire a CmpSwap that compares no bit */
};

static bool sq_report_locked(struct uiw_ep *ep, uint32_t index, it_dto_status_t status)
{
    const struct uiw_sqe *sqe = uiw_sqe_at(ep, index);
    uint32_t reported = uiw_queue_reported(&ep->sq) + 1;
    struct evd_dto dto = {
        .event_number = sq_event_numbers[sqe->opcode],
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

/*
 * Returns true if the peer has acknowledged all messages of the request. The peer may answer, too,
 * before the sender has marked the request, and that answer must not overtake the completion.
 */
static bool __attribute__((noinline))
sq_is_acknowledged_locked(struct uiw_ep *ep, const struct uiw_sqe *sqe, uint32_t index)
{
    struct uiw_own *own = &ep->own;
    uint32_t messages = uiw_sq_messages(ep, sqe);
    uint32_t offered = atomic_load_explicit(&ep->tx.offered, memory_order_acquire);

    if (sqe->done == UIW_DONE_NOT && (messages == 0 || (int32_t)(offered - index) <= 0))
        return false;
    if (own->heard - own->matched < messages)
        return false;
    own->matched += messages;
    return true;
}

bool uiw_sq_complete_locked(struct uiw_ep *ep)
{
    uint32_t head = uiw_queue_head(&ep->sq);
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    bool wake = false;

    base_lock_assert_held(&ep->ual->lock);
    for (; head != tail; head++) {
        const struct uiw_sqe *sqe = uiw_sqe_at(ep, head);

        if (sqe->done != UIW_DONE && ((sqe->done == UIW_DONE_NOT && ep->sent_is == UIW_DONE) ||
                                      !sq_is_acknowledged_locked(ep, sqe, head)))
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
    bool wake = uiw_sq_complete_locked(ep);

    uiw_links_drop(ep);
    for (uint32_t index = uiw_queue_head(&ep->sq); index != tail; index++) {
        bool failed = has_failed && index == failed_index;

        wake |= sq_report_locked(ep, index, failed ? failed_status : IT_DTO_ERR_FLUSHED);
    }
    uiw_queue_advance(&ep->sq, tail, uiw_queue_reported(&ep->sq));
    return wake;
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
