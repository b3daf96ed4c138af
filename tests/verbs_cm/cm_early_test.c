/* SPDX-License-Identifier: BSD-2-Clause */
/* A message that arrives before the event of rdma_cm that reports its connection. */
#include "support/test_row.h"
#include "verbs_cm/cm_kit.h"

#include "vp/verbs/device/verbs_ep.h"

#include <criterion/criterion.h>

static struct ibv_qp *qp_of(it_ep_handle_t ep)
{
    return verbs_ep_of((struct ual_ep *)(void *)ep)->qp;
}

/* The peer's QP sends; its provider would not, without a connection. Nothing completes there. */
static void peer_sends(const struct kit *kit, it_ep_handle_t peer)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    struct ibv_send_wr *bad;

    stub_join(qp_of(kit->ep), qp_of(peer));
    CHECK_EQ(0, ibv_post_send(qp_of(peer), &wr, &bad));
    fx_empty(kit->node.recv_evd);
}

/* Returns the number of calls of rdma_notify: the passive side of InfiniBand can end the wait. */
static unsigned notices(const struct kit *kit, enum kit_stage stage)
{
    return stage == KIT_CONFIRM && (KIT_ON(kit->kind) & KIT_OTHERS) ? 1 : 0;
}

static void begin(struct kit *kit, enum kit_stage stage)
{
    struct fx_buf buf = fx_node_buf(&kit->node, 64);
    it_ep_handle_t peer = fx_ep(&kit->node, NULL);

    for (unsigned k = 0; k < 3; k++)
        fx_recv(kit->ep, &buf, 0, 64, k);
    kit_reach(kit, stage);
    for (unsigned k = 0; k < 2; k++)
        peer_sends(kit, peer);
    kit_wait_calls(kit, STUB_NOTIFY, notices(kit, stage));
}

static void is_shown_behind_the_event(struct kit *kit, enum kit_stage stage)
{
    static const struct stub_news news = {.responder_resources = 4, .initiator_depth = 3};
    bool answer = stage == KIT_REPLY && (KIT_ON(kit->kind) & KIT_OTHERS);

    begin(kit, stage);
    fx_empty(kit->node.recv_evd);
    kit_tell(kit, answer ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_ESTABLISHED, 0, &news);
    fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    for (unsigned k = 0; k < 2; k++)
        fx_done(kit->node.recv_evd, kit->ep, IT_DTO_RC_RECV_CMPL_EVENT, k, IT_DTO_SUCCESS);
    EXPECT_EQ(notices(kit, stage), stub_rdma_count(STUB_NOTIFY));
    fx_empty(kit->node.recv_evd);
}

/* Without a connection the message was not received. */
static void is_flushed_with_the_attempt(struct kit *kit, enum kit_stage stage)
{
    begin(kit, stage);
    kit_tell(kit, RDMA_CM_EVENT_CONNECT_ERROR, 0, NULL);
    kit_expect_failed(kit, IT_CN_REJ_OTHER);
    for (unsigned k = 0; k < 3; k++)
        fx_done(kit->node.recv_evd, kit->ep, IT_DTO_RC_RECV_CMPL_EVENT, k, IT_DTO_ERR_FLUSHED);
    fx_empty(kit->node.recv_evd);
}

static void as_initiator(struct kit *kit)
{
    is_shown_behind_the_event(kit, KIT_REPLY);
}

static void as_responder(struct kit *kit)
{
    is_shown_behind_the_event(kit, KIT_CONFIRM);
}

static void without_connection(struct kit *kit)
{
    is_flushed_with_the_attempt(kit, KIT_CONFIRM);
}

TEST_ROW(cm_early, as_initiator, kit_each_kind, as_initiator);
TEST_ROW(cm_early, as_responder, kit_each_kind, as_responder);
TEST_ROW(cm_early, without_connection, kit_each_kind, without_connection);
