/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rxe_alone NEAR FAR SECONDS WRITES TIMEOUT [reads]: FETCH_ADDs, or RDMA Reads of several packets,
 * behind so many RDMA Writes each, between two RoCE devices of this machine, by libibverbs alone.
 * Tells how many have completed with success although a part of their result has not come. It
 * shows that this is the device's doing, and is no test of this library.
 */
#include <infiniband/verbs.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POISON UINT64_C(0xdeadbeefdeadbeef)
#define LONG   16384u /* octets of a Read: several packets */
#define MEMORY (2 * LONG)
#define QUEUE  64
#define ACCESS                                                                                     \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |                   \
     IBV_ACCESS_REMOTE_ATOMIC)
#define MUST(it) must((it), #it)

struct side {
    struct ibv_context *context;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint64_t *memory; /* the word, and what Writes carry */
    union ibv_gid gid;
    uint8_t gid_index;
};

static void must(bool done, const char *what)
{
    if (!done) {
        fprintf(stderr, "rxe_alone: %s\n", what);
        exit(2);
    }
}

static bool is_ipv4(const union ibv_gid *gid)
{
    return gid->raw[10] == 0xff && gid->raw[11] == 0xff;
}

static void find_gid(struct side *side)
{
    for (uint8_t i = 0; i < 16; i++) {
        union ibv_gid gid;

        if (ibv_query_gid(side->context, 1, i, &gid) == 0 && is_ipv4(&gid)) {
            side->gid = gid;
            side->gid_index = i;
        }
    }
}

static void open_side(struct side *side, const char *name)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = QUEUE, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_pd *pd;

    for (size_t i = 0; devices && devices[i]; i++) {
        if (strcmp(ibv_get_device_name(devices[i]), name) == 0)
            side->context = ibv_open_device(devices[i]);
    }
    MUST(side->context);
    MUST(pd = ibv_alloc_pd(side->context));
    MUST(side->cq = attr.send_cq = attr.recv_cq =
             ibv_create_cq(side->context, QUEUE, NULL, NULL, 0));
    MUST(side->memory = calloc(1, MEMORY));
    MUST(side->mr = ibv_reg_mr(pd, side->memory, MEMORY, ACCESS));
    MUST(side->qp = ibv_create_qp(pd, &attr));
    find_gid(side);
}

static void join(const struct side *side, const struct side *peer, uint8_t timeout)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = ACCESS,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer->qp->qp_num,
        .max_dest_rd_atomic = 4,
        .max_rd_atomic = 4,
        .min_rnr_timer = 12,
        .timeout = timeout,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .ah_attr = {.is_global = 1,
                    .port_num = 1,
                    .grh = {.dgid = peer->gid, .sgid_index = side->gid_index, .hop_limit = 64}}};

    MUST(ibv_modify_qp(side->qp, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
    attr.qp_state = IBV_QPS_RTR;
    MUST(ibv_modify_qp(side->qp, &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
    attr.qp_state = IBV_QPS_RTS;
    MUST(ibv_modify_qp(side->qp, &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

static struct ibv_send_wr request_of(enum ibv_wr_opcode opcode, const struct side *far)
{
    struct ibv_send_wr wr = {.num_sge = 1, .opcode = opcode};

    if (opcode != IBV_WR_RDMA_WRITE)
        wr.send_flags = IBV_SEND_SIGNALED;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = (uintptr_t)far->memory;
        wr.wr.atomic.rkey = far->mr->rkey;
        wr.wr.atomic.compare_add = 1;
    } else {
        wr.wr.rdma.remote_addr = (uintptr_t)far->memory;
        wr.wr.rdma.rkey = far->mr->rkey;
    }
    return wr;
}

/* Writes put an octet behind what the others use. */
static void post(const struct side *near, const struct side *far, enum ibv_wr_opcode opcode)
{
    bool writes = opcode == IBV_WR_RDMA_WRITE;
    struct ibv_sge segment = {.addr = (uintptr_t)near->memory + (writes ? LONG : 0),
                              .length = writes                       ? 1
                                        : opcode == IBV_WR_RDMA_READ ? LONG
                                                                     : sizeof(uint64_t),
                              .lkey = near->mr->lkey};
    struct ibv_send_wr *bad, wr = request_of(opcode, far);

    wr.sg_list = &segment;
    if (writes)
        wr.wr.rdma.remote_addr += LONG;
    MUST(ibv_post_send(near->qp, &wr, &bad) == 0);
}

/* Returns false if the connection has ended. */
static bool is_done(const struct side *side)
{
    struct ibv_wc wc;

    while (ibv_poll_cq(side->cq, 1, &wc) == 0)
        continue;
    if (wc.status != IBV_WC_SUCCESS)
        printf("the connection has ended: %s\n", ibv_wc_status_str(wc.status));
    return wc.status == IBV_WC_SUCCESS;
}

/* A word that still has what it was filled with is a part of the result that has not come. */
static bool has_come(const uint64_t *words, size_t octets)
{
    for (size_t i = 0; i < octets / sizeof(*words); i++) {
        if (words[i] == POISON)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    bool reads = argc == 7 && strcmp(argv[6], "reads") == 0;
    size_t octets = reads ? LONG : sizeof(uint64_t);
    struct side near = {0}, far = {0};
    uint64_t rounds = 0, without = 0;
    time_t end;

    if (argc != 6 && !reads)
        return 2;
    open_side(&near, argv[1]);
    open_side(&far, argv[2]);
    join(&near, &far, (uint8_t)atoi(argv[5]));
    join(&far, &near, (uint8_t)atoi(argv[5]));
    for (end = time(NULL) + atoi(argv[3]); time(NULL) < end; rounds++) {
        for (size_t i = 0; i < LONG / sizeof(uint64_t); i++)
            near.memory[i] = POISON;
        for (int i = 0; i < atoi(argv[4]); i++)
            post(&near, &far, IBV_WR_RDMA_WRITE);
        post(&near, &far, reads ? IBV_WR_RDMA_READ : IBV_WR_ATOMIC_FETCH_AND_ADD);
        if (!is_done(&near))
            break;
        without += !has_come(near.memory, octets);
    }
    printf("%" PRIu64 " operations, without their whole result: %" PRIu64 "\n", rounds, without);
    return 0;
}
