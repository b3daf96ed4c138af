/* SPDX-License-Identifier: BSD-2-Clause */
/* The receive queue: consumers post, the reader takes in the order of posting. */
#include "vp/uiwarp/queue/uiw_rq.h"

#include "evd/deliver/evd_deliver.h"
#include "vp/uiwarp/queue/uiw_sq.h"

/*
 * Completes the oldest receive with the outcome in *dto, whose other members are filled in here.
 * The receive leaves the queue before its event is visible. Returns true when evd_wake is due.
 */
static bool rq_report(struct uiw_ep *ep, struct evd_dto *dto)
{
    uint32_t head = uiw_queue_head(&ep->rq);
    uint32_t reported = uiw_queue_reported(&ep->rq);
    enum evd_push_result result;

    dto->event_number = IT_DTO_RC_RECV_CMPL_EVENT;
    dto->ep = ual_ep_handle(ep->ual);
    dto->cookie = uiw_rqe_at(ep, head)->cookie;
    dto->retire = &ep->rq.retired;
    dto->retire_value = reported + 1;
    uiw_queue_advance(&ep->rq, head + 1, reported + 1);
    result = evd_push_dto(ep->ual->recv_evd, dto);
    if (result == EVD_LOST) {
        uiw_queue_advance(&ep->rq, head + 1, reported);
        atomic_store_explicit(&ep->lost_event, true, memory_order_release);
    }
    return result != EVD_PUSHED;
}

/*
 * Completes a receive that a Send has filled. The Send is counted first: the program's answer must
 * not overtake the acknowledgement.
 */
static void rq_fill(struct uiw_ep *ep, struct evd_dto *dto)
{
    if (__builtin_expect(ep->own.agreed != 0, false))
        uiw_own_took(ep, 1);
    ep->rx.wake_recv |= rq_report(ep, dto);
}

static bool rq_notifies(const struct uiw_ep *ep, bool solicited)
{
    return solicited || (uiw_rqe_at(ep, uiw_queue_head(&ep->rq))->flags & IT_NOTIFY_FLAG) != 0;
}

void uiw_rq_complete(struct uiw_ep *ep, uint32_t length, bool solicited, it_handle_t unlinked)
{
    struct evd_dto dto = {.status = IT_DTO_SUCCESS,
                          .length = length,
                          .notify = rq_notifies(ep, solicited),
                          .unlinked = unlinked};

    rq_fill(ep, &dto);
}

void uiw_rq_complete_immediate(struct uiw_ep *ep, uint32_t length, uint64_t value, bool solicited)
{
    struct evd_dto dto = {.status = IT_DTO_SUCCESS,
                          .length = length,
                          .notify = rq_notifies(ep, solicited),
                          .has_immediate = true,
                          .immediate = value};

    rq_fill(ep, &dto);
}

bool uiw_rq_flush_locked(struct uiw_ep *ep, it_dto_status_t first_status)
{
    uint32_t tail = atomic_load_explicit(&ep->rq.tail, memory_order_relaxed);
    struct evd_dto dto = {.status = first_status, .notify = true};
    bool wake = false;

    base_lock_assert_held(&ep->ual->lock);
    while (uiw_queue_head(&ep->rq) != tail) {
        wake |= rq_report(ep, &dto);
        dto.status = IT_DTO_ERR_FLUSHED;
    }
    return wake;
}

void uiw_rq_fill(struct uiw_rqe *rqe, const it_lmr_triplet_t *segments, size_t count,
                 it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    uint64_t length = 0;

    for (size_t i = 0; i < count; i++)
        length += segments[i].length;
    rqe->cookie = cookie;
    rqe->length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
    rqe->flags = (uint8_t)flags;
    rqe->segment_count = (uint8_t)count;
    uiw_segments_copy(rqe->segments, segments, count);
}

/*
 * A receive posted while the EP is NONOPERATIONAL but not drained is flushed by the thread that
 * ends the connection. Later posts flush themselves: no reader is left.
 */
it_status_t uiw_rq_post(struct ual_ep *ual, const it_lmr_triplet_t *segments, size_t count,
                        it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool wake = false;
    uint32_t tail;

    base_lock_take(&ual->lock);
    tail = atomic_load_explicit(&ep->rq.tail, memory_order_relaxed);
    if (uiw_queue_in_use(&ep->rq) >= ep->rq.depth) {
        base_lock_drop(&ual->lock);
        return IT_ERR_TOO_MANY_POSTS;
    }
    uiw_rq_fill(uiw_rqe_at(ep, tail), segments, count, cookie, flags);
    /* Hands the slot to the reader, which reads the tail with acquire. */
    atomic_store_explicit(&ep->rq.tail, tail + 1, memory_order_release);
    if (ual_ep_state(ual) == IT_EP_STATE_NONOPERATIONAL && ep->drained)
        wake = uiw_rq_flush_locked(ep, IT_DTO_ERR_FLUSHED);
    base_lock_drop(&ual->lock);
    if (wake)
        evd_wake(ual->recv_evd);
    return IT_SUCCESS;
}
