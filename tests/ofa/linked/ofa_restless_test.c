/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program changes memory while its own Writes and Sends are sent from there: tables of state that
 * are written to others all the time. The peer gets old or new octets; no device ends the
 * connection.
 */
#include "verbs_kit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    OCTETS = 65536,
    PARTS = 2, /* segments of a message */
    MESSAGES = 3000,
    AT_ONCE = 8,
    SKIPPED = 77
};

struct bed {
    struct ibv_mr *from;
    struct ibv_mr *to;
    struct ibv_cq *cq;
    struct ibv_cq *receive_cq;
    struct ibv_qp *a;
    struct ibv_qp *b;
};

static atomic_bool over;

static void *change(void *argument)
{
    volatile unsigned char *octets = argument;

    for (unsigned char value = 0; !atomic_load(&over); value++)
        for (size_t at = 0; at < OCTETS; at += 64)
            octets[at] = value;
    return NULL;
}

static struct ibv_qp *new_qp(const struct bed *bed)
{
    struct ibv_qp_init_attr init = {.send_cq = bed->cq,
                                    .recv_cq = bed->receive_cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = AT_ONCE,
                                            .max_recv_wr = AT_ONCE,
                                            .max_send_sge = PARTS,
                                            .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(verbs_kit.pd, &init);

    CHECK(qp != NULL);
    return qp;
}

static struct ibv_mr *new_region(void)
{
    unsigned char *octets = calloc(1, OCTETS);
    struct ibv_mr *mr = octets ? ibv_reg_mr(verbs_kit.pd, octets, OCTETS,
                                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
                               : NULL;

    CHECK(mr != NULL);
    return mr;
}

static void receive(const struct bed *bed)
{
    struct ibv_sge sge = {(uintptr_t)bed->to->addr, OCTETS, bed->to->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;

    CHECK_EQ(0, ibv_post_recv(bed->b, &wr, &bad));
}

/* The Write, or the Send, of that many segments. */
static void post(const struct bed *bed, enum ibv_wr_opcode opcode, int parts)
{
    struct ibv_sge list[PARTS];
    struct ibv_send_wr *bad;
    struct ibv_send_wr wr = {.sg_list = list,
                             .num_sge = parts,
                             .opcode = opcode,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)bed->to->addr, bed->to->rkey}};

    for (int i = 0; i < parts; i++)
        list[i] = (struct ibv_sge){(uintptr_t)bed->from->addr + (size_t)i * (OCTETS / PARTS),
                                   (uint32_t)(OCTETS / parts), bed->from->lkey};
    if (opcode == IBV_WR_SEND)
        receive(bed);
    CHECK_EQ(0, ibv_post_send(bed->a, &wr, &bad));
}

static void finish(const struct bed *bed, enum ibv_wr_opcode opcode)
{
    CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(bed->cq).status);
    if (opcode == IBV_WR_SEND)
        CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(bed->receive_cq).status);
}

static void run(const struct bed *bed, enum ibv_wr_opcode opcode, int parts)
{
    for (int i = 0; i < MESSAGES; i++) {
        post(bed, opcode, parts);
        if (i >= AT_ONCE - 1)
            finish(bed, opcode);
    }
    for (int i = 0; i < AT_ONCE - 1; i++)
        finish(bed, opcode);
}

static void release(struct ibv_mr *mr)
{
    void *octets = mr->addr;

    CHECK_EQ(0, ibv_dereg_mr(mr));
    free(octets);
}

int main(void)
{
    struct bed bed;
    pthread_t thread;

#ifdef __SANITIZE_THREAD__
    return SKIPPED; /* it would report what the program does here on purpose */
#endif
    verbs_kit_timeout = 14; /* so that a failure is not repeated for a minute */
    verbs_kit_open();
    bed.from = new_region();
    bed.to = new_region();
    bed.cq = ibv_create_cq(verbs_kit.context, AT_ONCE, NULL, NULL, 0);
    bed.receive_cq = ibv_create_cq(verbs_kit.context, AT_ONCE, NULL, NULL, 0);
    CHECK(bed.cq && bed.receive_cq);
    bed.a = new_qp(&bed);
    bed.b = new_qp(&bed);
    verbs_kit_bring_up(bed.a, bed.b->qp_num);
    verbs_kit_bring_up(bed.b, bed.a->qp_num);
    CHECK_EQ(0, pthread_create(&thread, NULL, change, bed.from->addr));
    run(&bed, IBV_WR_RDMA_WRITE, 1);
    run(&bed, IBV_WR_RDMA_WRITE, PARTS);
    run(&bed, IBV_WR_SEND, 1);
    run(&bed, IBV_WR_SEND, PARTS);
    atomic_store(&over, true);
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK_EQ(0, ibv_destroy_qp(bed.a));
    CHECK_EQ(0, ibv_destroy_qp(bed.b));
    CHECK_EQ(0, ibv_destroy_cq(bed.cq));
    CHECK_EQ(0, ibv_destroy_cq(bed.receive_cq));
    release(bed.from);
    release(bed.to);
    verbs_kit_close();
    check_done();
    return 0;
}
