/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A window of type 2 that is bound cannot be bound again before it is invalidated, unless its queue
 * pair has been reset meanwhile.
 */
#include "verbs_kit.h"

enum {
    DEPTH = 8,
    OCTETS = 128
};

static unsigned char memory[OCTETS];
static struct ibv_mr *region;

struct pair {
    struct ibv_cq *cq;
    struct ibv_qp *a;
    struct ibv_qp *b;
};

static struct ibv_qp *new_qp(struct ibv_cq *cq)
{
    struct ibv_qp_init_attr init = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = {DEPTH, DEPTH, 1, 1, 0}};
    struct ibv_qp *qp = ibv_create_qp(verbs_kit.pd, &init);

    CHECK(qp != NULL);
    return qp;
}

static void bring_up(const struct pair *pair)
{
    verbs_kit_bring_up(pair->a, pair->b->qp_num);
    verbs_kit_bring_up(pair->b, pair->a->qp_num);
}

static void open_pair(struct pair *pair)
{
    pair->cq = ibv_create_cq(verbs_kit.context, DEPTH, NULL, NULL, 0);
    CHECK(pair->cq != NULL);
    pair->a = new_qp(pair->cq);
    pair->b = new_qp(pair->cq);
    bring_up(pair);
}

static void close_pair(const struct pair *pair)
{
    CHECK_EQ(0, ibv_destroy_qp(pair->a));
    CHECK_EQ(0, ibv_destroy_qp(pair->b));
    CHECK_EQ(0, ibv_destroy_cq(pair->cq));
}

/* Posts the request, which must end with this status. */
static void run(const struct pair *pair, struct ibv_send_wr *wr, enum ibv_wc_status status)
{
    struct ibv_send_wr *bad;

    wr->send_flags = IBV_SEND_SIGNALED;
    CHECK_EQ(0, ibv_post_send(pair->b, wr, &bad));
    CHECK_EQ(status, verbs_kit_completion(pair->cq).status);
}

static void bind_window(const struct pair *pair, struct ibv_mw *window, uint32_t rkey,
                        enum ibv_wc_status status)
{
    struct ibv_send_wr wr = {
        .opcode = IBV_WR_BIND_MW,
        .bind_mw = {.mw = window,
                    .rkey = rkey,
                    .bind_info = {.mr = region,
                                  .addr = (uintptr_t)memory,
                                  .length = OCTETS,
                                  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}}};

    run(pair, &wr, status);
}

static void invalidate(const struct pair *pair, uint32_t rkey)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = rkey};

    run(pair, &wr, IBV_WC_SUCCESS);
}

/* The second bind is on the same queue pair or on another one. */
static void bound_twice(bool same)
{
    struct ibv_mw *window = ibv_alloc_mw(verbs_kit.pd, IBV_MW_TYPE_2);
    uint32_t rkey = ibv_inc_rkey(window->rkey);
    struct pair first;
    struct pair second;

    open_pair(&first);
    open_pair(&second);
    bind_window(&first, window, rkey, IBV_WC_SUCCESS);
    invalidate(&first, rkey);
    bind_window(&first, window, rkey, IBV_WC_SUCCESS);
    bind_window(same ? &first : &second, window, ibv_inc_rkey(rkey), IBV_WC_MW_BIND_ERR);
    close_pair(&first);
    close_pair(&second);
    CHECK_EQ(0, ibv_dealloc_mw(window));
}

static void bound_before_reset(void)
{
    struct ibv_mw *window = ibv_alloc_mw(verbs_kit.pd, IBV_MW_TYPE_2);
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    uint32_t rkey = ibv_inc_rkey(window->rkey);
    struct pair pair;

    open_pair(&pair);
    bind_window(&pair, window, rkey, IBV_WC_SUCCESS);
    CHECK_EQ(0, ibv_modify_qp(pair.a, &reset, IBV_QP_STATE));
    CHECK_EQ(0, ibv_modify_qp(pair.b, &reset, IBV_QP_STATE));
    bring_up(&pair);
    bind_window(&pair, window, ibv_inc_rkey(rkey), IBV_WC_SUCCESS);
    close_pair(&pair);
    CHECK_EQ(0, ibv_dealloc_mw(window));
}

/* A window of type 1 gets another key each time. */
static void type_1(void)
{
    struct ibv_mw *window = ibv_alloc_mw(verbs_kit.pd, IBV_MW_TYPE_1);
    struct ibv_mw_bind bound = {.send_flags = IBV_SEND_SIGNALED,
                                .bind_info = {.mr = region,
                                              .addr = (uintptr_t)memory,
                                              .length = OCTETS,
                                              .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
    struct pair pair;

    open_pair(&pair);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(0, ibv_bind_mw(pair.b, window, &bound));
        CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(pair.cq).status);
    }
    close_pair(&pair);
    CHECK_EQ(0, ibv_dealloc_mw(window));
}

int main(void)
{
    verbs_kit_open();
    region = ibv_reg_mr(verbs_kit.pd, memory, sizeof(memory),
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND);
    CHECK(region != NULL);
    bound_twice(true);
    bound_twice(false);
    bound_before_reset();
    type_1();
    CHECK_EQ(0, ibv_dereg_mr(region));
    verbs_kit_close();
    check_done();
    return 0;
}
