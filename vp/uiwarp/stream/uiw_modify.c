/* SPDX-License-Identifier: BSD-2-Clause */
/* Modifies an EP: its queues, read depths, rights and watermarks. */

#include "vp/uiwarp/queue/uiw_rings.h"
#include "vp/uiwarp/queue/uiw_srq.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/stream/uiw_stream.h"

/* Sizes of messages and segment lists. They change only while no receive is posted. */
#define MODIFY_SIZES                                                                               \
    ((unsigned)IT_EP_PARAM_MAX_PAYLOAD | (unsigned)IT_EP_PARAM_MAX_SEND_SEG |                      \
     (unsigned)IT_EP_PARAM_MAX_RECV_SEG | (unsigned)IT_EP_PARAM_MAX_RDMA_READ_SEG |                \
     (unsigned)IT_EP_PARAM_MAX_RDMA_WRITE_SEG)
/* Attributes that decide the sizes of the rings. */
#define MODIFY_RINGS                                                                               \
    (MODIFY_SIZES | (unsigned)IT_EP_PARAM_MAX_REQ_DTO | (unsigned)IT_EP_PARAM_MAX_RECV_DTO |       \
     (unsigned)IT_EP_PARAM_MAX_IRD | (unsigned)IT_EP_PARAM_MAX_ORD)

static uint32_t modify_posted(const struct uiw_queue *queue)
{
    return atomic_load_explicit(&queue->tail, memory_order_relaxed) - uiw_queue_head(queue);
}

static it_status_t modify_check_queues_locked(const struct uiw_ep *ep, unsigned mask,
                                              const it_ep_attributes_t *attr)
{
    if ((mask & IT_EP_PARAM_MAX_REQ_DTO) && attr->max_request_dtos < modify_posted(&ep->sq))
        return IT_ERR_INVALID_EP_ATTR;
    if ((mask & IT_EP_PARAM_MAX_RECV_DTO) && attr->max_recv_dtos < modify_posted(&ep->rq))
        return IT_ERR_INVALID_EP_ATTR;
    /* In UNCONNECTED only receives can be posted. */
    return (mask & MODIFY_SIZES) && modify_posted(&ep->rq) > 0 ? IT_ERR_INVALID_EP_STATE
                                                               : IT_SUCCESS;
}

/* Makes rings for the requested attributes and, where none is requested, the present ones. */
static bool modify_remake_rings_locked(struct uiw_ep *ep, unsigned mask,
                                       const it_ep_attributes_t *attr)
{
    struct uiw_ring_sizes sizes;
    it_ep_attributes_t after = ep->ual->attr;
    it_rc_only_attributes_t *rc = &after.srv.rc;

    if (mask & IT_EP_PARAM_MAX_REQ_DTO)
        after.max_request_dtos = attr->max_request_dtos;
    if (mask & IT_EP_PARAM_MAX_RECV_DTO)
        after.max_recv_dtos = attr->max_recv_dtos;
    if (mask & IT_EP_PARAM_MAX_SEND_SEG)
        after.max_send_segments = attr->max_send_segments;
    if (mask & IT_EP_PARAM_MAX_RECV_SEG)
        after.max_recv_segments = attr->max_recv_segments;
    if (mask & IT_EP_PARAM_MAX_RDMA_READ_SEG)
        rc->max_rdma_read_segments = attr->srv.rc.max_rdma_read_segments;
    if (mask & IT_EP_PARAM_MAX_RDMA_WRITE_SEG)
        rc->max_rdma_write_segments = attr->srv.rc.max_rdma_write_segments;
    rc->rdma_read_ird = mask & IT_EP_PARAM_MAX_IRD ? attr->srv.rc.rdma_read_ird : ep->wanted_ird;
    rc->rdma_read_ord = mask & IT_EP_PARAM_MAX_ORD ? attr->srv.rc.rdma_read_ord : ep->wanted_ord;
    uiw_rings_sizes_of(ep->ual, &after, &sizes);
    return uiw_rings_make(ep, &sizes);
}

/* Returns true if the ORD does not exceed the IRD that the peer announced. */
static bool modify_peer_bears_ord_locked(const struct uiw_ep *ep, uint32_t ord)
{
    return ual_ep_state(ep->ual) != IT_EP_STATE_CONNECTED || !ep->agreed.enhanced ||
           ord <= ep->agreed.peer_ird;
}

static void modify_set_depths_locked(struct uiw_ep *ep, unsigned mask,
                                     const it_rc_only_attributes_t *rc)
{
    if (mask & IT_EP_PARAM_MAX_IRD)
        ep->wanted_ird = rc->rdma_read_ird;
    if (mask & IT_EP_PARAM_MAX_ORD) {
        ep->wanted_ord = rc->rdma_read_ord;
        atomic_store_explicit(&ep->limits.ord, rc->rdma_read_ord, memory_order_relaxed);
    }
}

void uiw_ep_set_enables(struct uiw_ep *ep, unsigned mask, const it_rc_only_attributes_t *rc)
{
    if (mask & IT_EP_PARAM_RDMA_RD_ENABLE)
        atomic_store_explicit(&ep->limits.read_enabled, rc->rdma_read_enable != IT_FALSE,
                              memory_order_relaxed);
    if (mask & IT_EP_PARAM_RDMA_WR_ENABLE)
        atomic_store_explicit(&ep->limits.write_enabled, rc->rdma_write_enable != IT_FALSE,
                              memory_order_relaxed);
    if (mask & IT_EP_PARAM_ATOMICS_ENABLE)
        atomic_store_explicit(&ep->limits.atomics_enabled, rc->atomics_enable != IT_FALSE,
                              memory_order_relaxed);
}

/* Returns UINT32_MAX, which means none, for a watermark that no counter reaches. */
static uint32_t modify_watermark(size_t watermark)
{
    return watermark < UINT32_MAX ? (uint32_t)watermark : UINT32_MAX;
}

void uiw_ep_set_watermarks(struct uiw_ep *ep, unsigned mask, const it_rc_only_attributes_t *rc)
{
    if (mask & IT_EP_PARAM_SOFT_HI_WATERMARK)
        atomic_store_explicit(&ep->limits.soft, modify_watermark(rc->soft_hi_watermark),
                              memory_order_relaxed);
    if (mask & IT_EP_PARAM_HARD_HI_WATERMARK)
        atomic_store_explicit(&ep->limits.hard, modify_watermark(rc->hard_hi_watermark),
                              memory_order_relaxed);
}

/*
 * Stops reader and sender; the caller's lock stops posters. Then rings can be replaced, and the
 * soft watermark compared with the receives that the EP holds.
 */
void uiw_ep_halt(struct ual_ep *ual)
{
    uiw_reader_take(uiw_ep_of(ual));
    uiw_token_wait(uiw_ep_of(ual));
}

it_status_t uiw_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                 it_ep_attributes_t *attr)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = modify_check_queues_locked(ep, (unsigned)mask, attr);

    if (status != IT_SUCCESS)
        return status;
    if ((mask & IT_EP_PARAM_MAX_ORD) &&
        !modify_peer_bears_ord_locked(ep, attr->srv.rc.rdma_read_ord))
        return IT_ERR_RESOURCE_ORD;
    if (((unsigned)mask & MODIFY_RINGS) && !modify_remake_rings_locked(ep, (unsigned)mask, attr))
        return IT_ERR_RESOURCES;
    modify_set_depths_locked(ep, (unsigned)mask, &attr->srv.rc);
    uiw_ep_set_enables(ep, (unsigned)mask, &attr->srv.rc);
    uiw_ep_set_watermarks(ep, (unsigned)mask, &attr->srv.rc);
    return IT_SUCCESS;
}

void uiw_ep_proceed(struct ual_ep *ual, it_ep_param_mask_t changed)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    uiw_token_drop(ep);
    if (changed & IT_EP_PARAM_SOFT_HI_WATERMARK)
        uiw_srq_check_high(ep);
    /* Sends for threads that found the token taken, and Reads that a higher ORD allows. */
    uiw_drive_send(ual, true);
    uiw_reader_drop(ep);
}
