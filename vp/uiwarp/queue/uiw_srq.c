/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues: posting, drawing, watermarks, resizing. */
#include "vp/uiwarp/queue/uiw_srq.h"

#include "evd/deliver/evd_deliver.h"
#include "vp/uiwarp/queue/uiw_rq.h"

#include <stdlib.h>
#include <string.h>

static struct uiw_rqe *srq_slot(unsigned char *slots, const struct uiw_srq *srq, uint32_t mask,
                                uint32_t index)
{
    return (void *)(slots + (size_t)(index & mask) * srq->stride);
}

static unsigned char *srq_alloc(const struct uiw_srq *srq, size_t depth, uint32_t *mask)
{
    *mask = uiw_ring_size(depth) - 1;
    return calloc((size_t)*mask + 1, srq->stride);
}

static size_t srq_waiting_locked(struct ual_srq *ual)
{
    const struct uiw_srq *srq = uiw_srq_of(ual);

    base_lock_assert_held(&ual->lock);
    return srq->tail - srq->head;
}

/*
 * Returns true if the low watermark was crossed, and disarms it. The caller raises the event after
 * it has dropped the lock.
 */
static bool srq_is_low_locked(struct ual_srq *ual)
{
    if (srq_waiting_locked(ual) >= ual->low_watermark)
        return false;
    ual->low_watermark = 0;
    return true;
}

static void srq_tell_low(struct ual_srq *ual)
{
    evd_raise_affiliated_srq(&ual_ia_of(&ual->object)->evd, IT_ASYNC_AFF_SRQ_LOW_WATERMARK,
                             ual_srq_handle(ual));
}

/* ---------------------------------------------------------------- posting */

static it_status_t srq_post_recv(struct ual_srq *ual, const it_lmr_triplet_t *segments,
                                 size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct uiw_srq *srq = uiw_srq_of(ual);
    it_status_t status = IT_ERR_TOO_MANY_POSTS;

    base_lock_take(&ual->lock);
    if (srq_waiting_locked(ual) < ual->max_recv_dtos) {
        uiw_rq_fill(srq_slot(srq->slots, srq, srq->mask, srq->tail), segments, count, cookie,
                    flags);
        srq->tail++;
        status = IT_SUCCESS;
    }
    base_lock_drop(&ual->lock);
    return status;
}

static const struct vp_srq_ops srq_ops = {
    .post_recv = srq_post_recv,
};

/* ---------------------------------------------------------------- drawing */

/* Takes a copy of the oldest receive: the ring may be replaced while the message arrives. */
static bool srq_take(struct ual_srq *ual, struct uiw_rqe *to, bool *low)
{
    struct uiw_srq *srq = uiw_srq_of(ual);
    bool taken;

    base_lock_take(&ual->lock);
    taken = srq->head != srq->tail;
    if (taken) {
        const struct uiw_rqe *from = srq_slot(srq->slots, srq, srq->mask, srq->head);

        memcpy(to, from, sizeof(*from) + from->segment_count * sizeof(from->segments[0]));
        srq->head++;
        *low |= srq_is_low_locked(ual);
    }
    base_lock_drop(&ual->lock);
    return taken;
}

/* Returns true if the soft watermark was crossed, once for each time it is armed. */
static bool srq_is_high(struct uiw_ep *ep, uint32_t held)
{
    uint32_t soft = atomic_load_explicit(&ep->limits.soft, memory_order_relaxed);

    return soft != 0 && held > soft &&
           atomic_compare_exchange_strong_explicit(&ep->limits.soft, &soft, 0, memory_order_relaxed,
                                                   memory_order_relaxed);
}

bool uiw_srq_draw(struct uiw_ep *ep)
{
    uint32_t tail = atomic_load_explicit(&ep->rq.tail, memory_order_relaxed);
    uint32_t held = uiw_queue_in_use(&ep->rq);

    if (held >= atomic_load_explicit(&ep->limits.hard, memory_order_relaxed))
        return false;
    if (!srq_take(ep->ual->srq, uiw_rqe_at(ep, tail), &ep->rx.tell_low))
        return false;
    atomic_store_explicit(&ep->rq.tail, tail + 1, memory_order_release);
    ep->rx.tell_high |= srq_is_high(ep, held + 1);
    ep->rx.has_drawn = true;
    return true;
}

void uiw_srq_tell(struct uiw_ep *ep)
{
    if (ep->rx.has_drawn) {
        ep->rx.has_drawn = false;
        uiw_srq_watch(ep);
    }
    if (ep->rx.tell_low) {
        ep->rx.tell_low = false;
        srq_tell_low(ep->ual->srq);
    }
    if (ep->rx.tell_high) {
        ep->rx.tell_high = false;
        evd_raise_affiliated_ep(&ual_ia_of(&ep->ual->object)->evd,
                                IT_ASYNC_AFF_EP_SOFT_HI_WATERMARK, ual_ep_handle(ep->ual));
    }
}

void uiw_srq_check_high(struct uiw_ep *ep)
{
    ep->rx.tell_high |= srq_is_high(ep, uiw_queue_in_use(&ep->rq));
    uiw_srq_tell(ep);
}

/* ---------------------------------------------------------------- life */

it_status_t uiw_srq_create(struct ual_srq *ual)
{
    struct uiw_srq *srq = uiw_srq_of(ual);

    srq->stride = uiw_slot_stride(sizeof(struct uiw_rqe), ual->max_recv_segments);
    srq->slots = srq_alloc(srq, ual->max_recv_dtos, &srq->mask);
    if (!srq->slots)
        return IT_ERR_RESOURCES;
    atomic_init(&srq->limit_ns, UIW_SRQ_LIMIT_NS);
    ual->ops = &srq_ops;
    return IT_SUCCESS;
}

void uiw_srq_destroy(struct ual_srq *ual)
{
    struct uiw_srq *srq = uiw_srq_of(ual);

    free(srq->slots);
    srq->slots = NULL;
}

static it_status_t srq_check_locked(struct ual_srq *ual, size_t depth, size_t low)
{
    if (srq_waiting_locked(ual) > depth)
        return IT_ERR_INVALID_SRQ_SIZE;
    return low > depth ? IT_ERR_SRQ_LOW_WATERMARK : IT_SUCCESS;
}

/* Copies the posted receives to the new ring and returns the old one. */
static unsigned char *srq_exchange_locked(struct ual_srq *ual, unsigned char *slots, uint32_t mask)
{
    struct uiw_srq *srq = uiw_srq_of(ual);
    unsigned char *old = srq->slots;

    base_lock_assert_held(&ual->lock);
    for (uint32_t index = srq->head; index != srq->tail; index++)
        memcpy(srq_slot(slots, srq, mask, index), srq_slot(old, srq, srq->mask, index),
               srq->stride);
    srq->slots = slots;
    srq->mask = mask;
    return old;
}

it_status_t uiw_srq_modify(struct ual_srq *ual, it_srq_param_mask_t mask,
                           const it_srq_param_t *params)
{
    bool resize = (mask & IT_SRQ_PARAM_MAX_RECV_DTO) != 0;
    unsigned char *slots = NULL; /* to be freed: the new ring, after the exchange the old one */
    uint32_t slots_mask = 0;
    bool is_low = false;
    it_status_t status;
    size_t depth, low;

    if (resize) {
        slots = srq_alloc(uiw_srq_of(ual), params->max_recv_dtos, &slots_mask);
        if (!slots)
            return IT_ERR_RESOURCE_RECV_DTO;
    }
    base_lock_take(&ual->lock);
    depth = resize ? params->max_recv_dtos : ual->max_recv_dtos;
    low = mask & IT_SRQ_PARAM_LOW_WATERMARK ? params->low_watermark : ual->low_watermark;
    status = srq_check_locked(ual, depth, low);
    if (status == IT_SUCCESS) {
        if (resize)
            slots = srq_exchange_locked(ual, slots, slots_mask);
        ual->max_recv_dtos = depth;
        ual->low_watermark = low;
        is_low = srq_is_low_locked(ual);
    }
    base_lock_drop(&ual->lock);
    free(slots);
    if (is_low)
        srq_tell_low(ual);
    return status;
}
