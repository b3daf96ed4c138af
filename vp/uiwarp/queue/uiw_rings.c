/* SPDX-License-Identifier: BSD-2-Clause */
/* All rings of an EP are one block, allocated when their sizes change: never by arriving data. */
#include "vp/uiwarp/queue/uiw_rings.h"

#include <stdlib.h>
#include <string.h>

struct rings_plan {
    uint32_t sq_stride, sq_mask;
    uint32_t rq_stride, rq_mask;
    uint32_t orq_mask;
    uint32_t irq_mask;
};

static size_t rings_request_segments(const it_ep_attributes_t *attr)
{
    size_t most = attr->max_send_segments;

    if (most < UIW_LINK_SEGMENTS)
        most = UIW_LINK_SEGMENTS;
    if (attr->srv.rc.max_rdma_write_segments > most)
        most = attr->srv.rc.max_rdma_write_segments;
    if (attr->srv.rc.max_rdma_read_segments > most)
        most = attr->srv.rc.max_rdma_read_segments;
    return most;
}

void uiw_rings_sizes_of(const struct ual_ep *ual, const it_ep_attributes_t *attr,
                        struct uiw_ring_sizes *sizes)
{
    *sizes = (struct uiw_ring_sizes){
        .requests = attr->max_request_dtos,
        .request_segments = rings_request_segments(attr),
        .receives = ual->srq ? 1 : attr->max_recv_dtos,
        .receive_segments = ual->srq ? ual->srq->max_recv_segments : attr->max_recv_segments,
        .ird = attr->srv.rc.rdma_read_ird,
        .ord = attr->srv.rc.rdma_read_ord,
    };
}

static uint32_t rings_larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The rings of Reads do not shrink: more Reads may be open than a new ORD allows. */
static void rings_plan_for(const struct uiw_ep *ep, const struct uiw_ring_sizes *sizes,
                           struct rings_plan *plan)
{
    plan->sq_stride = uiw_slot_stride(sizeof(struct uiw_sqe), sizes->request_segments);
    plan->sq_mask = uiw_ring_size(sizes->requests) - 1;
    plan->rq_stride = uiw_slot_stride(sizeof(struct uiw_rqe), sizes->receive_segments);
    plan->rq_mask = uiw_ring_size(sizes->receives) - 1;
    plan->orq_mask = rings_larger(uiw_ring_size(sizes->ord) - 1, ep->reads.orq_mask);
    /* Twice the IRD: a peer with its answer may ask again before the reader sees the slot free. */
    plan->irq_mask = rings_larger(uiw_ring_size(2 * (size_t)(sizes->ird ? sizes->ird : 1)) - 1,
                                  ep->reads.irq_mask);
}

static bool rings_are_as_planned(const struct uiw_ep *ep, const struct rings_plan *plan)
{
    return ep->rq.slots && ep->sq.stride == plan->sq_stride && ep->sq.mask == plan->sq_mask &&
           ep->rq.stride == plan->rq_stride && ep->rq.mask == plan->rq_mask &&
           ep->reads.orq_mask == plan->orq_mask && ep->reads.irq_mask == plan->irq_mask;
}

/* Copies the entries [head, tail), each to the slot of its index. */
static void rings_copy(unsigned char *to, uint32_t to_mask, const unsigned char *from,
                       uint32_t from_mask, uint32_t stride, uint32_t head, uint32_t tail)
{
    for (uint32_t index = head; index != tail; index++)
        memcpy(to + (size_t)(index & to_mask) * stride, from + (size_t)(index & from_mask) * stride,
               stride);
}

static void rings_copy_queue(unsigned char *to, uint32_t mask, const struct uiw_queue *queue)
{
    rings_copy(to, mask, queue->slots, queue->mask, queue->stride, uiw_queue_head(queue),
               atomic_load_explicit(&queue->tail, memory_order_relaxed));
}

static void rings_copy_reads(const struct uiw_ep *ep, const struct rings_plan *plan,
                             struct uiw_irq_entry *irq, struct uiw_orq_entry *orq)
{
    rings_copy((unsigned char *)irq, plan->irq_mask, (const unsigned char *)ep->reads.irq,
               ep->reads.irq_mask, sizeof(*irq),
               atomic_load_explicit(&ep->reads.irq_head, memory_order_relaxed),
               atomic_load_explicit(&ep->reads.irq_tail, memory_order_relaxed));
    rings_copy((unsigned char *)orq, plan->orq_mask, (const unsigned char *)ep->reads.orq,
               ep->reads.orq_mask, sizeof(*orq),
               atomic_load_explicit(&ep->reads.orq_head, memory_order_relaxed),
               atomic_load_explicit(&ep->reads.orq_tail, memory_order_relaxed));
}

static bool rings_move(struct uiw_ep *ep, const struct rings_plan *plan)
{
    size_t rq_bytes = (size_t)plan->rq_stride * (plan->rq_mask + 1);
    size_t sq_bytes = (size_t)plan->sq_stride * (plan->sq_mask + 1);
    size_t irq_bytes = sizeof(struct uiw_irq_entry) * (plan->irq_mask + 1);
    size_t orq_bytes = sizeof(struct uiw_orq_entry) * (plan->orq_mask + 1);
    /*
     * Not zeroed: most EPs never use most of their slots, and those need no page. Of an idle EP all
     * receives are in use, but only the first requests: they are neighbours and share pages.
     */
    unsigned char *block = malloc(rq_bytes + sq_bytes + irq_bytes + orq_bytes);
    struct uiw_irq_entry *irq;
    struct uiw_orq_entry *orq;

    if (!block)
        return false;
    irq = (void *)(block + rq_bytes + sq_bytes);
    orq = (void *)(block + rq_bytes + sq_bytes + irq_bytes);
    if (ep->rq.slots) {
        if (ep->sq.stride == plan->sq_stride)
            rings_copy_queue(block + rq_bytes, plan->sq_mask, &ep->sq);
        if (ep->rq.stride == plan->rq_stride)
            rings_copy_queue(block, plan->rq_mask, &ep->rq);
        rings_copy_reads(ep, plan, irq, orq);
        free(ep->rq.slots);
    }
    ep->rq.slots = block;
    ep->sq.slots = block + rq_bytes;
    ep->reads.irq = irq;
    ep->reads.orq = orq;
    return true;
}

bool uiw_rings_make(struct uiw_ep *ep, const struct uiw_ring_sizes *sizes)
{
    struct rings_plan plan;

    rings_plan_for(ep, sizes, &plan);
    if (!rings_are_as_planned(ep, &plan) && !rings_move(ep, &plan))
        return false;
    ep->sq.depth = (uint32_t)sizes->requests;
    ep->sq.stride = plan.sq_stride;
    ep->sq.mask = plan.sq_mask;
    ep->rq.depth = (uint32_t)sizes->receives;
    ep->rq.stride = plan.rq_stride;
    ep->rq.mask = plan.rq_mask;
    ep->reads.orq_mask = plan.orq_mask;
    ep->reads.irq_mask = plan.irq_mask;
    return true;
}

void uiw_rings_free(struct uiw_ep *ep)
{
    free(ep->rq.slots);
    ep->rq.slots = NULL;
}
