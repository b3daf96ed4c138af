/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of the provider: PZ, LMR, EP; their creation, change and end. */
#include "ual/uiwarp/uiw_ep.h"

#include "ual/uiwarp/uiw_conn.h"
#include "ual/uiwarp/uiw_handover.h"
#include "ual/uiwarp/uiw_srq.h"
#include "ual/uiwarp/uiw_stream.h"
#include "ual/uiwarp/uiw_tx.h"

#include <stdlib.h>
#include <string.h>

static const struct vp_ep_ops ep_ops = {
    .post_request = uiw_post_request,
    .post_recv = uiw_post_recv,
};

/* ---------------------------------------------------------------- PZ, LMR */

it_status_t uiw_pz_create(struct ual_pz *pz)
{
    atomic_store_explicit(&uiw_pz_of(pz)->eps, 0, memory_order_relaxed);
    return IT_SUCCESS;
}

void uiw_pz_destroy(struct ual_pz *pz)
{
    (void)pz; /* a PZ is nothing but its identity */
}

it_status_t uiw_lmr_create(struct ual_lmr *lmr)
{
    struct uiw_ia *ia = uiw_ia_of(ual_ia_of(&lmr->object));
    uint64_t to_base = lmr->addr_mode == IT_ADDR_MODE_RELATIVE ? 0 : (uintptr_t)lmr->addr;
    struct uiw_mr *mr =
        uiw_mr_register(&ia->mrs, lmr->addr, lmr->length, to_base, lmr->privs, lmr->pz, lmr);

    if (!mr)
        return IT_ERR_RESOURCES;
    uiw_lmr_of(lmr)->mr = mr;
    lmr->key = atomic_load_explicit(&mr->stag, memory_order_relaxed);
    return IT_SUCCESS;
}

void uiw_lmr_destroy(struct ual_lmr *lmr)
{
    uiw_mr_deregister(&uiw_ia_of(ual_ia_of(&lmr->object))->mrs, uiw_lmr_of(lmr)->mr);
}

/* ---------------------------------------------------------------- EP: memory */

static void ep_queue_init(struct uiw_queue *queue, size_t depth, uint32_t stride)
{
    queue->depth = (uint32_t)depth;
    queue->mask = uiw_ring_size(depth) - 1;
    queue->stride = stride;
}

static size_t ep_queue_bytes(const struct uiw_queue *queue)
{
    return (size_t)queue->stride * (queue->mask + 1);
}

static size_t ep_request_segments(const it_ep_attributes_t *attr)
{
    size_t most = attr->max_send_segments;

    if (attr->srv.rc.max_rdma_write_segments > most)
        most = attr->srv.rc.max_rdma_write_segments;
    if (attr->srv.rc.max_rdma_read_segments > most)
        most = attr->srv.rc.max_rdma_read_segments;
    return most;
}

static void ep_rq_init(struct uiw_queue *rq, const struct ual_ep *ual)
{
    if (ual->srq)
        ep_queue_init(rq, 1, uiw_srq_of(ual->srq)->stride);
    else
        ep_queue_init(rq, ual->attr.max_recv_dtos, uiw_rqe_stride(ual->attr.max_recv_segments));
}

/* All rings in one block, sized once: nothing is allocated while data flows. */
static bool ep_alloc_rings(struct uiw_ep *ep, const struct ual_ep *ual)
{
    const it_ep_attributes_t *attr = &ual->attr;
    size_t ird = attr->srv.rc.rdma_read_ird ? attr->srv.rc.rdma_read_ird : 1;
    size_t orq = uiw_ring_size(attr->srv.rc.rdma_read_ord ? attr->srv.rc.rdma_read_ord : 1);
    /* An answered Read may be asked again before its slot is seen free: hence twice the IRD. */
    size_t irq = uiw_ring_size(2 * ird);
    unsigned char *block;

    ep_queue_init(&ep->sq, attr->max_request_dtos,
                  uiw_slot_stride(sizeof(struct uiw_sqe), ep_request_segments(attr)));
    ep_rq_init(&ep->rq, ual);
    ep->orq_mask = (uint32_t)orq - 1;
    ep->irq_mask = (uint32_t)irq - 1;
    block = calloc(1, ep_queue_bytes(&ep->sq) + ep_queue_bytes(&ep->rq) + orq * sizeof(*ep->orq) +
                          irq * sizeof(*ep->irq));
    if (!block)
        return false;
    ep->sq.slots = block;
    ep->rq.slots = ep->sq.slots + ep_queue_bytes(&ep->sq);
    /* Strictest alignment first. */
    ep->irq = (void *)(ep->rq.slots + ep_queue_bytes(&ep->rq));
    ep->orq = (void *)(ep->irq + irq);
    return true;
}

/* ---------------------------------------------------------------- EP: life */

static void ep_apply_enables(struct uiw_ep *ep, const it_rc_only_attributes_t *rc)
{
    atomic_store_explicit(&ep->read_enabled, rc->rdma_read_enable != IT_FALSE,
                          memory_order_relaxed);
    atomic_store_explicit(&ep->write_enabled, rc->rdma_write_enable != IT_FALSE,
                          memory_order_relaxed);
}

/* A watermark no counter reaches is none. */
static uint32_t ep_watermark(size_t watermark)
{
    return watermark < UINT32_MAX ? (uint32_t)watermark : UINT32_MAX;
}

static void ep_apply_watermarks(struct uiw_ep *ep, const it_rc_only_attributes_t *rc)
{
    atomic_store_explicit(&ep->soft_limit, ep_watermark(rc->soft_hi_watermark),
                          memory_order_relaxed);
    atomic_store_explicit(&ep->hard_limit, ep_watermark(rc->hard_hi_watermark),
                          memory_order_relaxed);
}

it_status_t uiw_ep_create(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    if (!ep_alloc_rings(ep, ual))
        return IT_ERR_RESOURCES;
    ep->ual = ual;
    ep->ia = uiw_ia_of(ual_ia_of(&ual->object));
    ep->pz = ual->pz;
    ep->fd = -1;
    ep->mpa = (struct itx_mpa_params){.size = sizeof(ep->mpa),
                                      .revision = 2,
                                      .crc = IT_TRUE,
                                      .peer_to_peer = IT_TRUE,
                                      .rtr_types = ITX_RTR_WRITE | ITX_RTR_READ};
    ep->wanted_ird = ual->attr.srv.rc.rdma_read_ird;
    ep->wanted_ord = ual->attr.srv.rc.rdma_read_ord;
    atomic_store_explicit(&ep->ord_limit, ep->wanted_ord, memory_order_relaxed);
    ep_apply_enables(ep, &ual->attr.srv.rc);
    ep_apply_watermarks(ep, &ual->attr.srv.rc);
    uiw_tx_reset(ep);
    ual->ops = &ep_ops;
    atomic_fetch_add_explicit(&uiw_pz_of(ual->pz)->eps, 1, memory_order_relaxed);
    return IT_SUCCESS;
}

static void ep_add_counters(const struct uiw_ep *ep, struct itx_counters *sum)
{
    sum->bytes_sent += atomic_load_explicit(&ep->tx.octets, memory_order_relaxed);
    sum->fpdus_sent += atomic_load_explicit(&ep->tx.fpdus, memory_order_relaxed);
    sum->send_calls += atomic_load_explicit(&ep->tx.calls, memory_order_relaxed);
    sum->bytes_received += atomic_load_explicit(&ep->octets_in, memory_order_relaxed);
    sum->fpdus_received += atomic_load_explicit(&ep->fpdus_in, memory_order_relaxed);
    sum->receive_calls += atomic_load_explicit(&ep->calls_in, memory_order_relaxed);
}

/* The EP is still in the IA's list: what it leaves to the IA must not be counted twice. */
static void ep_retire_counters(struct uiw_ep *ep)
{
    base_lock_take(&ep->ia->retired_lock);
    ep_add_counters(ep, &ep->ia->retired);
    ep->counters_retired = true;
    base_lock_drop(&ep->ia->retired_lock);
}

void uiw_ep_destroy(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct ual_ia *ia = ual_ia_of(&ual->object);

    uiw_conn_cancel(ual, true);
    uiw_ep_cut(ual);
    uiw_progress_undefer(ia, ual);
    uiw_nudge_never(ia, ual);
    uiw_progress_quiesce(ia);
    atomic_fetch_sub_explicit(&uiw_pz_of(ual->pz)->eps, 1, memory_order_relaxed);
    ep_retire_counters(ep);
    free(ep->sq.slots);
    ep->sq.slots = NULL;
}

/* Whoever ends a connection drains the EP right after the step to NONOPERATIONAL. */
static void ep_wait_drained(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool drained = false;

    while (!drained) {
        base_lock_take(&ual->lock);
        drained = ep->drained || ual_ep_state(ual) != IT_EP_STATE_NONOPERATIONAL;
        base_lock_drop(&ual->lock);
        if (!drained)
            sched_yield();
    }
}

it_status_t uiw_ep_reset(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = IT_ERR_INVALID_EP_STATE;

    ep_wait_drained(ual);
    uiw_conn_cancel(ual, true);
    base_lock_take(&ual->lock);
    if (ual_ep_step_locked(ual, UAL_EP_RESET, NULL)) {
        status = IT_SUCCESS;
        ep->drained = false;
        ep->negotiated = false;
        ep_apply_watermarks(ep, &ual->attr.srv.rc);
        ual->attr.srv.rc.rdma_read_ird = ep->wanted_ird;
        ual->attr.srv.rc.rdma_read_ord = ep->wanted_ord;
    }
    base_lock_drop(&ual->lock);
    return status;
}

/* ---------------------------------------------------------------- EP: settings */

/* Sizes of messages and segment lists: no posted receive may rely on them. */
#define EP_SIZES                                                                                   \
    ((unsigned)IT_EP_PARAM_MAX_PAYLOAD | (unsigned)IT_EP_PARAM_MAX_SEND_SEG |                      \
     (unsigned)IT_EP_PARAM_MAX_RECV_SEG | (unsigned)IT_EP_PARAM_MAX_RDMA_READ_SEG |                \
     (unsigned)IT_EP_PARAM_MAX_RDMA_WRITE_SEG)

static bool ep_has_receives(const struct uiw_ep *ep)
{
    return atomic_load_explicit(&ep->rq.tail, memory_order_relaxed) != uiw_queue_head(&ep->rq);
}

/*
 * The rings are sized at creation and hold what the attributes said then: segment counts go up to
 * that, while nothing is posted; the ORD only goes down; the rest stays.
 */
static bool ep_fits(const struct uiw_ep *ep, it_ep_param_mask_t mask,
                    const it_ep_attributes_t *attr)
{
    const it_rc_only_attributes_t *rc = &attr->srv.rc;
    size_t request_room = (ep->sq.stride - sizeof(struct uiw_sqe)) / sizeof(struct uiw_segment);
    size_t recv_room = (ep->rq.stride - sizeof(struct uiw_rqe)) / sizeof(struct uiw_segment);

    if (((unsigned)mask & EP_SIZES) && ep_has_receives(ep))
        return false;
    if ((mask & IT_EP_PARAM_MAX_SEND_SEG) && attr->max_send_segments > request_room)
        return false;
    if ((mask & IT_EP_PARAM_MAX_RDMA_WRITE_SEG) && rc->max_rdma_write_segments > request_room)
        return false;
    if ((mask & IT_EP_PARAM_MAX_RDMA_READ_SEG) && rc->max_rdma_read_segments > request_room)
        return false;
    if ((mask & IT_EP_PARAM_MAX_RECV_SEG) && attr->max_recv_segments > recv_room)
        return false;
    if ((mask & IT_EP_PARAM_MAX_ORD) && rc->rdma_read_ord > ep->ual->attr.srv.rc.rdma_read_ord)
        return false;
    return (mask & (IT_EP_PARAM_MAX_IRD | IT_EP_PARAM_MAX_REQ_DTO | IT_EP_PARAM_MAX_RECV_DTO)) == 0;
}

it_status_t uiw_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                 const it_ep_attributes_t *attr)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_rc_only_attributes_t enables = ual->attr.srv.rc;

    if (!ep_fits(ep, mask, attr))
        return IT_ERR_OP_NOT_SUPPORTED;
    if (mask & IT_EP_PARAM_RDMA_RD_ENABLE)
        enables.rdma_read_enable = attr->srv.rc.rdma_read_enable;
    if (mask & IT_EP_PARAM_RDMA_WR_ENABLE)
        enables.rdma_write_enable = attr->srv.rc.rdma_write_enable;
    ep_apply_enables(ep, &enables);
    if (mask & IT_EP_PARAM_SOFT_HI_WATERMARK)
        atomic_store_explicit(&ep->soft_limit, ep_watermark(attr->srv.rc.soft_hi_watermark),
                              memory_order_relaxed);
    if (mask & IT_EP_PARAM_HARD_HI_WATERMARK)
        atomic_store_explicit(&ep->hard_limit, ep_watermark(attr->srv.rc.hard_hi_watermark),
                              memory_order_relaxed);
    if (mask & IT_EP_PARAM_MAX_ORD) {
        ep->wanted_ord = attr->srv.rc.rdma_read_ord;
        atomic_store_explicit(&ep->ord_limit, ep->wanted_ord, memory_order_relaxed);
    }
    return IT_SUCCESS;
}

it_status_t uiw_ep_set_mpa(struct ual_ep *ual, const struct itx_mpa_params *params)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = IT_ERR_INVALID_EP_STATE;

    base_lock_take(&ual->lock);
    if (ual_ep_state(ual) == IT_EP_STATE_UNCONNECTED) {
        ep->mpa = *params;
        status = IT_SUCCESS;
    }
    base_lock_drop(&ual->lock);
    return status;
}

it_status_t uiw_ep_get_mpa(struct ual_ep *ual, struct itx_mpa_params *params)
{
    base_lock_take(&ual->lock);
    *params = uiw_ep_of(ual)->mpa;
    base_lock_drop(&ual->lock);
    return IT_SUCCESS;
}

it_status_t uiw_ep_query_mpa(struct ual_ep *ual, struct itx_mpa_info *info)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = IT_ERR_INVALID_EP_STATE;
    it_ep_state_rc_t state;

    base_lock_take(&ual->lock);
    state = ual_ep_state(ual);
    if (ep->negotiated && (state == IT_EP_STATE_CONNECTED || state == IT_EP_STATE_NONOPERATIONAL)) {
        *info = ep->info;
        status = IT_SUCCESS;
    }
    base_lock_drop(&ual->lock);
    return status;
}

void uiw_ep_mpa_config(struct ual_ep *ual, bool suppress_depths, struct iw_mpa_config *config)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);

    base_lock_take(&ual->lock);
    *config = (struct iw_mpa_config){
        .revision = ep->mpa.revision,
        .crc = ep->mpa.crc != IT_FALSE,
        .peer_to_peer = ep->mpa.peer_to_peer != IT_FALSE,
        .rtr = ep->mpa.rtr_types,
        .suppress_depths = suppress_depths,
        .ird = (uint16_t)ep->wanted_ird,
        .ord = (uint16_t)ep->wanted_ord,
    };
    base_lock_drop(&ual->lock);
}

struct uiw_conn **uiw_ep_conn_slot(struct ual_ep *ual)
{
    return &uiw_ep_of(ual)->conn;
}

static void ep_add_retired(const struct itx_counters *retired, struct itx_counters *sum)
{
    sum->bytes_sent += retired->bytes_sent;
    sum->fpdus_sent += retired->fpdus_sent;
    sum->send_calls += retired->send_calls;
    sum->bytes_received += retired->bytes_received;
    sum->fpdus_received += retired->fpdus_received;
    sum->receive_calls += retired->receive_calls;
}

void uiw_ep_counters(struct ual_ia *ual, struct itx_counters *counters)
{
    struct uiw_ia *ia = uiw_ia_of(ual);

    base_lock_take(&ual->evd.lock);
    base_lock_take(&ia->retired_lock);
    for (struct base_object *object = ual->evd.objects[IT_HANDLE_TYPE_EP]; object;
         object = object->next) {
        const struct uiw_ep *ep = uiw_ep_of((struct ual_ep *)(void *)object);

        if (!ep->counters_retired)
            ep_add_counters(ep, counters);
    }
    ep_add_retired(&ia->retired, counters);
    base_lock_drop(&ia->retired_lock);
    base_lock_drop(&ual->evd.lock);
    counters->crc_errors += atomic_load_explicit(&ia->crc_errors, memory_order_relaxed);
    counters->protocol_errors += atomic_load_explicit(&ia->protocol_errors, memory_order_relaxed);
    counters->terminates_sent += atomic_load_explicit(&ia->terminates_sent, memory_order_relaxed);
    counters->terminates_received +=
        atomic_load_explicit(&ia->terminates_received, memory_order_relaxed);
    counters->thread_wakeups +=
        atomic_load_explicit(&ia->progress.thread_wakeups, memory_order_relaxed);
}
