/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs of ids, with their completion queues and shared receive queues. */
#include "cm/ofa_cm.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <string.h>

/* ---- Completion queues, if the program has none --------------------------------------------- */

static void destroy_cqs(struct rdma_cm_id *id)
{
    if (id->recv_cq)
        (void)ibv_destroy_cq(id->recv_cq);
    if (id->recv_cq_channel)
        (void)ibv_destroy_comp_channel(id->recv_cq_channel);
    if (id->send_cq && id->send_cq != id->recv_cq)
        (void)ibv_destroy_cq(id->send_cq);
    if (id->send_cq_channel && id->send_cq_channel != id->recv_cq_channel)
        (void)ibv_destroy_comp_channel(id->send_cq_channel);
    id->recv_cq = id->send_cq = NULL;
    id->recv_cq_channel = id->send_cq_channel = NULL;
}

static int create_cq(struct rdma_cm_id *id, uint32_t size, struct ibv_comp_channel **channel,
                     struct ibv_cq **cq)
{
    if (size == 0)
        return 0;
    *channel = ibv_create_comp_channel(id->verbs);
    if (!*channel)
        return errno;
    *cq = ibv_create_cq(id->verbs, (int)size, id, *channel, 0);
    return *cq ? 0 : errno;
}

static int create_cqs(struct rdma_cm_id *id, const struct ibv_qp_init_attr_ex *attr)
{
    int error = create_cq(id, attr->recv_cq ? 0 : attr->cap.max_recv_wr, &id->recv_cq_channel,
                          &id->recv_cq);

    if (error == 0)
        error = create_cq(id, attr->send_cq ? 0 : attr->cap.max_send_wr, &id->send_cq_channel,
                          &id->send_cq);
    if (error != 0)
        destroy_cqs(id);
    return error;
}

/* ---- Queue pairs ---------------------------------------------------------------------------- */

/* Fills in the attributes for a transition of a UD queue pair. */
static void fill_datagrams(struct ibv_qp_attr *attr, int *mask)
{
    attr->pkey_index = 0;
    attr->port_num = 1;
    attr->qkey = RDMA_UDP_QKEY;
    attr->sq_psn = 0;
    *mask = IBV_QP_STATE;
    if (attr->qp_state == IBV_QPS_INIT)
        *mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
    else if (attr->qp_state == IBV_QPS_RTS)
        *mask |= IBV_QP_SQ_PSN;
}

/* Moves a UD queue pair to RTS: it waits for no connection. */
static void move_datagrams(struct ibv_qp *qp)
{
    static const enum ibv_qp_state steps[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct ibv_qp_attr attr = {.qp_state = steps[i]};
        int mask;

        fill_datagrams(&attr, &mask);
        (void)ibv_modify_qp(qp, &attr, mask);
    }
}

static int create_qp(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
    struct ibv_qp *qp;
    int error;

    if (id->qp || !id->verbs || (attr->qp_type == IBV_QPT_UD) != (id->qp_type == IBV_QPT_UD))
        return EINVAL;
    if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) {
        attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
        attr->pd = id->pd;
    }
    if (attr->pd->context != id->verbs)
        return EINVAL;
    error = create_cqs(id, attr);
    if (error != 0)
        return error;
    if (!attr->send_cq)
        attr->send_cq = id->send_cq;
    if (!attr->recv_cq)
        attr->recv_cq = id->recv_cq;
    if (id->srq && !attr->srq)
        attr->srq = id->srq;
    qp = ibv_create_qp_ex(id->verbs, attr);
    if (!qp) {
        error = errno;
        /* The program may try again with these attributes. */
        if (attr->send_cq == id->send_cq)
            attr->send_cq = NULL;
        if (attr->recv_cq == id->recv_cq)
            attr->recv_cq = NULL;
        destroy_cqs(id);
        return error;
    }
    if (qp->qp_type == IBV_QPT_UD)
        move_datagrams(qp);
    else
        (void)cm_door()->set_state(qp, IBV_QPS_INIT);
    id->qp = qp;
    id->pd = attr->pd;
    return 0;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
    return cm_result(create_qp(id, attr));
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr_ex extended;
    int error;

    memset(&extended, 0, sizeof(extended));
    memcpy(&extended, attr, sizeof(*attr)); /* the same members first */
    extended.comp_mask = IBV_QP_INIT_ATTR_PD;
    extended.pd = pd ? pd : id->pd;
    error = create_qp(id, &extended);
    if (error == 0)
        memcpy(attr, &extended, sizeof(*attr));
    return cm_result(error);
}

void rdma_destroy_qp(struct rdma_cm_id *base)
{
    struct cm_id *id = cm_id_of(base);

    (void)ibv_destroy_qp(base->qp);
    base->qp = NULL;
    cm_id_set_qp(id, NULL);
    destroy_cqs(base);
}

/* ---- Shared receive queues ------------------------------------------------------------------ */

int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
    struct ibv_srq *srq;

    if (id->srq || !id->verbs)
        return cm_result(EINVAL);
    if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd) {
        attr->pd = id->pd;
        attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
    }
    srq = ibv_create_srq_ex(id->verbs, attr);
    if (!srq)
        return -1;
    if (!id->pd)
        id->pd = attr->pd;
    id->srq = srq;
    return 0;
}

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct ibv_srq_init_attr_ex extended;
    int result;

    memset(&extended, 0, sizeof(extended));
    memcpy(&extended, attr, sizeof(*attr));
    extended.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
    extended.srq_type = IBV_SRQT_BASIC;
    extended.pd = pd ? pd : id->pd;
    result = rdma_create_srq_ex(id, &extended);
    memcpy(attr, &extended, sizeof(*attr));
    return result;
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
    (void)ibv_destroy_srq(id->srq);
    id->srq = NULL;
}

/* ---- For programs that move their queue pair themselves -------------------------------------- */

/* No queue pair has this number: with it, ibv_modify_qp leaves the connection to rdma_cm. */
#define NUMBER_OF_CM 2

static void fill_init(struct ibv_qp_attr *attr, int *mask)
{
    attr->pkey_index = 0;
    attr->port_num = 1;
    attr->qp_access_flags =
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    *mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

static void fill_rtr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    attr->path_mtu = IBV_MTU_4096;
    attr->dest_qp_num = NUMBER_OF_CM;
    attr->rq_psn = 0;
    attr->max_dest_rd_atomic = id->responder_resources;
    attr->min_rnr_timer = 0;
    memset(&attr->ah_attr, 0, sizeof(attr->ah_attr));
    attr->ah_attr.is_global = 1;
    attr->ah_attr.port_num = 1;
    *mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static void fill_rts(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    attr->timeout = id->ack_timeout;
    attr->retry_cnt = CM_RETRIES_MAX;
    attr->rnr_retry = CM_RETRIES_MAX;
    attr->sq_psn = 0;
    attr->max_rd_atomic = id->initiator_depth;
    *mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
            IBV_QP_MAX_QP_RD_ATOMIC;
}

int rdma_init_qp_attr(struct rdma_cm_id *base, struct ibv_qp_attr *attr, int *mask)
{
    const struct cm_id *id = cm_id_of(base);

    if (!base->verbs)
        return cm_result(EINVAL);
    if (attr->qp_state != IBV_QPS_INIT && attr->qp_state != IBV_QPS_RTR &&
        attr->qp_state != IBV_QPS_RTS)
        return cm_result(EINVAL);
    if (base->qp_type == IBV_QPT_UD)
        fill_datagrams(attr, mask);
    else if (attr->qp_state == IBV_QPS_INIT)
        fill_init(attr, mask);
    else if (attr->qp_state == IBV_QPS_RTR)
        fill_rtr(id, attr, mask);
    else
        fill_rts(id, attr, mask);
    return 0;
}
