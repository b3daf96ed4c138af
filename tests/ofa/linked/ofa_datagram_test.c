/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many threads use queue pairs of type UD at once: they post, poll, sleep until there is an event,
 * and destroy objects while datagrams are in transit to them.
 */
#include "support/check.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    QKEY = 77,
    GRH = 40,
    BYTES = 1000,
    PLACE = GRH + BYTES,
    PLACES = 64,
    SENDERS = 3,
    MESSAGES = 500,
    TURNS = 200
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_ah *ah;

/* ---- Ends ----------------------------------------------------------------------------------- */

struct end {
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint32_t lkey;
    unsigned char *room;
};

static void step(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
    struct ibv_qp_attr attr = {.qp_state = state, .port_num = 1, .qkey = QKEY};

    CHECK_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask));
}

static void open_end(struct end *end)
{
    struct ibv_qp_init_attr init = {
        .qp_type = IBV_QPT_UD, .cap = {PLACES, PLACES, 1, 1, 0}, .sq_sig_all = 0};

    end->room = calloc(PLACES, PLACE);
    end->channel = ibv_create_comp_channel(context);
    end->cq = ibv_create_cq(context, 2 * PLACES, NULL, end->channel, 0);
    end->mr = ibv_reg_mr(pd, end->room, PLACES * PLACE, IBV_ACCESS_LOCAL_WRITE);
    CHECK(end->room && end->channel && end->cq && end->mr);
    end->lkey = end->mr->lkey;
    init.send_cq = init.recv_cq = end->cq;
    end->qp = ibv_create_qp(pd, &init);
    CHECK(end->qp != NULL);
    step(end->qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    step(end->qp, IBV_QPS_RTR, 0);
    step(end->qp, IBV_QPS_RTS, IBV_QP_SQ_PSN);
}

static void close_end(const struct end *end)
{
    CHECK_EQ(0, ibv_destroy_qp(end->qp));
    CHECK_EQ(0, ibv_destroy_cq(end->cq));
    CHECK_EQ(0, ibv_destroy_comp_channel(end->channel));
    CHECK_EQ(0, ibv_dereg_mr(end->mr));
    free(end->room);
}

static void receive(const struct end *end, unsigned int place)
{
    struct ibv_sge sge = {(uintptr_t)end->room + (size_t)place * PLACE, PLACE, end->lkey};
    struct ibv_recv_wr wr = {.wr_id = place, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;

    CHECK_EQ(0, ibv_post_recv(end->qp, &wr, &bad));
}

/* Returns 0 or an errno. */
static int send_to(const struct end *end, uint32_t number, uint32_t immediate, unsigned int flags)
{
    struct ibv_sge sge = {(uintptr_t)end->room, BYTES, end->lkey};
    struct ibv_send_wr *bad;
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND_WITH_IMM,
                             .send_flags = flags,
                             .imm_data = htobe32(immediate),
                             .wr.ud = {.ah = ah, .remote_qpn = number, .remote_qkey = QKEY}};

    return ibv_post_send(end->qp, &wr, &bad);
}

static struct ibv_wc completion(const struct end *end)
{
    struct ibv_wc wc;
    int count;

    while ((count = ibv_poll_cq(end->cq, 1, &wc)) == 0) {
    }
    CHECK_EQ(1, count);
    return wc;
}

/* ---- Many senders, one receiver that sleeps ------------------------------------------------- */

struct sender {
    uint32_t number; /* number of the receiver */
    uint32_t mine;
};

/* Waits for the answer to each message, so that none is lost. */
static void *talk(void *argument)
{
    struct sender *sender = argument;
    struct end end;

    open_end(&end);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        struct ibv_wc wc;

        receive(&end, 1);
        memset(end.room, (int)(sender->mine + i), BYTES);
        CHECK_EQ(0, send_to(&end, sender->number, i, i % 7 == 0 ? IBV_SEND_SIGNALED : 0));
        do
            wc = completion(&end);
        while (wc.opcode != IBV_WC_RECV);
        CHECK_EQ(IBV_WC_SUCCESS, wc.status);
        CHECK_EQ(i, be32toh(wc.imm_data));
        CHECK_EQ(PLACE, wc.byte_len);
        CHECK_EQ((unsigned char)(sender->mine + i), end.room[PLACE + GRH]);
        CHECK_EQ((unsigned char)(sender->mine + i), end.room[2 * PLACE - 1]);
    }
    close_end(&end);
    return NULL;
}

static void answer(const struct end *end, const struct ibv_wc *wc)
{
    CHECK_EQ(IBV_WC_SUCCESS, wc->status);
    CHECK_EQ(IBV_WC_GRH | IBV_WC_WITH_IMM, wc->wc_flags);
    memcpy(end->room, end->room + wc->wr_id * PLACE + GRH, BYTES);
    CHECK_EQ(0, send_to(end, wc->src_qp, be32toh(wc->imm_data), 0));
    receive(end, (unsigned int)wc->wr_id);
}

static void sleeping_receiver(void)
{
    pthread_t threads[SENDERS];
    struct sender senders[SENDERS];
    struct end end;
    struct ibv_cq *cq;
    struct ibv_wc wc;
    void *nothing;
    int left = SENDERS * MESSAGES;

    open_end(&end);
    for (unsigned int place = 1; place < PLACES; place++)
        receive(&end, place);
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){end.qp->qp_num, 50 * i};
        CHECK_EQ(0, pthread_create(&threads[i], NULL, talk, &senders[i]));
    }
    while (left > 0) {
        CHECK_EQ(0, ibv_req_notify_cq(end.cq, 0));
        for (; ibv_poll_cq(end.cq, 1, &wc) > 0; left--)
            answer(&end, &wc);
        if (left == 0)
            break;
        CHECK_EQ(0, ibv_get_cq_event(end.channel, &cq, &nothing));
        ibv_ack_cq_events(cq, 1);
    }
    for (int i = 0; i < SENDERS; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    close_end(&end);
}

/* ---- Objects destroyed under traffic -------------------------------------------------------- */

static atomic_uint target;
static atomic_bool done;

static void *fire(void *argument)
{
    struct end end;

    (void)argument;
    open_end(&end);
    while (!atomic_load(&done)) {
        struct ibv_wc wc;
        uint32_t number = atomic_load(&target);

        if (number != 0)
            (void)send_to(&end, number, 0, 0);
        (void)ibv_poll_cq(end.cq, 1, &wc);
    }
    close_end(&end);
    return NULL;
}

/*
 * Destroys the region. Nothing may be written to its memory afterwards: the next datagram shows
 * that.
 */
static void region_goes(struct end *end)
{
    struct ibv_wc wc;

    CHECK_EQ(0, ibv_dereg_mr(end->mr));
    memset(end->room, 0x5a, (size_t)PLACES * PLACE);
    receive(end, 0);
    do
        wc = completion(end);
    while (wc.status == IBV_WC_SUCCESS);
    CHECK_EQ(IBV_WC_LOC_PROT_ERR, wc.status);
    for (size_t i = 0; i < (size_t)PLACES * PLACE; i++)
        CHECK(end->room[i] == 0x5a);
    end->mr = ibv_reg_mr(pd, end->room, 1, 0);
}

/* Nothing uses a destroyed queue pair either. */
static void objects_go(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, fire, NULL));
    for (int turn = 0; turn < TURNS; turn++) {
        struct end end;

        open_end(&end);
        for (unsigned int place = 0; place < PLACES; place++)
            receive(&end, place);
        atomic_store(&target, end.qp->qp_num);
        (void)completion(&end);
        if (turn % 2 == 0)
            region_goes(&end);
        close_end(&end);
    }
    atomic_store(&done, true);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
}

/* The table of GIDs has no link-local address to send from: what was sent would be lost. */
static void no_link_local(void)
{
    struct ibv_ah_attr vector = {
        .is_global = 1, .port_num = 1, .grh.dgid.raw = {0xfe, 0x80, [15] = 1}};

    errno = 0;
    CHECK(!ibv_create_ah(pd, &vector));
    CHECK_EQ(EINVAL, errno);
}

/* More segments than the queue pair has are refused, inline data too. */
static void long_list(void)
{
    struct end end;
    struct ibv_sge list[2];
    struct ibv_send_wr *bad;
    struct ibv_send_wr wr = {.sg_list = list,
                             .num_sge = 2,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_INLINE,
                             .wr.ud = {.ah = ah, .remote_qkey = QKEY}};

    open_end(&end);
    list[0] = list[1] = (struct ibv_sge){(uintptr_t)end.room, 1, 0};
    CHECK_EQ(EINVAL, ibv_post_send(end.qp, &wr, &bad));
    CHECK(bad == &wr);
    close_end(&end);
}

int main(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_ah_attr vector = {.is_global = 1, .port_num = 1};

    CHECK(list && list[0]);
    context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    CHECK(context != NULL);
    pd = ibv_alloc_pd(context);
    CHECK_EQ(0, ibv_query_gid(context, 1, 0, &vector.grh.dgid));
    ah = ibv_create_ah(pd, &vector);
    CHECK(pd && ah);
    no_link_local();
    long_list();
    sleeping_receiver();
    objects_go();
    CHECK_EQ(0, ibv_destroy_ah(ah));
    CHECK_EQ(0, ibv_dealloc_pd(pd));
    CHECK_EQ(0, ibv_close_device(context));
    check_done();
    return 0;
}
