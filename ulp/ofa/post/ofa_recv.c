/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting receives to a queue pair or an S-RQ. */
#include "datagram/ofa_datagram.h"
#include "datagram/ofa_shared.h"
#include "memory/ofa_adapter.h"
#include "post/ofa_post.h"

#include <errno.h>
#include <stdlib.h>

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

    /* Without room there is an S-RQ, or the program has asked for none: the queue is full. */
    if (qp->cap.max_recv_wr == 0)
        error = qp->srq ? EINVAL : ENOMEM;
    if (atomic_load_explicit(&qp->state, memory_order_relaxed) == IBV_QPS_RESET)
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

static inline int post_shared(struct ofa_srq *srq, const struct ibv_recv_wr *wr)
{
    struct ofa_context *context = ofa_context_of(srq->base.context);

    if (atomic_load_explicit(&srq->use, memory_order_acquire) != OFA_SRQ_STREAMS) {
        int error = ofa_shared_post(srq, wr);

        if (error != EALREADY)
            return error;
    }
    return post_one(context, srq->srq, wr, srq->max_sge);
}

/* Posts the receives of the S-RQ that were kept so far to the adapter. */
static void hand_over_locked(struct ofa_srq *srq)
{
    struct ofa_ring *receives = &srq->shared->receives;
    it_srq_param_t param = {.low_watermark = srq->shared->limit};

    for (; receives->count > 0; ofa_ring_drop_first(receives)) {
        struct ofa_datagram_recv *receive = ofa_ring_first(receives);
        struct ibv_recv_wr wr = {
            .wr_id = receive->wr_id, .sg_list = receive->sge, .num_sge = (int)receive->count};

        (void)post_one(ofa_context_of(srq->base.context), srq->srq, &wr, srq->max_sge);
    }
    (void)it_srq_modify(srq->srq, IT_SRQ_PARAM_LOW_WATERMARK, &param);
    free(receives->places);
    *receives = (struct ofa_ring){.count = 0};
}

int ofa_srq_attach(struct ofa_srq *srq, enum ibv_qp_type type)
{
    enum ofa_srq_use use = type == IBV_QPT_UD ? OFA_SRQ_DATAGRAMS : OFA_SRQ_STREAMS;
    struct ofa_context *context = ofa_context_of(srq->base.context);
    enum ofa_srq_use before;

    (void)pthread_mutex_lock(&context->datagram_lock);
    before = atomic_load_explicit(&srq->use, memory_order_relaxed);
    if (before == OFA_SRQ_UNUSED) {
        if (use == OFA_SRQ_STREAMS)
            hand_over_locked(srq);
        atomic_store_explicit(&srq->use, use, memory_order_release);
    }
    (void)pthread_mutex_unlock(&context->datagram_lock);
    return before == OFA_SRQ_UNUSED || before == use ? 0 : EOPNOTSUPP;
}

int ofa_post_srq_recv(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct ofa_srq *srq = ofa_srq_of(base);
    int error;

    for (; wr; wr = wr->next) {
        error = post_shared(srq, wr);
        if (error != 0) {
            *bad = wr;
            return error;
        }
    }
    return 0;
}
