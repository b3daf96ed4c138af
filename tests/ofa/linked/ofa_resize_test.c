/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues and shared receive queues change their size while Sends and completions go
 * through them, and several threads poll. Each completion comes exactly once.
 */
#include "verbs_kit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum {
    WINDOW = 32, /* Sends on the way */
    SENDS = 4000,
    SMALL = 2 * WINDOW,
    LARGE = 1000,
    POLLERS = 3,
    OCTETS = 8
};

static unsigned char source[OCTETS];
static unsigned char memory[OCTETS]; /* of all receives */
static struct ibv_mr *region;

static struct ibv_qp *new_qp(struct ibv_cq *send_cq, struct ibv_cq *recv_cq, struct ibv_srq *srq)
{
    struct ibv_qp_init_attr init = {.send_cq = send_cq,
                                    .recv_cq = recv_cq,
                                    .srq = srq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = WINDOW,
                                            .max_recv_wr = srq ? 0 : WINDOW,
                                            .max_send_sge = 1,
                                            .max_recv_sge = srq ? 0 : 1}};
    struct ibv_qp *qp = ibv_create_qp(verbs_kit.pd, &init);

    CHECK(qp != NULL);
    return qp;
}

static struct ibv_cq *new_cq(int size, struct ibv_comp_channel *channel)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, size, NULL, channel, 0);

    CHECK(cq != NULL);
    return cq;
}

static void send_one(struct ibv_qp *qp, uint64_t wr_id)
{
    struct ibv_sge sge = {.addr = (uintptr_t)source, .length = OCTETS};
    struct ibv_send_wr wr = {.wr_id = wr_id,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};
    struct ibv_send_wr *bad;
    int error;

    /* The completion of the last one may have been polled a little before its place is free. */
    while ((error = ibv_post_send(qp, &wr, &bad)) == ENOMEM)
        (void)sched_yield();
    CHECK_EQ(0, error);
}

static int give_receive(struct ibv_qp *qp, struct ibv_srq *srq, uint64_t wr_id)
{
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = OCTETS, .lkey = region->lkey};
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;

    return srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad);
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* Waits until all Sends have ended: their completions are in the CQ. */
static void await_end(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
    struct ibv_async_event event;

    CHECK_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
    do {
        CHECK_EQ(0, ibv_get_async_event(verbs_kit.context, &event));
        ibv_ack_async_event(&event);
    } while (event.event_type != IBV_EVENT_SQ_DRAINED);
    attr.qp_state = IBV_QPS_RTS;
    CHECK_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

static void expect(struct ibv_cq *cq, uint64_t wr_id)
{
    struct ibv_wc wc = verbs_kit_completion(cq);

    CHECK_EQ(IBV_WC_SUCCESS, wc.status);
    CHECK_EQ(wr_id, wc.wr_id);
}

/* Completions from before a queue pair was destroyed count like those behind it. */
static void refusals(void)
{
    struct ibv_cq *others = new_cq(64, NULL);
    struct ibv_cq *cq = new_cq(64, NULL);
    struct ibv_qp *peer = new_qp(others, others, NULL);
    struct ibv_qp *qp = new_qp(cq, cq, NULL);

    verbs_kit_bring_up(qp, peer->qp_num);
    verbs_kit_bring_up(peer, qp->qp_num);
    for (uint64_t i = 0; i < 8; i++)
        CHECK_EQ(0, give_receive(peer, NULL, i));
    for (uint64_t i = 0; i < 3; i++)
        send_one(qp, i);
    await_end(qp);
    CHECK_EQ(EINVAL, ibv_resize_cq(cq, 2));
    CHECK_EQ(0, ibv_destroy_qp(new_qp(cq, cq, NULL)));
    for (uint64_t i = 3; i < 6; i++)
        send_one(qp, i);
    await_end(qp);
    CHECK_EQ(EINVAL, ibv_resize_cq(cq, 5));
    CHECK_EQ(0, ibv_resize_cq(cq, 6));
    for (uint64_t i = 0; i < 6; i++)
        expect(cq, i);
    CHECK_EQ(EINVAL, ibv_resize_cq(cq, 0));
    CHECK_EQ(EINVAL, ibv_resize_cq(cq, -1));
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_qp(peer));
    CHECK_EQ(0, ibv_destroy_cq(cq));
    CHECK_EQ(0, ibv_destroy_cq(others));
}

/* ---- Under load ------------------------------------------------------------------------------ */

static struct load {
    struct ibv_qp *from;
    struct ibv_qp *to;
    struct ibv_srq *srq; /* NULL: .to has receives of its own */
    struct ibv_cq *sent;
    struct ibv_cq *received;
    struct ibv_comp_channel *channel; /* of .received; NULL: it is only polled */
    atomic_uint ended;                /* Sends */
    atomic_uint arrived;
    atomic_uchar seen[SENDS]; /* completions of each Send */
} load;

static void *resize(void *nothing)
{
    for (unsigned i = 0; atomic_load(&load.arrived) < SENDS; i++) {
        struct ibv_srq_attr attr = {.max_wr = i % 2 ? SMALL : LARGE};

        CHECK_EQ(0, ibv_resize_cq(load.sent, i % 2 ? SMALL : LARGE));
        CHECK_EQ(0, ibv_resize_cq(load.received, i % 2 ? LARGE : SMALL));
        CHECK(load.received->cqe >= SMALL);
        if (load.srq)
            CHECK_EQ(0, ibv_modify_srq(load.srq, &attr, IBV_SRQ_MAX_WR));
        (void)sched_yield();
    }
    return nothing;
}

static void *poll_sent(void *nothing)
{
    struct ibv_wc wc;

    while (atomic_load(&load.ended) < SENDS) {
        int count = ibv_poll_cq(load.sent, 1, &wc);

        CHECK(count >= 0);
        if (count == 0) {
            (void)sched_yield();
            continue;
        }
        CHECK_EQ(IBV_WC_SUCCESS, wc.status);
        CHECK_EQ(0, atomic_fetch_add(&load.seen[wc.wr_id], 1));
        atomic_fetch_add(&load.ended, 1);
    }
    return nothing;
}

/* Returns false if there is no completion. */
static bool take_arrival(void)
{
    struct ibv_wc wc;
    int count = ibv_poll_cq(load.received, 1, &wc);

    CHECK(count >= 0);
    if (count == 0)
        return false;
    CHECK_EQ(IBV_WC_SUCCESS, wc.status);
    CHECK_EQ(OCTETS, wc.byte_len);
    CHECK_EQ(0, give_receive(load.to, load.srq, wc.wr_id));
    atomic_fetch_add(&load.arrived, 1);
    return true;
}

static void await_event(void)
{
    struct ibv_cq *cq;
    void *context;

    CHECK_EQ(0, ibv_get_cq_event(load.channel, &cq, &context));
    CHECK(cq == load.received);
    ibv_ack_cq_events(cq, 1);
}

/* Sleeps, if there is a channel, and none of the completions is lost by that. */
static void *take_arrivals(void *nothing)
{
    if (load.channel)
        CHECK_EQ(0, ibv_req_notify_cq(load.received, 0));
    while (atomic_load(&load.arrived) < SENDS) {
        if (take_arrival())
            continue;
        if (!load.channel) {
            (void)sched_yield();
            continue;
        }
        await_event();
        CHECK_EQ(0, ibv_req_notify_cq(load.received, 0));
    }
    return nothing;
}

static void send_all(void)
{
    for (unsigned i = 0; i < SENDS; i++) {
        while (i - atomic_load(&load.ended) >= WINDOW)
            (void)sched_yield();
        send_one(load.from, i);
    }
}

static void open_load(bool shared, bool events)
{
    struct ibv_srq_init_attr init = {.attr = {.max_wr = SMALL, .max_sge = 1}};

    load.channel = events ? ibv_create_comp_channel(verbs_kit.context) : NULL;
    load.sent = new_cq(SMALL, NULL);
    load.received = new_cq(SMALL, load.channel);
    load.srq = shared ? ibv_create_srq(verbs_kit.pd, &init) : NULL;
    load.from = new_qp(load.sent, load.sent, NULL);
    load.to = new_qp(load.received, load.received, load.srq);
    atomic_store(&load.ended, 0);
    atomic_store(&load.arrived, 0);
    for (int i = 0; i < SENDS; i++)
        atomic_store(&load.seen[i], 0);
    verbs_kit_bring_up(load.to, load.from->qp_num);
    for (uint64_t i = 0; i < WINDOW; i++)
        CHECK_EQ(0, give_receive(load.to, load.srq, i));
    verbs_kit_bring_up(load.from, load.to->qp_num);
}

static void close_load(void)
{
    CHECK_EQ(0, ibv_destroy_qp(load.from));
    CHECK_EQ(0, ibv_destroy_qp(load.to));
    CHECK_EQ(0, ibv_destroy_cq(load.sent));
    CHECK_EQ(0, ibv_destroy_cq(load.received));
    if (load.srq)
        CHECK_EQ(0, ibv_destroy_srq(load.srq));
    if (load.channel)
        CHECK_EQ(0, ibv_destroy_comp_channel(load.channel));
}

static void under_load(bool shared, bool events)
{
    pthread_t threads[POLLERS + 2];
    int count = 0;

    open_load(shared, events);
    CHECK_EQ(0, pthread_create(&threads[count++], NULL, resize, NULL));
    CHECK_EQ(0, pthread_create(&threads[count++], NULL, take_arrivals, NULL));
    for (int i = 0; i < POLLERS; i++)
        CHECK_EQ(0, pthread_create(&threads[count++], NULL, poll_sent, NULL));
    send_all();
    for (int i = 0; i < count; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    for (int i = 0; i < SENDS; i++)
        CHECK_EQ(1, atomic_load(&load.seen[i]));
    close_load();
}

int main(void)
{
    verbs_kit_open();
    region = ibv_reg_mr(verbs_kit.pd, memory, OCTETS, IBV_ACCESS_LOCAL_WRITE);
    CHECK(region != NULL);
    refusals();
    for (int i = 0; i < 4; i++)
        under_load(i & 1, i & 2);
    CHECK_EQ(0, ibv_dereg_mr(region));
    verbs_kit_close();
    check_done();
    return 0;
}
