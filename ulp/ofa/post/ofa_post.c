/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_post_send: posts requests to the EP, or holds them. */
#include "post/ofa_post.h"

#include "memory/ofa_adapter.h"
#include "memory/ofa_key.h"

#include <errno.h>
#include <string.h>

/* ---- The fast path: one segment, and the usual flags ----------------------------------------- */

static const uint32_t unusual_flags[] = {
    [IBV_WR_RDMA_WRITE] = OFA_UNUSUAL_WRITE, [IBV_WR_RDMA_WRITE_WITH_IMM] = OFA_EACH_REQUEST,
    [IBV_WR_SEND] = OFA_UNUSUAL_SEND,        [IBV_WR_SEND_WITH_IMM] = OFA_EACH_REQUEST,
    [IBV_WR_RDMA_READ] = OFA_UNUSUAL_READ,
};

static inline bool is_usual(const struct ibv_send_wr *wr, uint32_t flags)
{
    return wr->num_sge == 1 && (int32_t)wr->sg_list->length > 0 && wr->opcode <= IBV_WR_RDMA_READ &&
           (flags & unusual_flags[wr->opcode]) == 0;
}

/* Converts the only segment. Returns false if the request needs the slow path. */
static inline bool take_segment(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                                it_lmr_triplet_t *segment)
{
    const struct ibv_sge *sge = wr->sg_list;
    const struct ofa_key *key;

    if (wr->send_flags & IBV_SEND_INLINE) {
        if (!qp->inline_place || sge->length > qp->cap.max_inline_data)
            return false;
        ofa_inline_segment(qp, qp->inline_place, sge->length, segment);
        memcpy(segment->addr.abs, (const void *)(uintptr_t)sge->addr, sge->length);
        ofa_inline_advance_locked(qp);
        return true;
    }
    key = ofa_key_find(qp->context, sge->lkey);
    if (!key)
        return false;
    ofa_segment_of(key, sge, segment);
    return true;
}

static inline it_status_t request_usual(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                                        const it_lmr_triplet_t *segment, uint32_t asked)
{
    it_dto_flags_t flags = ofa_dto_flags(asked);

    if (wr->opcode == IBV_WR_SEND)
        return it_post_send(qp->send_ep, segment, 1, wr->wr_id, flags);
    if (wr->opcode == IBV_WR_RDMA_WRITE)
        return it_post_rdma_write(qp->send_ep, segment, 1, wr->wr_id, flags,
                                  wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
    return it_post_rdma_read(qp->send_ep, segment, 1, wr->wr_id, flags, wr->wr.rdma.remote_addr,
                             wr->wr.rdma.rkey);
}

static OFA_INLINE int post_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    uint32_t flags = wr->send_flags | qp->every_flags;
    it_lmr_triplet_t segment;
    it_status_t status;

    if (qp->holding)
        return ofa_hold_locked(qp, wr);
    if (!is_usual(wr, flags) || !take_segment(qp, wr, &segment))
        return ofa_request_locked(qp, wr);
    status = request_usual(qp, wr, &segment, flags);
    if (status == IT_SUCCESS)
        return 0;
    if (wr->send_flags & IBV_SEND_INLINE)
        ofa_inline_retreat_locked(qp);
    return ofa_errno(status);
}

int ofa_post_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    return post_locked(qp, wr);
}

/* Posts the other requests of a list, after the first was posted or has failed. */
static __attribute__((noinline)) int post_others_locked(struct ofa_qp *qp, struct ibv_send_wr *wr,
                                                        int error, struct ibv_send_wr **bad)
{
    while (error == 0 && wr->next) {
        wr = wr->next;
        error = ofa_post_locked(qp, wr);
    }
    if (error != 0)
        *bad = wr;
    return error;
}

int ofa_post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct ofa_qp *qp = ofa_qp_of(base);
    int error;

    if (!wr)
        return 0;
    ofa_spin_take(&qp->post_lock);
    error = post_locked(qp, wr);
    if (__builtin_expect(error != 0 || wr->next, 0))
        error = post_others_locked(qp, wr, error, bad);
    ofa_spin_drop(&qp->post_lock);
    return error;
}
