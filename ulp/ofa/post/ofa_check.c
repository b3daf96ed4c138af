/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of requests that are held, or are posted in a batch. A connected queue pair refuses a
 * wrong request in the posting call. So a wrong request must not fail later by a completion, and no
 * part of its batch may be posted.
 */
#include "datagram/ofa_datagram.h"
#include "post/ofa_post.h"

#include <errno.h>

#define ATOMIC_BYTES 8

static bool is_there(enum ibv_wr_opcode opcode)
{
    return opcode >= IBV_WR_RDMA_WRITE && opcode <= IBV_WR_SEND_WITH_INV;
}

static bool is_atomic(const struct ibv_send_wr *wr)
{
    return wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Returns true for a list that fits the queue pair. */
static bool fits(const struct ofa_qp *qp, const struct ibv_send_wr *wr, uint64_t *length)
{
    bool copied = (wr->send_flags & IBV_SEND_INLINE) != 0;

    *length = 0;
    if (wr->num_sge < 0 || wr->num_sge > (int)qp->cap.max_send_sge)
        return false;
    for (int i = 0; i < wr->num_sge; i++)
        *length += wr->sg_list[i].length;
    return *length <= (copied ? qp->cap.max_inline_data : OFA_MAX_MESSAGE);
}

/* The result of an atomic operation is one aligned word. Empty segments do not count. */
static bool has_aligned_word(const struct ibv_send_wr *wr)
{
    int count = 0;

    for (int i = 0; i < wr->num_sge; i++) {
        if (wr->sg_list[i].length == 0)
            continue;
        if (wr->sg_list[i].addr % ATOMIC_BYTES != 0)
            return false;
        count++;
    }
    return count == 1;
}

bool ofa_bind_unlinks(const struct ibv_mw_bind_info *info)
{
    const unsigned int remote =
        IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

    return info->length == 0 || !(info->mw_access_flags & remote);
}

bool ofa_bind_fits(const struct ibv_mw_bind_info *info)
{
    const struct ofa_mr *mr = ofa_mr_of(info->mr);

    return mr && mr->lmr && (mr->access & IBV_ACCESS_MW_BIND) && info->addr >= mr->iova &&
           info->addr - mr->iova <= mr->base.length &&
           info->length <= mr->base.length - (info->addr - mr->iova);
}

static bool binds_badly(const struct ibv_send_wr *wr)
{
    const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;

    return wr->opcode == IBV_WR_BIND_MW && !ofa_bind_unlinks(info) && !ofa_bind_fits(info);
}

int ofa_request_check(const struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    bool reads = wr->opcode == IBV_WR_RDMA_READ || is_atomic(wr);
    uint64_t length;

    if (!is_there(wr->opcode) || !fits(qp, wr, &length) || binds_badly(wr))
        return EINVAL;
    if (reads && ((wr->send_flags & IBV_SEND_INLINE) || qp->base.qp_type == IBV_QPT_UC))
        return EINVAL;
    if (is_atomic(wr) && (length != ATOMIC_BYTES || wr->wr.atomic.remote_addr % ATOMIC_BYTES != 0 ||
                          !has_aligned_word(wr)))
        return EINVAL;
    return 0;
}

static uint32_t datagrams_of(struct ofa_qp *qp)
{
    uint32_t count;

    (void)pthread_mutex_lock(&qp->context->datagram_lock);
    count = qp->datagrams->sends.count;
    (void)pthread_mutex_unlock(&qp->context->datagram_lock);
    return count;
}

uint32_t ofa_room_locked(struct ofa_qp *qp)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    if (qp->datagrams)
        return qp->cap.max_send_wr - datagrams_of(qp);
    if (qp->holding)
        return qp->cap.max_send_wr - qp->held_count;
    if (itx_ep_stats(qp->send_ep, &counters) != IT_SUCCESS)
        return 0;
    return qp->inline_places - 1 -
           ((uint32_t)counters.requests_posted - (uint32_t)counters.requests_done);
}
