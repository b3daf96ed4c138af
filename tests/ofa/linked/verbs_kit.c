/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs_kit.h"

#include <sched.h>

struct verbs_kit verbs_kit;
uint8_t verbs_kit_rnr_retry = VERBS_KIT_FOR_EVER;
uint8_t verbs_kit_timeout = 22; /* a minute: the peer may have to wait for a processor */
bool verbs_kit_peer_is_local;

static const union ibv_gid local_gid = {.raw = {[10] = 0xff, 0xff, 127, 0, 0, 1}};

void verbs_kit_open(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);

    CHECK(list && list[0]);
    verbs_kit.context = ibv_open_device(list[0]);
    CHECK(verbs_kit.context != NULL);
    ibv_free_device_list(list);
    verbs_kit.pd = ibv_alloc_pd(verbs_kit.context);
    CHECK(verbs_kit.pd != NULL);
}

void verbs_kit_close(void)
{
    CHECK_EQ(0, ibv_dealloc_pd(verbs_kit.pd));
    CHECK_EQ(0, ibv_close_device(verbs_kit.context));
}

void verbs_kit_bring_to_rtr(struct ibv_qp *qp, uint32_t peer)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
        .path_mtu = IBV_MTU_4096,
        .dest_qp_num = peer,
        .max_dest_rd_atomic = 8,
        .ah_attr = {.is_global = 1, .port_num = 1},
    };

    CHECK_EQ(0,
             ibv_modify_qp(qp, &attr,
                           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    attr.qp_state = IBV_QPS_RTR;
    if (verbs_kit_peer_is_local)
        attr.ah_attr.grh.dgid = local_gid;
    else
        CHECK_EQ(0, ibv_query_gid(verbs_kit.context, 1, 0, &attr.ah_attr.grh.dgid));
    CHECK_EQ(0,
             ibv_modify_qp(qp, &attr,
                           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                               IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
}

void verbs_kit_bring_up(struct ibv_qp *qp, uint32_t peer)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTS,
        .max_rd_atomic = 8,
        .timeout = verbs_kit_timeout,
        .retry_cnt = 7,
        .rnr_retry = verbs_kit_rnr_retry,
    };

    verbs_kit_bring_to_rtr(qp, peer);
    CHECK_EQ(0, ibv_modify_qp(qp, &attr,
                              IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

void verbs_kit_bring_up_ud(struct ibv_qp *qp, uint32_t qkey)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey};

    CHECK_EQ(
        0, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    attr.qp_state = IBV_QPS_RTR;
    CHECK_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
    attr.qp_state = IBV_QPS_RTS;
    CHECK_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

struct ibv_wc verbs_kit_completion(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    int count;

    while ((count = ibv_poll_cq(cq, 1, &wc)) == 0)
        (void)sched_yield();
    CHECK_EQ(1, count);
    return wc;
}
