/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared receive queues. Receives complete in any order, on any EP, and a slot is free as soon as
 * its completion has been polled. Slots are used in turn, so the next one is nearly always free.
 */

#include "vp/verbs/post/verbs_posting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct verbs_srq_slot *srq_free_slot(struct verbs_srq *srq)
{
    for (uint32_t i = 0; i < srq->depth; i++) {
        struct verbs_srq_slot *slot = &srq->slots[srq->cursor];

        srq->cursor = srq->cursor + 1 < srq->depth ? srq->cursor + 1 : 0;
        /* Pairs with the release store of the thread that has taken the completion. */
        if (!atomic_load_explicit(&slot->busy, memory_order_acquire))
            return slot;
    }
    return NULL;
}

static int srq_post_to_device(struct verbs_srq *srq, struct verbs_srq_slot *slot,
                              const it_lmr_triplet_t *segments, size_t count)
{
    struct ibv_sge sges[VERBS_MAX_SEGMENTS];
    struct ibv_recv_wr wr = {.wr_id = (uintptr_t)slot | VERBS_SRQ_MARK, .sg_list = sges};
    struct ibv_recv_wr *bad;

    wr.num_sge = verbs_segments(sges, segments, count);
    if (count == 0 && srq->ia->quirks.zero_segments) {
        sges[0] =
            (struct ibv_sge){.addr = (uintptr_t)srq->pz->empty, .lkey = srq->pz->empty_mr->lkey};
        wr.num_sge = 1;
    }
    return ibv_post_srq_recv(srq->srq, &wr, &bad);
}

static it_status_t srq_post_recv(struct ual_srq *ual, const it_lmr_triplet_t *segments,
                                 size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct verbs_srq *srq = verbs_srq_of(ual);
    it_status_t status = IT_ERR_TOO_MANY_POSTS;
    struct verbs_srq_slot *slot;

    (void)flags; /* every receive counts as a notification: a peer may have solicited it */
    base_lock_take(&srq->lock);
    slot = srq_free_slot(srq);
    if (slot) {
        slot->srq = srq;
        slot->cookie = cookie;
        atomic_store_explicit(&slot->busy, true, memory_order_relaxed);
        atomic_fetch_add_explicit(&srq->posted, 1, memory_order_relaxed);
        status = srq_post_to_device(srq, slot, segments, count) == 0 ? IT_SUCCESS
                                                                     : IT_ERR_TOO_MANY_POSTS;
        if (status != IT_SUCCESS)
            verbs_srq_return(slot);
    }
    base_lock_drop(&srq->lock);
    return status;
}

static const struct vp_srq_ops srq_ops = {
    .post_recv = srq_post_recv,
};

/* ---------------------------------------------------------------- life */

it_status_t verbs_srq_create(struct ual_srq *ual)
{
    struct verbs_srq *srq = verbs_srq_of(ual);
    struct vp_srq_limits limits;
    struct vp_srq_info info;
    struct ibv_srq_init_attr init = {.srq_context = srq};

    verbs_host->srq_info(ual, &info);
    verbs_host->srq_lock(ual);
    verbs_host->srq_limits_locked(ual, &limits);
    verbs_host->srq_unlock(ual);
    srq->ual = ual;
    srq->ia = verbs_ia_of(verbs_host->ia_of(ual));
    srq->pz = verbs_pz_of(info.pz);
    srq->depth = (uint32_t)limits.max_recv_dtos;
    srq->slots = calloc(srq->depth, sizeof(*srq->slots));
    if (!srq->slots)
        return IT_ERR_RESOURCES;
    init.attr.max_wr = srq->depth;
    init.attr.max_sge = info.max_recv_segments > 0 ? (uint32_t)info.max_recv_segments : 1;
    srq->srq = ibv_create_srq(srq->pz->pd, &init);
    if (!srq->srq) {
        verbs_log(VP_LOG_WARN, "%s: no shared receive queue for %u: %s",
                  verbs_host->ia_name(srq->ia->ual), srq->depth, strerror(errno));
        free(srq->slots);
        return IT_ERR_RESOURCES;
    }
    verbs_host->srq_set_ops(ual, &srq_ops, info.max_recv_segments);
    return IT_SUCCESS;
}

void verbs_srq_destroy(struct ual_srq *ual)
{
    struct verbs_srq *srq = verbs_srq_of(ual);

    verbs_warn_unless_removed(srq->ia, "a shared receive queue is still in use",
                              ibv_destroy_srq(srq->srq));
    free(srq->slots);
}

/* ---------------------------------------------------------------- low watermark */

static void srq_set_watermark(struct verbs_srq *srq, size_t low)
{
    struct vp_srq_limits limits;

    verbs_host->srq_lock(srq->ual);
    verbs_host->srq_limits_locked(srq->ual, &limits);
    limits.low_watermark = low;
    verbs_host->srq_set_limits_locked(srq->ual, &limits);
    verbs_host->srq_unlock(srq->ual);
}

/* Fires once per setting: the device disarms the limit when it fires, and so does the provider. */
void verbs_srq_is_low(struct verbs_srq *srq)
{
    struct vp_srq_limits limits;
    bool fires;

    verbs_host->srq_lock(srq->ual);
    verbs_host->srq_limits_locked(srq->ual, &limits);
    fires = limits.low_watermark != 0;
    limits.low_watermark = 0;
    verbs_host->srq_set_limits_locked(srq->ual, &limits);
    verbs_host->srq_unlock(srq->ual);
    if (fires)
        verbs_host->srq_raise(srq->ual, IT_ASYNC_AFF_SRQ_LOW_WATERMARK);
}

it_status_t verbs_srq_modify(struct ual_srq *ual, it_srq_param_mask_t mask,
                             const it_srq_param_t *params)
{
    struct verbs_srq *srq = verbs_srq_of(ual);
    struct ibv_srq_attr attr = {.srq_limit = (uint32_t)params->low_watermark};
    int error;

    if (mask & IT_SRQ_PARAM_MAX_RECV_DTO)
        return IT_ERR_OP_NOT_SUPPORTED;
    if (params->low_watermark > srq->depth)
        return IT_ERR_SRQ_LOW_WATERMARK;
    srq_set_watermark(srq, params->low_watermark);
    /*
     * The device checks its limit when a receive is taken. If there are too few receives already,
     * the provider raises the event.
     */
    if (params->low_watermark > atomic_load_explicit(&srq->posted, memory_order_relaxed)) {
        verbs_srq_is_low(srq);
        return IT_SUCCESS;
    }
    error = ibv_modify_srq(srq->srq, &attr, IBV_SRQ_LIMIT);
    if (error == 0)
        return IT_SUCCESS;
    verbs_warn(srq->ia, "no low watermark", error);
    srq_set_watermark(srq, 0);
    return IT_ERR_RESOURCES;
}
