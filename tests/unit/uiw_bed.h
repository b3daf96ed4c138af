/* SPDX-License-Identifier: BSD-2-Clause */
/* An EP of uiwarp without a stream. The test moves its queues. */
#ifndef ITAPI_TESTS_UNIT_UIW_BED_H
#define ITAPI_TESTS_UNIT_UIW_BED_H

#include "evd/deliver/evd_deliver.h"
#include "vp/uiwarp/queue/uiw_sq.h"

#include "support/it_fixture.h"

struct uiw_bed {
    struct fx_node node;
    it_ep_handle_t handle;
    struct ual_ep *ual;
    struct uiw_ep *ep;
};

static inline void uiw_bed_use(struct uiw_bed *bed, it_ep_handle_t handle)
{
    bed->handle = handle;
    bed->ual = (struct ual_ep *)(void *)handle;
    bed->ep = uiw_ep_of(bed->ual);
}

/* Opens the EP with queues as deep as its EVDs. */
static inline void uiw_bed_open(struct uiw_bed *bed, size_t depth)
{
    it_ep_attributes_t attr = fx_ep_attr();

    fx_node_open_sized(&bed->node, depth);
    attr.max_request_dtos = depth;
    attr.max_recv_dtos = depth;
    uiw_bed_use(bed, fx_ep(&bed->node, &attr));
}

static inline void uiw_bed_close(struct uiw_bed *bed)
{
    atomic_store(&bed->ual->state, IT_EP_STATE_UNCONNECTED);
    fx_node_close(&bed->node);
}

/* Makes the indexes of an empty queue begin here instead of at 0, so that they wrap. */
static inline void uiw_bed_begin_at(struct uiw_queue *queue, uint32_t index)
{
    atomic_store(&queue->tail, index);
    atomic_store(&queue->retired, index);
    uiw_queue_advance(queue, index, index);
}

static inline struct uiw_sqe *uiw_bed_post(struct uiw_bed *bed, enum vp_opcode opcode,
                                           unsigned flags, uint64_t cookie)
{
    uint32_t tail = atomic_load(&bed->ep->sq.tail);
    struct uiw_sqe *sqe = uiw_sqe_at(bed->ep, tail);

    *sqe = (struct uiw_sqe){.opcode = (uint8_t)opcode,
                            .flags = (uint8_t)flags,
                            .cookie = cookie,
                            .length = (uint32_t)(10 * cookie)};
    atomic_store(&bed->ep->sq.tail, tail + 1);
    return sqe;
}

static inline void uiw_bed_complete(struct uiw_bed *bed)
{
    bool wake;

    base_lock_take(&bed->ual->lock);
    wake = uiw_sq_complete_locked(bed->ep);
    base_lock_drop(&bed->ual->lock);
    if (wake)
        evd_wake(bed->ual->request_evd);
}

#endif
