/* SPDX-License-Identifier: BSD-2-Clause */
/* States and attributes of queue pairs. No transition waits for the peer. */
#include "datagram/ofa_datagram.h"
#include "link/ofa_hand.h"
#include "link/ofa_link.h"
#include "link/ofa_number.h"
#include "post/ofa_post.h"
#include "qp/ofa_drain.h"
#include "qp/ofa_qp.h"
#include "queue/ofa_park.h"

#include <errno.h>
#include <string.h>

static enum ibv_qp_state state_of(struct ofa_qp *qp)
{
    return (enum ibv_qp_state)atomic_load_explicit(&qp->state, memory_order_relaxed);
}

static int check_values(const struct ibv_qp_attr *attr, int mask)
{
    if ((mask & IBV_QP_PORT) && attr->port_num != 1)
        return EINVAL;
    if (mask & IBV_QP_ALT_PATH)
        return EINVAL; /* only ports of InfiniBand have another path */
    if ((mask & IBV_QP_PKEY_INDEX) && attr->pkey_index != 0)
        return EINVAL;
    if ((mask & IBV_QP_PATH_MTU) && (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096))
        return EINVAL;
    if ((mask & IBV_QP_AV) &&
        (attr->ah_attr.port_num != 1 ||
         (attr->ah_attr.is_global && attr->ah_attr.grh.sgid_index >= OFA_MAX_GIDS)))
        return EINVAL;
    if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > OFA_MAX_RD_ATOM)
        return EINVAL;
    if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > OFA_MAX_RD_ATOM)
        return EINVAL;
    if ((mask & IBV_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31)
        return EINVAL;
    if ((mask & IBV_QP_TIMEOUT) && attr->timeout > 31)
        return EINVAL;
    if (((mask & IBV_QP_RETRY_CNT) && attr->retry_cnt > 7) ||
        ((mask & IBV_QP_RNR_RETRY) && attr->rnr_retry > 7))
        return EINVAL;
    return 0;
}

/* ---- Storing -------------------------------------------------------------------------------- */

#define STORE(bit, member)                                                                         \
    do {                                                                                           \
        if (mask & (bit))                                                                          \
            qp->attr.member = attr->member;                                                        \
    } while (0)

static void store_locked(struct ofa_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    STORE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
    STORE(IBV_QP_PKEY_INDEX, pkey_index);
    STORE(IBV_QP_PORT, port_num);
    STORE(IBV_QP_QKEY, qkey);
    STORE(IBV_QP_AV, ah_attr);
    STORE(IBV_QP_PATH_MTU, path_mtu);
    STORE(IBV_QP_TIMEOUT, timeout);
    STORE(IBV_QP_RETRY_CNT, retry_cnt);
    STORE(IBV_QP_RNR_RETRY, rnr_retry);
    STORE(IBV_QP_RQ_PSN, rq_psn);
    STORE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
    STORE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
    STORE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
    STORE(IBV_QP_SQ_PSN, sq_psn);
    STORE(IBV_QP_DEST_QPN, dest_qp_num);
    STORE(IBV_QP_PATH_MIG_STATE, path_mig_state);
}

static void store(struct ofa_qp *qp, const struct ibv_qp_attr *attr, int mask,
                  enum ibv_qp_state next)
{
    (void)pthread_mutex_lock(&qp->context->lock);
    store_locked(qp, attr, mask);
    ofa_park_limit(qp, qp->attr.timeout, qp->attr.retry_cnt);
    atomic_store_explicit(&qp->state, (int)next, memory_order_relaxed);
    qp->base.state = next;
    (void)pthread_mutex_unlock(&qp->context->lock);
}

static void apply_access(struct ofa_qp *qp)
{
    unsigned int access = qp->attr.qp_access_flags;
    it_ep_attributes_t attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.srv.rc.rdma_read_enable = (access & IBV_ACCESS_REMOTE_READ) != 0;
    attributes.srv.rc.rdma_write_enable = (access & IBV_ACCESS_REMOTE_WRITE) != 0;
    attributes.srv.rc.atomics_enable = (access & IBV_ACCESS_REMOTE_ATOMIC) != 0;
    (void)it_ep_modify(qp->ep,
                       (it_ep_param_mask_t)(IT_EP_PARAM_RDMA_RD_ENABLE |
                                            IT_EP_PARAM_RDMA_WR_ENABLE |
                                            IT_EP_PARAM_ATOMICS_ENABLE),
                       &attributes);
}

/* ---- Transitions ---------------------------------------------------------------------------- */

/* Moves to RESET: drops posted work, keeps the number. */
static int reset(struct ofa_qp *qp)
{
    int error = 0;

    ofa_hand_stop_asking(qp);
    ofa_timer_cancel(&qp->patience);
    if (!qp->datagrams)
        error = ofa_ep_clear(qp);
    if (error != 0)
        return error;
    atomic_store(&qp->last_due, false);
    ofa_link_forget(qp);
    ofa_hold_drop(qp);
    ofa_kinds_clear(&qp->kinds);
    (void)pthread_mutex_lock(&qp->context->lock);
    qp->link.state = OFA_LINK_IDLE;
    qp->link.nonce = 0;
    atomic_store_explicit(&qp->give_up_ns, 0, memory_order_relaxed);
    memset(&qp->attr, 0, sizeof(qp->attr));
    (void)pthread_mutex_unlock(&qp->context->lock);
    return 0;
}

static int connect_by_hand(struct ofa_qp *qp)
{
    qp->parks = true; /* no RNIC has such connections, so programs expect InfiniBand's behaviour */
    if (ofa_hand_is_own_peer(qp)) {
        if (ofa_ep_split(qp) != 0)
            return ENOMEM;
        ofa_link_limit_hold(qp);
    }
    return ofa_hand_step(qp);
}

/* SQD: notify tells whether the program wants an event when the send queue is drained. */
static int enter(struct ofa_qp *qp, enum ibv_qp_state next, int mask, bool notify)
{
    if (next == IBV_QPS_SQD)
        ofa_drain_begin(qp, notify);
    if (qp->datagrams) {
        ofa_datagram_enter(qp, next);
        return 0;
    }
    if (mask & IBV_QP_ACCESS_FLAGS)
        apply_access(qp);
    if (next == IBV_QPS_RTR || next == IBV_QPS_RTS)
        ofa_link_limit_hold(qp);
    switch (next) {
    case IBV_QPS_INIT:
        return qp->by_cm ? 0 : ofa_hand_listen(qp->context, qp->base.qp_num);
    case IBV_QPS_RTR:
        return qp->by_cm ? 0 : connect_by_hand(qp);
    case IBV_QPS_RTS:
        return qp->by_cm ? 0 : ofa_hand_step(qp);
    case IBV_QPS_ERR:
        return ofa_link_disconnect(&qp->base);
    case IBV_QPS_RESET:
    case IBV_QPS_SQD:
    case IBV_QPS_SQE:
    case IBV_QPS_UNKNOWN:
    default:
        return 0;
    }
}

static int modify(struct ofa_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    enum ibv_qp_state now = state_of(qp);
    enum ibv_qp_state next = mask & IBV_QP_STATE ? attr->qp_state : now;
    int error;

    if ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != now)
        return EINVAL;
    error = ofa_transition_check(qp->base.qp_type, now, next, mask);
    if (error == 0)
        error = check_values(attr, mask);
    if (error != 0)
        return error;
    if (next == IBV_QPS_RESET)
        error = reset(qp);
    if (error != 0)
        return error;
    store(qp, attr, mask, next);
    error = enter(qp, next, mask, (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) && attr->en_sqd_async_notify);
    if (now == IBV_QPS_SQD && next == IBV_QPS_RTS)
        ofa_drain_end(qp);
    return error;
}

int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
    struct ofa_qp *qp = ofa_qp_of(base);
    int error;

    (void)pthread_mutex_lock(&qp->modify_lock);
    error = modify(qp, attr, mask);
    (void)pthread_mutex_unlock(&qp->modify_lock);
    return error;
}

int ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask,
                 struct ibv_qp_init_attr *init)
{
    struct ofa_qp *qp = ofa_qp_of(base);

    (void)mask;
    (void)pthread_mutex_lock(&qp->context->lock);
    *attr = qp->attr;
    attr->qp_state = attr->cur_qp_state = base->state = state_of(qp);
    (void)pthread_mutex_unlock(&qp->context->lock);
    attr->cap = qp->cap;
    *init = (struct ibv_qp_init_attr){.qp_context = base->qp_context,
                                      .send_cq = base->send_cq,
                                      .recv_cq = base->recv_cq,
                                      .srq = base->srq,
                                      .cap = qp->cap,
                                      .qp_type = base->qp_type,
                                      .sq_sig_all = (qp->every_flags & IBV_SEND_SIGNALED) != 0};
    return 0;
}

/* ---- The door ------------------------------------------------------------------------------- */

struct ibv_qp *ofa_qp_find(struct ibv_context *base, uint32_t number)
{
    struct ofa_context *context = ofa_context_of(base);
    struct ofa_qp *qp;

    (void)pthread_mutex_lock(&context->lock);
    qp = ofa_number_find_locked(context, number);
    (void)pthread_mutex_unlock(&context->lock);
    return qp ? &qp->base : NULL;
}

void ofa_qp_show_state(struct ibv_context *base, uint32_t number)
{
    struct ofa_context *context = ofa_context_of(base);
    struct ofa_qp *qp;

    (void)pthread_mutex_lock(&context->lock);
    qp = ofa_number_find_locked(context, number);
    if (qp)
        qp->base.state = state_of(qp);
    (void)pthread_mutex_unlock(&context->lock);
}

int ofa_qp_set_state(struct ibv_qp *base, enum ibv_qp_state state)
{
    struct ofa_qp *qp = ofa_qp_of(base);

    (void)pthread_mutex_lock(&qp->context->lock);
    if (state_of(qp) != IBV_QPS_ERR) {
        atomic_store_explicit(&qp->state, (int)state, memory_order_relaxed);
        base->state = state;
        qp->attr.port_num = 1;
    }
    (void)pthread_mutex_unlock(&qp->context->lock);
    return 0;
}
