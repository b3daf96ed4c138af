/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues. */
#include "datagram/ofa_shared.h"
#include "link/ofa_async.h"
#include "memory/ofa_adapter.h"
#include "qp/ofa_qp.h"
#include "queue/ofa_event.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int check_attr(const struct ibv_srq_attr *attr)
{
    return attr->max_wr == 0 || attr->max_wr > OFA_MAX_SRQ_WR || attr->max_sge > OFA_MAX_SGE
               ? EINVAL
               : 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
    struct ofa_context *context = ofa_context_of(pd->context);
    uint32_t segments = init->attr.max_sge ? init->attr.max_sge : 1;
    it_context_t self;
    struct ofa_srq *srq;
    int error = check_attr(&init->attr);

    srq = error == 0 ? calloc(1, sizeof(*srq)) : NULL;
    if (!srq) {
        errno = error ? error : ENOMEM;
        return NULL;
    }
    srq->max_wr = init->attr.max_wr;
    srq->max_sge = init->attr.max_sge = segments;
    error = ofa_async_open(context);
    if (error == 0)
        error = ofa_shared_open(srq);
    if (error == 0)
        error = ofa_errno(it_srq_create(ofa_pd_of(pd)->pz, segments, init->attr.max_wr, &srq->srq));
    if (error != 0) {
        if (srq->shared)
            ofa_shared_close(srq);
        free(srq);
        errno = error;
        return NULL;
    }
    self.ptr = srq;
    (void)it_set_consumer_context(srq->srq, self);
    srq->base.context = pd->context;
    srq->base.srq_context = init->srq_context;
    srq->base.pd = pd;
    (void)pthread_mutex_init(&srq->base.mutex, NULL);
    (void)pthread_cond_init(&srq->base.cond, NULL);
    srq->pd = ofa_pd_of(pd);
    ofa_event_init_srq(srq);
    atomic_fetch_add_explicit(&srq->pd->children, 1, memory_order_relaxed);
    return &srq->base;
}

struct ibv_srq *ofa_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    struct ibv_srq_init_attr plain = {.srq_context = attr->srq_context, .attr = attr->attr};
    struct ibv_srq *srq;

    (void)context;
    if (((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && attr->srq_type != IBV_SRQT_BASIC) ||
        (attr->comp_mask & ~(uint32_t)(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD))) {
        (void)ofa_absent("a shared receive queue of this type", EOPNOTSUPP);
        return NULL;
    }
    if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd) {
        errno = EINVAL;
        return NULL;
    }
    srq = ibv_create_srq(attr->pd, &plain);
    if (srq)
        attr->attr = plain.attr;
    return srq;
}

int ofa_get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
    (void)srq;
    (void)number;
    return EOPNOTSUPP;
}

/* Modifies the adapter's S-RQ. Returns 0 or errno. */
static int modify(const struct ofa_srq *srq, const struct ibv_srq_attr *attr, int mask)
{
    it_srq_param_t param;
    unsigned int change = 0;

    memset(&param, 0, sizeof(param));
    if (mask & IBV_SRQ_MAX_WR) {
        param.max_recv_dtos = attr->max_wr;
        change |= IT_SRQ_PARAM_MAX_RECV_DTO;
    }
    if (mask & IBV_SRQ_LIMIT) {
        param.low_watermark = attr->srq_limit;
        change |= IT_SRQ_PARAM_LOW_WATERMARK;
    }
    return ofa_errno(it_srq_modify(srq->srq, (it_srq_param_mask_t)change, &param));
}

/* Modifies both queues. While the adapter has no receives, only its size changes there. */
static int modify_both(struct ofa_srq *srq, const struct ibv_srq_attr *attr, int mask)
{
    struct ofa_context *context = ofa_context_of(srq->base.context);
    bool streams;
    int error = 0;

    (void)pthread_mutex_lock(&context->datagram_lock);
    streams = atomic_load_explicit(&srq->use, memory_order_relaxed) == OFA_SRQ_STREAMS;
    if (!streams)
        error = ofa_shared_modify(srq, attr, mask);
    if (error == 0)
        error = modify(srq, attr, streams ? mask : mask & IBV_SRQ_MAX_WR);
    (void)pthread_mutex_unlock(&context->datagram_lock);
    return error;
}

int ibv_modify_srq(struct ibv_srq *base, struct ibv_srq_attr *attr, int mask)
{
    struct ofa_srq *srq = ofa_srq_of(base);
    uint32_t max_wr = mask & IBV_SRQ_MAX_WR ? attr->max_wr : srq->max_wr;
    uint32_t limit;
    int error;

    if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT) || max_wr == 0 || max_wr > OFA_MAX_SRQ_WR ||
        ((mask & IBV_SRQ_LIMIT) && attr->srq_limit > max_wr))
        return EINVAL;
    limit = atomic_load_explicit(&srq->limit, memory_order_relaxed);
    /* Before the adapter can tell that it is reached. */
    if (mask & IBV_SRQ_LIMIT)
        atomic_store_explicit(&srq->limit, attr->srq_limit, memory_order_relaxed);
    error = modify_both(srq, attr, mask);
    if (error != 0)
        atomic_store_explicit(&srq->limit, limit, memory_order_relaxed);
    else
        srq->max_wr = max_wr;
    return error;
}

int ibv_query_srq(struct ibv_srq *base, struct ibv_srq_attr *attr)
{
    struct ofa_srq *srq = ofa_srq_of(base);

    attr->max_wr = srq->max_wr;
    attr->max_sge = srq->max_sge;
    attr->srq_limit = atomic_load_explicit(&srq->limit, memory_order_relaxed);
    return 0;
}

int ibv_destroy_srq(struct ibv_srq *base)
{
    struct ofa_srq *srq = ofa_srq_of(base);
    int error;

    if (atomic_load_explicit(&srq->children, memory_order_acquire) > 0)
        return EBUSY;
    error = ofa_errno(it_srq_free(srq->srq));
    if (error != 0)
        return error;
    ofa_event_drain(ofa_context_of(base->context), base, &base->mutex, &base->cond,
                    &base->events_completed, &srq->delivered_events);
    atomic_fetch_sub_explicit(&srq->pd->children, 1, memory_order_release);
    (void)pthread_cond_destroy(&base->cond);
    (void)pthread_mutex_destroy(&base->mutex);
    ofa_shared_close(srq);
    free(srq);
    return 0;
}
