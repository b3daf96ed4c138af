/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating and destroying queue pairs. */
#include "datagram/ofa_datagram.h"
#include "link/ofa_async.h"
#include "link/ofa_hand.h"
#include "link/ofa_link.h"
#include "link/ofa_number.h"
#include "memory/ofa_adapter.h"
#include "post/ofa_post.h"
#include "qp/ofa_drain.h"
#include "qp/ofa_qp.h"
#include "queue/ofa_event.h"
#include "queue/ofa_queue.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <stdlib.h>

#define OPERATIONS                                                                                 \
    (IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |        \
     IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
     IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |     \
     IBV_QP_EX_WITH_SEND_WITH_INV)

/* Cards grant at least this: programs post inline data without having requested it. */
#define INLINE_LEAST 64

/* ---- Types and operations ------------------------------------------------------------------- */

/* Checks the type: an RNIC has no UD queue pairs. */
static int check_type(const struct ibv_context *context, enum ibv_qp_type type)
{
    if (type == IBV_QPT_RC || type == IBV_QPT_UC ||
        (type == IBV_QPT_UD && context->device->transport_type != IBV_TRANSPORT_IWARP))
        return 0;
    if (type < IBV_QPT_RC || (type > IBV_QPT_XRC_RECV && type != IBV_QPT_DRIVER))
        return EINVAL;
    ofa_log("queue pairs of the type %d are not supported", (int)type);
    return EOPNOTSUPP;
}

static uint64_t operations_of(enum ibv_qp_type type)
{
    return type == IBV_QPT_UD ? IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM : OPERATIONS;
}

static int check_caps(const struct ibv_qp_init_attr_ex *attr)
{
    const struct ibv_qp_cap *cap = &attr->cap;

    if (!attr->send_cq || (!attr->recv_cq && !attr->srq))
        return EINVAL;
    if (attr->send_cq->context != attr->pd->context ||
        (attr->recv_cq && attr->recv_cq->context != attr->pd->context))
        return EINVAL;
    if (cap->max_send_wr > OFA_MAX_QP_WR || cap->max_recv_wr > OFA_MAX_QP_WR ||
        cap->max_send_sge > OFA_MAX_SGE || cap->max_recv_sge > OFA_MAX_SGE ||
        cap->max_inline_data > OFA_MAX_INLINE)
        return EINVAL;
    return 0;
}

static int check(const struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
    const uint32_t known =
        IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    int error = check_type(context, attr->qp_type);

    if (error != 0)
        return error;
    if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd)
        return EINVAL;
    if ((attr->comp_mask & ~known) ||
        ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags != 0))
        return ofa_absent("an attribute of ibv_create_qp_ex", EOPNOTSUPP);
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
        (attr->send_ops_flags & ~operations_of(attr->qp_type)))
        return ofa_absent("an operation of ibv_create_qp_ex", EOPNOTSUPP);
    return check_caps(attr);
}

/* ---- Creating ------------------------------------------------------------------------------- */

static uint32_t at_least(uint32_t value, uint32_t least)
{
    return value > least ? value : least;
}

static void fill(struct ofa_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
    struct ibv_cq *recv_cq = attr->recv_cq ? attr->recv_cq : attr->send_cq;

    qp->base.qp_context = attr->qp_context;
    qp->base.context = attr->pd->context;
    qp->base.pd = attr->pd;
    qp->base.send_cq = attr->send_cq;
    qp->base.recv_cq = recv_cq;
    qp->base.srq = attr->srq;
    qp->base.qp_type = attr->qp_type;
    (void)pthread_mutex_init(&qp->base.mutex, NULL);
    (void)pthread_cond_init(&qp->base.cond, NULL);
    (void)pthread_mutex_init(&qp->modify_lock, NULL);
    qp->context = ofa_context_of(attr->pd->context);
    qp->pd = ofa_pd_of(attr->pd);
    qp->send_cq = ofa_cq_of(attr->send_cq);
    qp->recv_cq = ofa_cq_of(recv_cq);
    qp->srq = attr->srq ? ofa_srq_of(attr->srq) : NULL;
    qp->cap = attr->cap;
    qp->cap.max_send_wr = at_least(attr->cap.max_send_wr, 1);
    qp->cap.max_send_sge = at_least(attr->cap.max_send_sge, 1);
    qp->cap.max_inline_data = at_least(attr->cap.max_inline_data, INLINE_LEAST);
    if (qp->srq)
        qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
    qp->every_flags = OFA_EACH_REQUEST | (attr->sq_sig_all ? (uint32_t)IBV_SEND_SIGNALED : 0) |
                      (attr->qp_type == IBV_QPT_UC ? OFA_UNRELIABLE : 0);
    qp->holding = true;
    ofa_event_init_qp(qp);
    ofa_drain_init(qp);
    ofa_hand_init(qp);
    qp->parks = qp->context->device->base.transport_type != IBV_TRANSPORT_IWARP;
    /* An RNIC has no RTR; ib_send_bw posts in it if it finds one. */
    qp->sends_from = qp->parks ? IBV_QPS_RTS : IBV_QPS_RTR;
}

static void count(struct ofa_qp *qp, unsigned int by)
{
    atomic_fetch_add_explicit(&qp->pd->children, by, memory_order_acq_rel);
    atomic_fetch_add_explicit(&qp->send_cq->children, by, memory_order_acq_rel);
    atomic_fetch_add_explicit(&qp->recv_cq->children, by, memory_order_acq_rel);
    if (qp->srq)
        atomic_fetch_add_explicit(&qp->srq->children, by, memory_order_acq_rel);
}

static void destroy_locks(struct ofa_qp *qp)
{
    (void)pthread_mutex_destroy(&qp->modify_lock);
    (void)pthread_cond_destroy(&qp->base.cond);
    (void)pthread_mutex_destroy(&qp->base.mutex);
}

static int open_qp(struct ofa_qp *qp)
{
    int error = ofa_link_open(qp->context);

    if (error == 0)
        error = ofa_async_open(qp->context);
    if (error == 0)
        error = ofa_number_add(qp->context, qp);
    if (error != 0)
        return error;
    error = qp->base.qp_type == IBV_QPT_UD ? ofa_datagram_open(qp) : ofa_ep_open(qp);
    if (error != 0)
        ofa_number_remove(qp->context, qp);
    return error;
}

struct ibv_qp *ofa_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    struct ofa_qp *qp;
    int error = check(context, attr);

    if (error != 0) {
        errno = error;
        return NULL;
    }
    qp = calloc(1, sizeof(*qp));
    if (!qp)
        return NULL;
    fill(qp, attr);
    error = open_qp(qp);
    if (error != 0) {
        destroy_locks(qp);
        free(qp);
        errno = error;
        return NULL;
    }
    qp->base.handle = qp->base.qp_num;
    count(qp, 1);
    /* Last: a queue pair that is not created decides nothing. */
    if (qp->srq && ofa_srq_attach(qp->srq, attr->qp_type) != 0) {
        (void)ibv_destroy_qp(&qp->base);
        errno = ofa_absent("a shared receive queue of both datagrams and connections", EOPNOTSUPP);
        return NULL;
    }
    if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
        ofa_wr_init(qp, attr->send_ops_flags);
    attr->cap = qp->cap;
    return &qp->base;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr_ex extended = {.qp_context = attr->qp_context,
                                           .send_cq = attr->send_cq,
                                           .recv_cq = attr->recv_cq,
                                           .srq = attr->srq,
                                           .cap = attr->cap,
                                           .qp_type = attr->qp_type,
                                           .sq_sig_all = attr->sq_sig_all,
                                           .comp_mask = IBV_QP_INIT_ATTR_PD,
                                           .pd = pd};
    struct ibv_qp *qp = ofa_create_qp_ex(pd->context, &extended);

    if (qp)
        attr->cap = extended.cap;
    return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *base)
{
    struct ofa_qp *qp = ofa_qp_of(base);

    return qp->batch.start ? &qp->ex : NULL;
}

/* ---- Destroying ----------------------------------------------------------------------------- */

int ibv_destroy_qp(struct ibv_qp *base)
{
    struct ofa_qp *qp = ofa_qp_of(base);
    int error;

    ofa_number_hide(qp, true);
    ofa_hand_forget(qp);
    ofa_drain_close(qp);
    error = qp->datagrams ? ofa_datagram_close(qp) : ofa_ep_close(qp);
    if (error != 0) {
        ofa_number_hide(qp, false);
        return error;
    }
    ofa_number_remove(qp->context, qp);
    ofa_hold_drop(qp);
    ofa_link_forget(qp);
    ofa_event_drain(qp->context, base, &base->mutex, &base->cond, &base->events_completed,
                    &qp->delivered_events);
    ofa_wr_close(qp);
    ofa_kinds_close(&qp->kinds);
    count(qp, -1u);
    destroy_locks(qp);
    free(qp);
    return 0;
}
