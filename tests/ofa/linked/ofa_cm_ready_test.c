/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends ahead of their receive on connections by rdma_cm. As with InfiniBand, the peer's
 * rnr_retry_count says how long they wait; 0 counts as 1, since the peer's program may have to wait
 * for a processor.
 */
#include "cm_kit.h"
#include "verbs_kit.h"

#include <rdma/rdma_verbs.h>
#include <time.h>

enum {
    BYTE = 77,
    FOR_EVER = 7,
    TRY_MS = 655 /* of a queue pair that rdma_cm moves */
};

struct pair {
    struct rdma_cm_id *listener;
    struct rdma_cm_id *caller;
    struct rdma_cm_id *answerer;
    struct ibv_mr *from;
    struct ibv_mr *to;
};

static unsigned char memory[2];
static uint8_t depth; /* of both directions, of the next pair */

static struct pair open_pair(uint8_t by_caller, uint8_t by_answerer)
{
    struct rdma_conn_param param = {.responder_resources = depth,
                                    .initiator_depth = depth,
                                    .retry_count = 7,
                                    .rnr_retry_count = by_caller};
    struct pair pair = {.listener = cm_kit_listen_at(1, 0)};

    pair.caller = cm_kit_resolve(1, rdma_get_src_port(pair.listener));
    cm_kit_equip(pair.caller);
    CHECK_EQ(0, rdma_connect(pair.caller, &param));
    pair.answerer = cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_CONNECT_REQUEST);
    cm_kit_equip(pair.answerer);
    param.rnr_retry_count = by_answerer;
    CHECK_EQ(0, rdma_accept(pair.answerer, &param));
    (void)cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ESTABLISHED);
    (void)cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ESTABLISHED);
    pair.from = rdma_reg_msgs(pair.caller, memory, 1);
    pair.to = rdma_reg_msgs(pair.answerer, memory + 1, 1);
    CHECK(pair.from && pair.to);
    return pair;
}

static void close_pair(struct pair *pair)
{
    CHECK_EQ(0, rdma_dereg_mr(pair->from));
    CHECK_EQ(0, rdma_dereg_mr(pair->to));
    cm_kit_destroy(pair->caller);
    cm_kit_destroy(pair->answerer);
    CHECK_EQ(0, rdma_destroy_id(pair->listener));
}

static void send_one(const struct pair *pair)
{
    memory[0] = BYTE;
    memory[1] = 0;
    CHECK_EQ(0, rdma_post_send(pair->caller, NULL, memory, 1, pair->from, IBV_SEND_SIGNALED));
}

static enum ibv_wc_status sent(const struct pair *pair)
{
    struct ibv_wc wc;

    CHECK_EQ(1, rdma_get_send_comp(pair->caller, &wc));
    return wc.status;
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void receive_one(const struct pair *pair)
{
    struct ibv_wc wc;

    CHECK_EQ(0, rdma_post_recv(pair->answerer, NULL, memory + 1, 1, pair->to));
    CHECK_EQ(IBV_WC_SUCCESS, sent(pair));
    CHECK_EQ(1, rdma_get_recv_comp(pair->answerer, &wc));
    CHECK_EQ(IBV_WC_SUCCESS, wc.status);
    CHECK_EQ(BYTE, memory[1]);
}

/* The receiving side sets no limit; that of the sending side is for the other direction. */
static void without_limit(void)
{
    struct pair pair = open_pair(0, FOR_EVER);
    int64_t end = now_ms() + 2 * TRY_MS;
    struct ibv_wc wc;

    send_one(&pair);
    while (now_ms() < end)
        CHECK_EQ(0, ibv_poll_cq(pair.caller->send_cq, 1, &wc));
    receive_one(&pair);
    close_pair(&pair);
}

static void until(uint8_t by_answerer, int64_t limit_ms)
{
    struct pair pair = open_pair(FOR_EVER, by_answerer);
    int64_t start = now_ms();

    send_one(&pair);
    CHECK_EQ(IBV_WC_RNR_RETRY_EXC_ERR, sent(&pair));
    CHECK(now_ms() - start >= limit_ms);
    close_pair(&pair);
}

/* A queue pair shows the limit of its own Sends, and what the peer may do. */
static void shown(uint8_t with_depth, int access)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;
    struct pair pair;

    depth = with_depth;
    pair = open_pair(1, FOR_EVER);
    depth = 0;
    CHECK_EQ(0, ibv_query_qp(pair.caller->qp, &attr, IBV_QP_RNR_RETRY, &init));
    CHECK_EQ(FOR_EVER, attr.rnr_retry);
    CHECK_EQ(access, attr.qp_access_flags);
    close_pair(&pair);
}

/* Takes the queue pair from the id, with its CQs. */
static struct rdma_cm_id part(struct rdma_cm_id *id)
{
    struct rdma_cm_id parts = *id;

    id->qp = NULL;
    id->send_cq = id->recv_cq = NULL;
    id->send_cq_channel = id->recv_cq_channel = NULL;
    CHECK_EQ(0, rdma_destroy_id(id));
    return parts;
}

static void destroy_parts(const struct rdma_cm_id *parts)
{
    CHECK_EQ(0, ibv_destroy_qp(parts->qp));
    CHECK_EQ(0, ibv_destroy_cq(parts->send_cq));
    CHECK_EQ(0, ibv_destroy_cq(parts->recv_cq));
    CHECK_EQ(0, ibv_destroy_comp_channel(parts->send_cq_channel));
    CHECK_EQ(0, ibv_destroy_comp_channel(parts->recv_cq_channel));
}

static void reset(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

    CHECK_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

/* What rdma_cm has set does not outlive RESET: the same queue pairs, now connected by hand. */
static void by_hand_afterwards(void)
{
    struct pair pair = open_pair(FOR_EVER, 1);
    struct rdma_cm_id caller = part(pair.caller);
    struct rdma_cm_id answerer = part(pair.answerer);
    int64_t end;
    struct ibv_wc wc;

    CHECK_EQ(0, rdma_destroy_id(pair.listener));
    reset(caller.qp);
    reset(answerer.qp);
    verbs_kit_bring_up(caller.qp, answerer.qp->qp_num);
    verbs_kit_bring_up(answerer.qp, caller.qp->qp_num);
    pair.caller = &caller;
    pair.answerer = &answerer;
    send_one(&pair);
    end = now_ms() + 2 * TRY_MS;
    while (now_ms() < end)
        CHECK_EQ(0, ibv_poll_cq(caller.send_cq, 1, &wc));
    CHECK_EQ(0, rdma_post_recv(&answerer, NULL, memory + 1, 1, pair.to));
    CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(caller.send_cq).status);
    CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(answerer.recv_cq).status);
    CHECK_EQ(0, rdma_dereg_mr(pair.from));
    CHECK_EQ(0, rdma_dereg_mr(pair.to));
    destroy_parts(&caller);
    destroy_parts(&answerer);
}

int main(void)
{
    cm_kit_open();
    verbs_kit_open();
    shown(0, IBV_ACCESS_REMOTE_WRITE);
    shown(1, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    by_hand_afterwards();
    without_limit();
    until(0, TRY_MS);
    until(1, TRY_MS);
    until(2, (int64_t)2 * TRY_MS);
    verbs_kit_close();
    cm_kit_close();
    check_done();
    return 0;
}
