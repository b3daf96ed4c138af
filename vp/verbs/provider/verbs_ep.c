/* SPDX-License-Identifier: BSD-2-Clause */
/* The EP: its QP, how it is created, modified, reset and destroyed. */
#include "vp/verbs/provider/verbs_provider.h"

#include "vp/verbs/complete/verbs_complete.h"
#include "vp/verbs/memory/verbs_memory.h"
#include "vp/verbs/memory/verbs_rmr.h"
#include "vp/verbs/post/verbs_posting.h"
#include "vp/verbs/provider/verbs_cm_ep.h"
#include "vp/verbs/qp/verbs_qp.h"

#include <errno.h>
#include <string.h>

/* Attributes that determined the size of the QP. */
#define EP_SEGMENTS                                                                                \
    ((unsigned)IT_EP_PARAM_MAX_SEND_SEG | (unsigned)IT_EP_PARAM_MAX_RECV_SEG |                     \
     (unsigned)IT_EP_PARAM_MAX_RDMA_READ_SEG | (unsigned)IT_EP_PARAM_MAX_RDMA_WRITE_SEG)
#define EP_ENABLES                                                                                 \
    ((unsigned)IT_EP_PARAM_RDMA_RD_ENABLE | (unsigned)IT_EP_PARAM_RDMA_WR_ENABLE |                 \
     (unsigned)IT_EP_PARAM_ATOMICS_ENABLE)

/* Sizes of inline data; the first one that the device accepts is used. */
static const uint32_t ep_inline_sizes[] = {256, 128, 64, 0};

/* ---------------------------------------------------------------- the QP */

static size_t ep_most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Counts the marker and nudges too. A link may need two requests: the first closes the window. */
static uint32_t ep_device_requests(const struct verbs_ep *ep)
{
    uint32_t limit = (uint32_t)ep->ia->device.orig_attr.max_qp_wr;
    uint32_t count = ep->sq.depth + 1 + (ep->ia->quirks.is_siw ? VERBS_NUDGES : 0);

    if (ep->sq.links)
        count += ep->sq.depth;
    return count < limit ? count : limit;
}

static void ep_describe_qp(const struct verbs_ep *ep, struct ibv_qp_init_attr *init)
{
    const it_ep_attributes_t *attr = verbs_host->ep_attributes(ep->ual);
    const it_rc_only_attributes_t *rc = &attr->srv.rc;
    size_t segments = ep_most(attr->max_send_segments, 1);

    if (!ep->ud) {
        segments = ep_most(segments, rc->max_rdma_read_segments);
        segments = ep_most(segments, rc->max_rdma_write_segments);
    }
    *init = (struct ibv_qp_init_attr){
        .qp_context = (void *)(uintptr_t)ep,
        .send_cq = ep->sq.cq->cq,
        .recv_cq = ep->rq.cq->cq,
        .cap = {.max_send_wr = ep_device_requests(ep),
                .max_recv_wr = (uint32_t)ep_most(ep->rq.depth, 1),
                .max_send_sge = (uint32_t)segments,
                .max_recv_sge = (uint32_t)ep_most(attr->max_recv_segments, 1)},
        .qp_type = ep->ud ? IBV_QPT_UD : IBV_QPT_RC,
    };
    if (ep->srq) {
        init->srq = verbs_srq_of(ep->srq)->srq;
        init->cap.max_recv_wr = 0;
        init->cap.max_recv_sge = 0;
    }
}

/* Returns NULL with errno set on failure. */
static struct ibv_qp *ep_make_qp(const struct verbs_ep *ep, struct ibv_qp_cap *cap)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp *qp = NULL;

    for (size_t i = 0; !qp && i < sizeof(ep_inline_sizes) / sizeof(ep_inline_sizes[0]); i++) {
        ep_describe_qp(ep, &init);
        init.cap.max_inline_data = ep_inline_sizes[i];
        qp = ibv_create_qp(ep->pd, &init);
    }
    *cap = init.cap;
    return qp;
}

static void ep_destroy_qp(const struct verbs_ep *ep, struct ibv_qp *qp)
{
    int error;

    verbs_rmr_leave(ep->ia, qp->qp_num);
    error = ibv_destroy_qp(qp);
    if (error && !atomic_load_explicit(&ep->ia->removed, memory_order_relaxed))
        verbs_log(VP_LOG_WARN, "%s: QP %u cannot be destroyed: %s",
                  verbs_host->ia_name(ep->ia->ual), qp->qp_num, strerror(error));
}

/* Creates a QP in INIT. */
static it_status_t ep_new_qp(struct verbs_ep *ep, struct ibv_qp **qp_out)
{
    struct ibv_qp_cap cap;
    struct ibv_qp *qp = ep_make_qp(ep, &cap);
    char limit[VERBS_LIMIT_TEXT];
    int error;

    if (!qp) {
        error = errno;
        goto err_log;
    }
    error = ep->ud ? verbs_ud_start_qp(ep, qp) : verbs_qp_init(ep, qp);
    if (error) {
        ep_destroy_qp(ep, qp);
        goto err_log;
    }
    ep->inline_max = cap.max_inline_data;
    ep->send_segments = cap.max_send_sge;
    ep->recv_segments = cap.max_recv_sge;
    *qp_out = qp;
    return IT_SUCCESS;

err_log:
    verbs_log(VP_LOG_WARN, "%s: no QP with %u requests and %u receives: %s%s",
              verbs_host->ia_name(ep->ia->ual), ep->sq.depth, ep->rq.depth, strerror(error),
              verbs_limit_text(error, limit));
    return IT_ERR_RESOURCES;
}

/* ---------------------------------------------------------------- create, destroy */

static void ep_failed(void *argument)
{
    struct verbs_ep *ep = argument;

    if (atomic_load_explicit(&ep->ends, memory_order_acquire))
        return;
    if (ep->ud)
        verbs_ud_failed(ep);
    else
        verbs_cm_ep_failed(ep);
}

static void ep_heard(void *argument)
{
    struct verbs_ep *ep = argument;

    if (!atomic_load_explicit(&ep->ends, memory_order_acquire))
        verbs_cm_ep_heard(ep);
}

static void ep_drained(void *argument)
{
    verbs_ep_report_kept(argument);
}

static void ep_free_tasks(const struct verbs_ep *ep)
{
    if (ep->drained)
        verbs_host->task_free(ep->drained);
    if (ep->heard)
        verbs_host->task_free(ep->heard);
    if (ep->failed)
        verbs_host->task_free(ep->failed);
}

static bool ep_make_tasks(struct verbs_ep *ep)
{
    bool mixed = !ep->ud && (verbs_host->ep_is_mixed(ep->ual, VP_REQUESTS) ||
                             verbs_host->ep_is_mixed(ep->ual, VP_RECEIVES));

    bool hears = !ep->ud && !ep->ia->is_iwarp;

    ep->failed = verbs_host->task_new(ep->ia->ual, ep_failed, ep);
    if (mixed)
        ep->drained = verbs_host->task_new(ep->ia->ual, ep_drained, ep);
    if (hears)
        ep->heard = verbs_host->task_new(ep->ia->ual, ep_heard, ep);
    return ep->failed && (ep->drained || !mixed) && (ep->heard || !hears);
}

static void ep_fill(struct verbs_ep *ep, struct ual_ep *ual, const struct vp_ep_info *info)
{
    struct verbs_pz *pz = verbs_pz_of(info->pz);

    ep->ual = ual;
    ep->ia = verbs_ia_of(verbs_host->ia_of(ual));
    ep->handle = info->handle;
    ep->pd = pz->pd;
    ep->srq = info->srq;
    ep->empty_addr = (uintptr_t)pz->empty;
    ep->empty_lkey = pz->empty_mr ? pz->empty_mr->lkey : 0;
}

static void ep_free_queues(struct verbs_ep *ep)
{
    verbs_ud_free(ep);
    verbs_queue_free(&ep->rq);
    verbs_queue_free(&ep->sq);
}

static it_status_t ep_make_queues(struct verbs_ep *ep, const struct vp_ep_info *info)
{
    const it_ep_attributes_t *attr = verbs_host->ep_attributes(ep->ual);

    if (verbs_queue_make(&ep->sq, ep, attr->max_request_dtos, false) &&
        verbs_queue_make(&ep->rq, ep, attr->max_recv_dtos, true) &&
        (!info->datagrams || verbs_ud_make(ep, (uint8_t)info->spigot_id)))
        return IT_SUCCESS;
    ep_free_queues(ep); /* those that exist */
    return IT_ERR_RESOURCES;
}

it_status_t verbs_ep_create(struct ual_ep *ual)
{
    struct verbs_ep *ep = verbs_ep_of(ual);
    it_status_t status = IT_ERR_RESOURCES;
    struct vp_ep_info info;

    verbs_host->ep_info(ual, &info);
    ep_fill(ep, ual, &info);
    if (info.datagrams) {
        status = verbs_ud_check(ep->ia, (uint8_t)info.spigot_id, verbs_host->ep_attributes(ual));
        if (status != IT_SUCCESS)
            return status;
    }
    status = ep_make_queues(ep, &info);
    if (status != IT_SUCCESS)
        return status;
    status = IT_ERR_RESOURCES;
    if (!ep_make_tasks(ep))
        goto err_tasks;
    status = verbs_source_join(ep);
    if (status != IT_SUCCESS)
        goto err_tasks;
    status = ep_new_qp(ep, &ep->qp);
    if (status != IT_SUCCESS)
        goto err_leave;
    verbs_usual_set_qp(ep, ep->qp);
    verbs_source_name(ep, ep->qp);
    if (ep->ud)
        verbs_ud_open_locked(ep);
    verbs_host->ep_set_ops(ual, ep->ud ? &verbs_ud_ops : &verbs_ep_ops);
    return IT_SUCCESS;

err_leave:
    verbs_source_leave(ep);
err_tasks:
    ep_free_tasks(ep);
    ep_free_queues(ep);
    return status;
}

void verbs_ep_destroy(struct ual_ep *ual)
{
    struct verbs_ep *ep = verbs_ep_of(ual);

    /*
     * The receives of an S-RQ do not belong to the EP, so the consumer gets the completions of
     * those that are used up.
     */
    if (ep->srq)
        verbs_source_refuse_early(ep);
    /* Moves completions to the EVD while it has room: those events stay. */
    verbs_source_reap(ep, &ep->sq);
    verbs_source_reap(ep, &ep->rq);
    atomic_store_explicit(&ep->ends, true, memory_order_release);
    verbs_cm_ep_end(ep);
    (void)verbs_qp_close_queue(&ep->sq);
    (void)verbs_qp_close_queue(&ep->rq);
    ep_destroy_qp(ep, ep->qp);
    verbs_source_leave(ep);
    ep_free_tasks(ep);
    if (ep->ud)
        verbs_host->ep_disown(ual);
    ep_free_queues(ep);
}

/* ---------------------------------------------------------------- reset */

/* The queues stay, with a new QP below them. Called with the EP's lock. */
static void ep_renew_locked(struct verbs_ep *ep, struct ibv_qp *qp)
{
    base_lock_take(&ep->sq.lock);
    base_lock_take(&ep->rq.lock);
    atomic_store_explicit(&ep->parted_before,
                          atomic_load_explicit(&ep->parted, memory_order_relaxed),
                          memory_order_relaxed);
    verbs_source_renew(ep, &ep->sq);
    verbs_source_renew(ep, &ep->rq);
    verbs_usual_set_qp(ep, qp);
    atomic_store_explicit(&ep->parted, false, memory_order_relaxed);
    atomic_store_explicit(&ep->request_failed, false, memory_order_relaxed);
    ep->sq.local = false;
    ep->sq.open = false;
    ep->sq.quiet = 0;
    ep->rq.local = false;
    verbs_queue_refresh(&ep->sq);
    verbs_queue_refresh(&ep->rq);
    base_lock_drop(&ep->rq.lock);
    base_lock_drop(&ep->sq.lock);
}

/* Returns true if the EP must be reset; otherwise *status is the result. */
static bool ep_wants_reset(const struct verbs_ep *ep, it_status_t *status)
{
    *status = IT_SUCCESS;
    if (ep->ud)
        return verbs_host->ep_ud_state(ep->ual) == IT_EP_STATE_UD_NONOPERATIONAL;
    if (verbs_host->ep_state(ep->ual) == IT_EP_STATE_NONOPERATIONAL)
        return true;
    if (verbs_host->ep_state(ep->ual) != IT_EP_STATE_UNCONNECTED)
        *status = IT_ERR_INVALID_EP_STATE;
    return false;
}

static bool ep_step_reset_locked(struct verbs_ep *ep)
{
    if (!ep->ud)
        return verbs_host->ep_step_locked(ep->ual, UAL_EP_RESET);
    verbs_ud_open_locked(ep);
    return verbs_host->ep_set_ud_state_locked(ep->ual, IT_EP_STATE_UD_OPERATIONAL);
}

/* Creates a new QP, so that nothing of the old connection can reach the new one. */
static it_status_t ep_reset(struct verbs_ep *ep)
{
    struct ibv_qp *fresh;
    it_status_t status;
    bool legal;

    if (!ep_wants_reset(ep, &status))
        return status;
    status = ep_new_qp(ep, &fresh);
    if (status != IT_SUCCESS)
        return status;
    verbs_cm_ep_forget(ep);
    verbs_ep_break(ep);
    if (!verbs_cm_keeps_qp(ep, ep->qp))
        ep_destroy_qp(ep, ep->qp);
    verbs_source_flush(ep, &ep->sq, true);
    verbs_source_flush(ep, &ep->rq, true);
    verbs_ep_report_kept(ep);
    verbs_host->ep_lock(ep->ual);
    verbs_source_name(ep, fresh);
    ep_renew_locked(ep, fresh);
    legal = ep_step_reset_locked(ep);
    verbs_host->ep_unlock(ep->ual);
    verbs_source_reap(ep, &ep->sq);
    verbs_source_reap(ep, &ep->rq);
    return legal ? IT_SUCCESS : IT_ERR_INVALID_EP_STATE;
}

it_status_t verbs_ep_reset(struct ual_ep *ual)
{
    struct verbs_ep *ep = verbs_ep_of(ual);
    it_status_t status;

    /* A flag, no lock: the reset waits for the IA's thread, where a callback may call this too. */
    if (atomic_exchange_explicit(&ep->resets, true, memory_order_acquire))
        return IT_ERR_INVALID_EP_STATE;
    status = ep_reset(ep);
    atomic_store_explicit(&ep->resets, false, memory_order_release);
    return status;
}

/* ---------------------------------------------------------------- modify */

void verbs_ep_halt(struct ual_ep *ual)
{
    (void)ual;
}

void verbs_ep_proceed(struct ual_ep *ual, it_ep_param_mask_t changed)
{
    struct verbs_ep *ep = verbs_ep_of(ual);

    if (!(changed & IT_EP_PARAM_MAX_PAYLOAD))
        return;
    base_lock_take(&ep->sq.lock);
    verbs_usual_set_limits(ep);
    base_lock_drop(&ep->sq.lock);
}

static it_status_t ep_check_segments(const struct verbs_ep *ep, unsigned mask,
                                     const it_ep_attributes_t *attr)
{
    const it_rc_only_attributes_t *rc = &attr->srv.rc;

    if (((mask & IT_EP_PARAM_MAX_SEND_SEG) && attr->max_send_segments > ep->send_segments) ||
        ((mask & IT_EP_PARAM_MAX_RDMA_READ_SEG) &&
         rc->max_rdma_read_segments > ep->send_segments) ||
        ((mask & IT_EP_PARAM_MAX_RDMA_WRITE_SEG) &&
         rc->max_rdma_write_segments > ep->send_segments) ||
        ((mask & IT_EP_PARAM_MAX_RECV_SEG) && attr->max_recv_segments > ep->recv_segments))
        return IT_ERR_OP_NOT_SUPPORTED;
    return IT_SUCCESS;
}

/* While a connection is being made, the QP gets the enables together with its next state. */
static it_status_t ep_set_enables(struct verbs_ep *ep, unsigned mask,
                                  const it_rc_only_attributes_t *to)
{
    it_ep_state_rc_t state = verbs_host->ep_state(ep->ual);
    it_rc_only_attributes_t rc = verbs_host->ep_attributes(ep->ual)->srv.rc;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};

    if (state != IT_EP_STATE_UNCONNECTED && state != IT_EP_STATE_CONNECTED)
        return IT_SUCCESS;
    if (mask & IT_EP_PARAM_RDMA_RD_ENABLE)
        rc.rdma_read_enable = to->rdma_read_enable;
    if (mask & IT_EP_PARAM_RDMA_WR_ENABLE)
        rc.rdma_write_enable = to->rdma_write_enable;
    if (mask & IT_EP_PARAM_ATOMICS_ENABLE)
        rc.atomics_enable = to->atomics_enable;
    attr.qp_access_flags = verbs_qp_access_of(&rc);
    return verbs_qp_modify(ep, &attr, IBV_QP_ACCESS_FLAGS) == 0 ? IT_SUCCESS : IT_ERR_RESOURCES;
}

it_status_t verbs_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                   it_ep_attributes_t *attr)
{
    struct verbs_ep *ep = verbs_ep_of(ual);
    unsigned changes = (unsigned)mask;
    it_status_t status = IT_SUCCESS;

    if (ep->ud)
        return verbs_ud_modify_locked(ep, changes, attr);
    if ((changes & IT_EP_PARAM_MAX_ORD) && verbs_host->ep_state(ual) != IT_EP_STATE_UNCONNECTED &&
        attr->srv.rc.rdma_read_ord != verbs_host->ep_attributes(ual)->srv.rc.rdma_read_ord)
        return IT_ERR_OP_NOT_SUPPORTED; /* the peer knows the present value */
    if (changes & EP_SEGMENTS)
        status = ep_check_segments(ep, changes, attr);
    if (status == IT_SUCCESS && (changes & EP_ENABLES))
        status = ep_set_enables(ep, changes, &attr->srv.rc);
    return status;
}
