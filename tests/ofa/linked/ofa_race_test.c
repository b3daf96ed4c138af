/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread takes events while another destroys their objects. An object whose event was taken
 * lives until the event is acknowledged.
 */
#include "cm_kit.h"
#include "verbs_kit.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    ROUNDS = 10000,
    DELAYS = 400 /* of different lengths between an event and the end of its object */
};

/* The object that lives; the last one lives until its event was taken. */
static _Atomic(void *) living;
static _Atomic(void *) last;

/* Called by the thread that takes events. Returns true for the last object. */
static bool taken(void *object)
{
    CHECK(object == atomic_load(&living));
    return object == atomic_load(&last);
}

static void delay(int round)
{
    for (volatile int i = 0; i < round % DELAYS; i++) {
    }
}

static void begin(void *object, int round)
{
    atomic_store(&living, object);
    if (round == ROUNDS)
        atomic_store(&last, object);
}

static void race(void *(*take)(void *), void (*live)(int round), void *source)
{
    pthread_t taker;

    atomic_store(&last, NULL);
    CHECK_EQ(0, pthread_create(&taker, NULL, take, source));
    for (int i = 0; i <= ROUNDS; i++)
        live(i);
    CHECK_EQ(0, pthread_join(taker, NULL));
}

/* ---- rdma_cm -------------------------------------------------------------------------------- */

static void *take_cm_events(void *channel)
{
    struct rdma_cm_event *event;
    bool ended;

    do {
        CHECK_EQ(0, rdma_get_cm_event(channel, &event));
        ended = taken(event->id);
        CHECK_EQ(0, rdma_ack_cm_event(event));
    } while (!ended);
    return NULL;
}

static void live_as_id(int round)
{
    struct sockaddr_in address = cm_kit_local(1, htons(9));
    struct rdma_cm_id *id;

    CHECK_EQ(0, rdma_create_id(cm_kit.client, &id, NULL, RDMA_PS_TCP));
    begin(id, round);
    CHECK_EQ(0, rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 1000));
    delay(round);
    if (round == ROUNDS)
        return;
    CHECK_EQ(0, rdma_destroy_id(id));
    atomic_store(&living, NULL);
}

/* ---- Asynchronous events --------------------------------------------------------------------- */

static void *take_async_events(void *context)
{
    struct ibv_async_event event;
    bool ended;

    do {
        CHECK_EQ(0, ibv_get_async_event(context, &event));
        if (event.event_type != IBV_EVENT_SRQ_LIMIT_REACHED)
            continue; /* this machine's addresses or links may change */
        ended = taken(event.element.srq);
        ibv_ack_async_event(&event);
        if (ended)
            return NULL;
    } while (true);
}

static void live_as_srq(int round)
{
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(verbs_kit.pd, &init);
    struct ibv_srq_attr attr = {.srq_limit = 4};

    CHECK(srq != NULL);
    begin(srq, round);
    CHECK_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
    delay(round);
    if (round == ROUNDS)
        return;
    CHECK_EQ(0, ibv_destroy_srq(srq));
    atomic_store(&living, NULL);
}

/* ---- Completion channels --------------------------------------------------------------------- */

static struct ibv_comp_channel *channel;

static void *take_cq_events(void *from)
{
    struct ibv_cq *cq;
    void *context;
    bool ended;

    do {
        CHECK_EQ(0, ibv_get_cq_event(from, &cq, &context));
        ended = taken(cq);
        ibv_ack_cq_events(cq, 1);
    } while (!ended);
    return NULL;
}

/* A receive that is flushed causes the event. */
static void flush_a_receive(struct ibv_cq *cq, int round)
{
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(verbs_kit.pd, &init);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    struct ibv_recv_wr wr = {.wr_id = 1};
    struct ibv_recv_wr *bad;

    CHECK(qp != NULL);
    CHECK_EQ(0,
             ibv_modify_qp(qp, &attr,
                           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    CHECK_EQ(0, ibv_post_recv(qp, &wr, &bad));
    CHECK_EQ(0, ibv_req_notify_cq(cq, 0));
    attr.qp_state = IBV_QPS_ERR;
    CHECK_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
    if (round < ROUNDS)
        CHECK_EQ(0, ibv_destroy_qp(qp));
}

static void live_as_cq(int round)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 4, NULL, channel, 0);

    CHECK(cq != NULL);
    begin(cq, round);
    flush_a_receive(cq, round);
    delay(round);
    if (round == ROUNDS)
        return;
    CHECK_EQ(0, ibv_destroy_cq(cq));
    atomic_store(&living, NULL);
}

/* The last object of each kind stays until the process ends. */
int main(void)
{
    cm_kit_open();
    verbs_kit_open();
    channel = ibv_create_comp_channel(verbs_kit.context);
    CHECK(channel != NULL);
    race(take_cm_events, live_as_id, cm_kit.client);
    race(take_async_events, live_as_srq, verbs_kit.context);
    race(take_cq_events, live_as_cq, channel);
    check_done();
    return 0;
}
