/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives, of a queue pair and of a shared queue. */
#include "datagram/ofa_datagram.h"
#include "memory/ofa_adapter.h"
#include "post/ofa_post.h"

#include <errno.h>

static int post_list(struct ofa_context *context, it_handle_t queue, const struct ibv_recv_wr *wr,
                     uint32_t max_sge)
{
    it_lmr_triplet_t segments[OFA_MAX_SGE];
    size_t count;
    int error = ofa_segments(context, wr->sg_list, wr->num_sge, (int)max_sge, segments, &count);

    if (error != 0)
        return error;
    return ofa_errno(it_post_recv(queue, segments, count, wr->wr_id, IT_COMPLETION_FLAG));
}

/* Most receives have one segment. */
static inline int post_one(struct ofa_context *context, it_handle_t queue,
                           const struct ibv_recv_wr *wr, uint32_t max_sge)
{
    it_lmr_triplet_t segment;
    it_status_t status;

    if (wr->num_sge != 1 || wr->sg_list->length == 0 || max_sge == 0)
        return post_list(context, queue, wr, max_sge);
    ofa_segment(context, wr->sg_list, &segment);
    status = it_post_recv(queue, &segment, 1, wr->wr_id, IT_COMPLETION_FLAG);
    return status == IT_SUCCESS ? 0 : ofa_errno(status);
}

int ofa_post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct ofa_qp *qp = ofa_qp_of(base);
    int error = 0;

    if (qp->srq || atomic_load_explicit(&qp->state, memory_order_relaxed) == IBV_QPS_RESET)
        error = EINVAL;
    for (; wr && error == 0; wr = wr->next) {
        error = qp->datagrams ? ofa_datagram_recv(qp, wr)
                              : post_one(qp->context, qp->ep, wr, qp->cap.max_recv_sge);
        if (error != 0)
            break;
    }
    if (error != 0)
        *bad = wr;
    return error;
}

int ofa_post_srq_recv(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct ofa_srq *srq = ofa_srq_of(base);
    struct ofa_context *context = ofa_context_of(base->context);
    int error;

    for (; wr; wr = wr->next) {
        error = post_one(context, srq->srq, wr, srq->max_sge);
        if (error != 0) {
            *bad = wr;
            return error;
        }
    }
    return 0;
}
