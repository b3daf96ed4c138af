/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_post_send: requests go to the EP, or wait for it. */
#include "post/ofa_post.h"

#include "memory/ofa_adapter.h"
#include "memory/ofa_key.h"

#include <errno.h>

/* One segment, not inline, nothing but perhaps a completion asked for: most requests are so. */
static inline bool is_usual(const struct ibv_send_wr *wr)
{
    return wr->num_sge == 1 && (wr->send_flags & ~(unsigned int)IBV_SEND_SIGNALED) == 0 &&
           (wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_RDMA_WRITE) &&
           wr->sg_list->length - 1 < OFA_MAX_MESSAGE;
}

/* The short way of ofa_request_locked. 0 or errno; -1: not this way. */
static inline int request_usual(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    const struct ibv_sge *sge = wr->sg_list;
    const struct ofa_key *key = ofa_key_find(qp->context, sge->lkey);
    it_dto_flags_t flags =
        wr->send_flags || qp->signal_all ? IT_COMPLETION_FLAG : (it_dto_flags_t)0;
    it_lmr_triplet_t segment;
    it_status_t status;

    if (!key)
        return -1;
    segment.lmr = atomic_load_explicit(&key->lmr, memory_order_relaxed);
    segment.addr.rel = sge->addr + atomic_load_explicit(&key->shift, memory_order_relaxed);
    segment.length = sge->length;
    status = wr->opcode == IBV_WR_SEND
                 ? it_post_send(qp->send_ep, &segment, 1, wr->wr_id, flags)
                 : it_post_rdma_write(qp->send_ep, &segment, 1, wr->wr_id, flags,
                                      wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
    return status == IT_SUCCESS ? 0 : ofa_errno(status);
}

static inline int post_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    int result;

    if (atomic_load_explicit(&qp->state, memory_order_relaxed) < IBV_QPS_RTS)
        return EINVAL;
    if (qp->holding)
        return ofa_hold_locked(qp, wr);
    result = is_usual(wr) ? request_usual(qp, wr) : -1;
    return result < 0 ? ofa_request_locked(qp, wr) : result;
}

int ofa_post_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    return post_locked(qp, wr);
}

int ofa_post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct ofa_qp *qp = ofa_qp_of(base);
    int error = 0;

    ofa_spin_take(&qp->post_lock);
    for (; wr; wr = wr->next) {
        error = post_locked(qp, wr);
        if (error != 0) {
            *bad = wr;
            break;
        }
    }
    ofa_spin_drop(&qp->post_lock);
    return error;
}
