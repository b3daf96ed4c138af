/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program whose instructions ofa_cost.sh counts: ofa_cost OPERATION ROUNDS. In each round
 * cost_post makes BATCH posts. When all completions are there, cost_take takes them. ofa_cost
 * memory REQUESTS INLINE prints the heap bytes of each of 64 idle queue pairs.
 */
#include "verbs_kit.h"

#include <malloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 8
#define BYTES 64u

int cost_post(struct ibv_qp *qp, struct ibv_send_wr *wr);
int cost_receive(struct ibv_qp *qp, struct ibv_recv_wr *wr);
int cost_take(struct ibv_cq *cq, struct ibv_wc *wc);
int cost_wr(struct ibv_qp_ex *ex, const struct ibv_send_wr *wr);

static struct ibv_mr *mr;
static unsigned char memory[2 * BYTES];

struct side {
    struct ibv_cq *sends;
    struct ibv_cq *receives;
    struct ibv_qp *qp;
};

__attribute__((noinline)) int cost_post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
    struct ibv_send_wr *bad;

    return ibv_post_send(qp, wr, &bad);
}

__attribute__((noinline)) int cost_receive(struct ibv_qp *qp, struct ibv_recv_wr *wr)
{
    struct ibv_recv_wr *bad;

    return ibv_post_recv(qp, wr, &bad);
}

__attribute__((noinline)) int cost_take(struct ibv_cq *cq, struct ibv_wc *wc)
{
    return ibv_poll_cq(cq, 1, wc);
}

__attribute__((noinline)) int cost_wr(struct ibv_qp_ex *ex, const struct ibv_send_wr *wr)
{
    ibv_wr_start(ex);
    ex->wr_id = wr->wr_id;
    ex->wr_flags = wr->send_flags & ~(unsigned int)IBV_SEND_INLINE;
    if (wr->opcode == IBV_WR_RDMA_WRITE)
        ibv_wr_rdma_write(ex, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
    else if (wr->opcode == IBV_WR_RDMA_READ)
        ibv_wr_rdma_read(ex, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
    else
        ibv_wr_send(ex);
    if (wr->send_flags & IBV_SEND_INLINE)
        ibv_wr_set_inline_data(ex, (void *)(uintptr_t)wr->sg_list->addr, wr->sg_list->length);
    else
        ibv_wr_set_sge(ex, wr->sg_list->lkey, wr->sg_list->addr, wr->sg_list->length);
    return ibv_wr_complete(ex);
}

/* ---- Two queue pairs of this process, connected by hand ------------------------------------- */

static void open_device(void)
{
    verbs_kit_open();
    mr = ibv_reg_mr(verbs_kit.pd, memory, sizeof(memory),
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    CHECK(mr != NULL);
}

static void close_device(void)
{
    CHECK_EQ(0, ibv_dereg_mr(mr));
    verbs_kit_close();
}

static struct ibv_qp *create(const struct side *side, uint32_t requests, uint32_t inline_room)
{
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = side->sends,
        .recv_cq = side->receives,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = requests,
                .max_recv_wr = 16,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = inline_room},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .pd = verbs_kit.pd,
        .send_ops_flags =
            IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_SEND,
    };
    struct ibv_qp *qp = ibv_create_qp_ex(verbs_kit.context, &attr);

    CHECK(qp != NULL);
    return qp;
}

static void open_side(struct side *side, uint32_t requests, uint32_t inline_room)
{
    side->sends = ibv_create_cq(verbs_kit.context, 64, NULL, NULL, 0);
    side->receives = ibv_create_cq(verbs_kit.context, 64, NULL, NULL, 0);
    CHECK(side->sends && side->receives);
    side->qp = create(side, requests, inline_room);
}

static void close_side(const struct side *side)
{
    CHECK_EQ(0, ibv_destroy_qp(side->qp));
    CHECK_EQ(0, ibv_destroy_cq(side->sends));
    CHECK_EQ(0, ibv_destroy_cq(side->receives));
}

/* ---- Instructions --------------------------------------------------------------------------- */

static const struct operation {
    const char *name;
    enum ibv_wr_opcode opcode;
    unsigned int flags;
    bool extended; /* by ibv_wr_* */
} operations[] = {
    {"write", IBV_WR_RDMA_WRITE, 0, false},
    {"write_inline", IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, false},
    {"read", IBV_WR_RDMA_READ, 0, false},
    {"send", IBV_WR_SEND, 0, false},
    {"send_inline", IBV_WR_SEND, IBV_SEND_INLINE | IBV_SEND_SOLICITED, false},
    {"receive", IBV_WR_SEND, 0, false},
    {"wr_write", IBV_WR_RDMA_WRITE, 0, true},
    {"wr_inline", IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, true},
    {"wr_read", IBV_WR_RDMA_READ, 0, true},
    {"wr_send", IBV_WR_SEND, IBV_SEND_SOLICITED, true},
};

/* Not counted. */
static void take(struct ibv_cq *cq, int count)
{
    struct ibv_wc wc;

    while (count > 0) {
        int taken = ibv_poll_cq(cq, 1, &wc);

        if (taken == 0)
            sched_yield();
        else
            CHECK_EQ(IBV_WC_SUCCESS, wc.status);
        count -= taken;
    }
}

static void take_counted(struct ibv_cq *cq, int count)
{
    struct ibv_wc wc;

    for (int i = 0; i < count; i++) {
        CHECK_EQ(1, cost_take(cq, &wc));
        CHECK_EQ(IBV_WC_SUCCESS, wc.status);
    }
}

static void post_batch(const struct side *near, const struct side *far, const struct operation *op)
{
    struct ibv_sge from = {(uintptr_t)memory, BYTES, mr->lkey};
    struct ibv_sge into = {(uintptr_t)memory + BYTES, BYTES, mr->lkey};
    struct ibv_recv_wr receive = {.sg_list = &into, .num_sge = 1};
    struct ibv_send_wr send = {
        .sg_list = &from,
        .num_sge = 1,
        .opcode = op->opcode,
        .send_flags = IBV_SEND_SIGNALED | op->flags,
        .wr.rdma = {.remote_addr = (uintptr_t)memory + BYTES, .rkey = mr->rkey},
    };

    for (int i = 0; i < BATCH && op->opcode == IBV_WR_SEND; i++)
        CHECK_EQ(0, cost_receive(far->qp, &receive));
    for (int i = 0; i < BATCH; i++)
        CHECK_EQ(0, op->extended ? cost_wr(ibv_qp_to_qp_ex(near->qp), &send)
                                 : cost_post(near->qp, &send));
}

/*
 * The far end answers a Send that follows all others. When the answer has arrived, their
 * acknowledgements, which came before it, have arrived, too.
 */
static void turn(const struct side *near, const struct side *far, int receives)
{
    struct ibv_recv_wr receive = {.num_sge = 0};
    struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_recv_wr *bad_receive;
    struct ibv_send_wr *bad;

    CHECK_EQ(0, ibv_post_recv(near->qp, &receive, &bad_receive));
    CHECK_EQ(0, ibv_post_recv(far->qp, &receive, &bad_receive));
    CHECK_EQ(0, ibv_post_send(near->qp, &send, &bad));
    take(far->receives, receives + 1);
    CHECK_EQ(0, ibv_post_send(far->qp, &send, &bad));
    take(near->receives, 1);
    take(far->sends, 1);
}

static void run(const struct operation *op, unsigned long rounds)
{
    struct side near;
    struct side far;

    open_side(&near, 16, BYTES);
    open_side(&far, 16, BYTES);
    verbs_kit_bring_up(near.qp, far.qp->qp_num);
    verbs_kit_bring_up(far.qp, near.qp->qp_num);
    turn(&near, &far, 0); /* completes the start of the connection */
    take(near.sends, 1);
    for (unsigned long round = 0; round < rounds; round++) {
        post_batch(&near, &far, op);
        if (strcmp(op->name, "receive") == 0) {
            take(near.sends, BATCH); /* acknowledged, so the far end has the messages */
            take_counted(far.receives, BATCH);
            continue;
        }
        turn(&near, &far, op->opcode == IBV_WR_SEND ? BATCH : 0);
        take_counted(near.sends, BATCH);
        take(near.sends, 1);
    }
    close_side(&near);
    close_side(&far);
}

static const struct operation *find(const char *name)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    CHECK_FAIL("no operation %s", name);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void print_memory(uint32_t requests, uint32_t inline_room)
{
    struct ibv_qp *qps[64];
    struct side side;
    struct mallinfo2 before;
    struct mallinfo2 after;

    open_side(&side, requests, inline_room);
    before = mallinfo2();
    for (int i = 0; i < 64; i++)
        qps[i] = create(&side, requests, inline_room);
    after = mallinfo2();
    printf("%zu\n", (after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / 64);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(0, ibv_destroy_qp(qps[i]));
    close_side(&side);
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 10;

    CHECK(argc > 2);
    open_device();
    if (strcmp(argv[1], "memory") == 0)
        print_memory((uint32_t)count, argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0);
    else
        run(find(argv[1]), count);
    close_device();
    check_done();
    return 0;
}
