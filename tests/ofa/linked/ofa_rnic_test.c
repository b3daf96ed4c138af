/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An RNIC has no state RTR: a queue pair that is connected by hand takes requests in it. The server
 * of ib_send_bw never goes further, and writes credits to its client.
 */
#include "verbs_kit.h"

#include <errno.h>
#include <stdlib.h>

enum {
    OCTETS = 64
};

static struct ibv_qp *new_qp(struct ibv_cq *cq)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(verbs_kit.pd, &attr);

    CHECK(qp != NULL);
    return qp;
}

/* Returns the result of posting a Write of the first half to the second one. */
static int post_write(struct ibv_qp *qp, const struct ibv_mr *mr)
{
    struct ibv_sge sge = {.addr = (uintptr_t)mr->addr, .length = OCTETS / 2, .lkey = mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = 7,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = (uintptr_t)mr->addr + OCTETS / 2, .rkey = mr->rkey}};
    struct ibv_send_wr *bad;

    return ibv_post_send(qp, &wr, &bad);
}

/* Returns when the peer has received a message: it then also has all that was written before. */
static void await_writes(struct ibv_qp *writer, struct ibv_qp *target, struct ibv_cq *cq)
{
    struct ibv_send_wr send = {.opcode = IBV_WR_SEND};
    struct ibv_recv_wr receive = {.wr_id = 8};
    struct ibv_send_wr *bad_send;
    struct ibv_recv_wr *bad_receive;

    CHECK_EQ(0, ibv_post_recv(target, &receive, &bad_receive));
    CHECK_EQ(0, ibv_post_send(writer, &send, &bad_send));
    for (int i = 0; i < 2; i++)
        CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(cq).status); /* of Write and receive */
}

/* by_rnic: as the devices say that they are. */
static void request_in_rtr(bool by_rnic, bool rts_is_peer)
{
    static unsigned char octets[OCTETS] = "credit";
    struct ibv_mr *mr = ibv_reg_mr(verbs_kit.pd, octets, sizeof(octets),
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0);
    struct ibv_qp *first = new_qp(cq);
    struct ibv_qp *second = new_qp(cq);
    struct ibv_qp *in_rtr = rts_is_peer ? first : second;
    struct ibv_qp *in_rts = rts_is_peer ? second : first;

    CHECK(mr && cq);
    verbs_kit_bring_to_rtr(in_rtr, in_rts->qp_num);
    CHECK_EQ(by_rnic ? 0 : EINVAL, post_write(in_rtr, mr));
    verbs_kit_bring_up(in_rts, in_rtr->qp_num);
    if (by_rnic) {
        await_writes(in_rtr, in_rts, cq);
        CHECK_EQ('c', octets[OCTETS / 2]);
        CHECK_EQ(0, post_write(in_rtr, mr));
        CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(cq).status);
    }
    CHECK_EQ(0, ibv_destroy_qp(first));
    CHECK_EQ(0, ibv_destroy_qp(second));
    CHECK_EQ(0, ibv_destroy_cq(cq));
    CHECK_EQ(0, ibv_dereg_mr(mr));
}

int main(void)
{
    for (int by_rnic = 0; by_rnic < 2; by_rnic++) {
        if (by_rnic)
            CHECK_EQ(0, setenv("ITAPI_OFA_MODEL", "iwarp", 1)); /* as it_run --iwarp */
        verbs_kit_open();
        CHECK_EQ(by_rnic, verbs_kit.context->device->transport_type == IBV_TRANSPORT_IWARP);
        request_in_rtr(by_rnic, false);
        request_in_rtr(by_rnic, true);
        verbs_kit_close();
    }
    check_done();
    return 0;
}
