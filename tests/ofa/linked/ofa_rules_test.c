/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of verbs between two queue pairs of this process: what is refused, which asynchronous
 * events there are, and what SQD holds. Linux's rxe does the same.
 */
#include "verbs_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DEPTH = 4,
    OCTETS = 4096,
    THREADS = 4,
    WRITES = 400,
    PATIENCE_MS = 20000,
    SILENCE_MS = 100,
    DESTRUCTIONS = 1000,
    FAILURES = 40,
    OTHERS = 1024 /* sizes of memory, larger than a CQ of the library */
};

#define REMOTE                                                                                     \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |                   \
     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

static unsigned char memory[OCTETS] __attribute__((aligned(8)));
static struct ibv_mr *region;

struct pair {
    struct ibv_cq *cq;
    struct ibv_qp *a;
    struct ibv_qp *b;
};

/* ---- Pairs ---------------------------------------------------------------------------------- */

static struct ibv_qp *new_qp(struct ibv_cq *cq, struct ibv_srq *srq)
{
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .srq = srq,
        .qp_type = IBV_QPT_RC,
        .pd = verbs_kit.pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp_ex(verbs_kit.context, &attr);

    CHECK(qp != NULL);
    return qp;
}

static struct pair open_pair_on(struct ibv_cq *cq)
{
    struct pair pair = {.cq = cq, .a = new_qp(cq, NULL), .b = new_qp(cq, NULL)};

    verbs_kit_bring_up(pair.a, pair.b->qp_num);
    verbs_kit_bring_up(pair.b, pair.a->qp_num);
    return pair;
}

static struct pair open_pair(void)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 64, NULL, NULL, 0);

    CHECK(cq != NULL);
    return open_pair_on(cq);
}

static void close_pair(const struct pair *pair)
{
    CHECK_EQ(0, ibv_destroy_qp(pair->a));
    CHECK_EQ(0, ibv_destroy_qp(pair->b));
    CHECK_EQ(0, ibv_destroy_cq(pair->cq));
}

static int post_write(struct ibv_qp *qp, uint64_t wr_id, uint32_t lkey, uint32_t rkey)
{
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = 8, .lkey = lkey};
    struct ibv_send_wr wr = {.wr_id = wr_id,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {.remote_addr = (uintptr_t)memory + 64, .rkey = rkey}};
    struct ibv_send_wr *bad;

    return ibv_post_send(qp, &wr, &bad);
}

static void write_well(struct ibv_qp *qp, uint64_t wr_id)
{
    CHECK_EQ(0, post_write(qp, wr_id, region->lkey, region->rkey));
}

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
    struct ibv_wc wc = verbs_kit_completion(cq);

    CHECK_EQ(wr_id, wc.wr_id);
    CHECK_EQ(status, wc.status);
}

/* Connects the pair for good. */
static void try_out(const struct pair *pair)
{
    write_well(pair->a, 99);
    expect(pair->cq, 99, IBV_WC_SUCCESS);
}

static bool event_within(int ms)
{
    struct pollfd descriptor = {.fd = verbs_kit.context->async_fd, .events = POLLIN};

    return poll(&descriptor, 1, ms) == 1;
}

static struct ibv_async_event next_event(void)
{
    struct ibv_async_event event;

    CHECK(event_within(PATIENCE_MS));
    CHECK_EQ(0, ibv_get_async_event(verbs_kit.context, &event));
    ibv_ack_async_event(&event);
    return event;
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    CHECK_EQ(0, ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
    return attr.qp_state;
}

/* ---- Refusals ------------------------------------------------------------------------------- */

static void refusals(void)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0);
    struct ibv_qp *qp = new_qp(cq, NULL);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR, .cur_qp_state = IBV_QPS_INIT};
    struct ibv_port_attr port;
    struct ibv_gid_entry entry;
    union ibv_gid gid;

    CHECK_EQ(EINVAL, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
    CHECK_EQ(IBV_QPS_RESET, state_of(qp));
    CHECK_EQ(0, ibv_query_port(verbs_kit.context, 1, &port));
    CHECK_EQ(-1, ibv_query_gid(verbs_kit.context, 1, port.gid_tbl_len, &gid));
    CHECK_EQ(EINVAL, ibv_query_gid_ex(verbs_kit.context, 1, (uint32_t)port.gid_tbl_len, &entry, 0));
    CHECK_EQ(0, ibv_req_notify_cq(cq, 0)); /* without a channel it reaches nobody */
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_cq(cq));
}

/* A queue pair cannot have a CQ that was destroyed, whatever became of the memory. */
static void refused_dead_cq(void)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    void *others[OTHERS];

    CHECK_EQ(0, ibv_destroy_cq(cq));
    for (size_t i = 0; i < OTHERS; i++) {
        others[i] = malloc(sizeof(*cq) + i);
        CHECK(others[i] != NULL);
        memset(others[i], 0x40, sizeof(*cq) + i);
    }
    CHECK(!ibv_create_qp(verbs_kit.pd, &init) && errno == EINVAL);
    for (size_t i = 0; i < OTHERS; i++)
        free(others[i]);
}

/* Objects of different contexts do not go together, of datagrams neither. */
static void refused_context(void)
{
    struct ibv_context *other = ibv_open_device(verbs_kit.context->device);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(other);
    struct ibv_cq *cq = ibv_create_cq(other, 8, NULL, channel, 0);
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

    CHECK(cq != NULL);
    init.qp_type = IBV_QPT_RC;
    CHECK(!ibv_create_qp(verbs_kit.pd, &init) && errno == EINVAL);
    init.qp_type = IBV_QPT_UD;
    CHECK(!ibv_create_qp(verbs_kit.pd, &init) && errno == EINVAL);
    CHECK(!ibv_create_cq(verbs_kit.context, 8, NULL, channel, 0) && errno == EINVAL);
    CHECK_EQ(0, ibv_destroy_cq(cq));
    CHECK_EQ(0, ibv_destroy_comp_channel(channel));
    CHECK_EQ(0, ibv_close_device(other));
}

/* A queue pair without room for receives takes none, of datagrams neither. */
static void refused_receive(enum ibv_qp_type type)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {
        .send_cq = cq, .recv_cq = cq, .qp_type = type, .cap = {.max_send_wr = 1}};
    struct ibv_qp *qp = ibv_create_qp(verbs_kit.pd, &init);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    struct ibv_recv_wr wr = {.wr_id = 1};
    struct ibv_recv_wr *bad = NULL;

    CHECK(qp != NULL);
    CHECK_EQ(0, ibv_modify_qp(qp, &attr,
                              IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                                  (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
    CHECK_EQ(ENOMEM, ibv_post_recv(qp, &wr, &bad));
    CHECK(bad == &wr);
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_cq(cq));
}

/* A request is refused before there is a connection, too. */
static void refused_early(void)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0);
    struct ibv_qp *qp = new_qp(cq, NULL);
    struct ibv_qp *peer = new_qp(cq, NULL);
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = 8, .lkey = region->lkey};
    struct ibv_send_wr wr = {
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
        .wr.atomic = {.remote_addr = (uintptr_t)memory + 1, .rkey = region->rkey}};
    struct ibv_send_wr *bad;

    verbs_kit_bring_up(qp, peer->qp_num);
    CHECK_EQ(EINVAL, ibv_post_send(qp, &wr, &bad));
    wr.wr.atomic.remote_addr = (uintptr_t)memory;
    sge.addr = (uintptr_t)memory + 4;
    CHECK_EQ(EINVAL, ibv_post_send(qp, &wr, &bad));
    sge.length = 4;
    CHECK_EQ(EINVAL, ibv_post_send(qp, &wr, &bad));
    wr.opcode = (enum ibv_wr_opcode)100;
    CHECK_EQ(EINVAL, ibv_post_send(qp, &wr, &bad));
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_qp(peer));
    CHECK_EQ(0, ibv_destroy_cq(cq));
}

/* Lists over the limit are refused, inline data too. An atomic operation has one segment. */
static void refused_lists(void)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 2, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(verbs_kit.pd, &init);
    struct ibv_qp *peer = ibv_create_qp(verbs_kit.pd, &init);
    struct ibv_sge list[3] = {{(uintptr_t)memory, 4, region->lkey},
                              {(uintptr_t)memory + 4, 4, region->lkey},
                              {(uintptr_t)memory + 8, 4, region->lkey}};
    struct ibv_send_wr wr = {.sg_list = list, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad;

    verbs_kit_bring_up(qp, peer->qp_num); /* which is not ready for a connection yet */
    for (int connected = 0; connected < 2; connected++) {
        wr.num_sge = 2;
        wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.wr.atomic.remote_addr = (uintptr_t)memory + 64;
        wr.wr.atomic.rkey = region->rkey;
        CHECK_EQ(EINVAL, ibv_post_send(qp, &wr, &bad));
        wr.num_sge = 3;
        wr.opcode = IBV_WR_RDMA_WRITE;
        wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
        wr.wr.rdma.remote_addr = (uintptr_t)memory + 64;
        wr.wr.rdma.rkey = region->rkey;
        CHECK_EQ(EINVAL, ibv_post_send(qp, &wr, &bad));
        wr.num_sge = 2;
        CHECK_EQ(0, ibv_post_send(qp, &wr, &bad));
        if (!connected)
            verbs_kit_bring_up(peer, qp->qp_num);
        CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(cq).status);
    }
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_qp(peer));
    CHECK_EQ(0, ibv_destroy_cq(cq));
}

/* The same errno once there is a connection. */
static void refused_late(void)
{
    struct pair pair = open_pair();
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = 8, .lkey = region->lkey};
    struct ibv_send_wr wr = {
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
        .wr.atomic = {.remote_addr = (uintptr_t)memory + 1, .rkey = region->rkey}};
    struct ibv_qp_attr attr = {.alt_port_num = 1};
    struct ibv_send_wr *bad;

    try_out(&pair);
    CHECK_EQ(EINVAL, ibv_post_send(pair.a, &wr, &bad));
    wr.wr.atomic.remote_addr = (uintptr_t)memory;
    sge.addr = (uintptr_t)memory + 4;
    CHECK_EQ(EINVAL, ibv_post_send(pair.a, &wr, &bad));
    CHECK_EQ(EINVAL, ibv_modify_qp(pair.a, &attr, IBV_QP_ALT_PATH)); /* not on Ethernet */
    try_out(&pair);
    close_pair(&pair);
}

/* A batch that does not fit is not posted at all. */
static void all_or_none(void)
{
    struct pair pair = open_pair();
    struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair.a);
    struct ibv_wc wc;

    for (int connected = 0; connected < 2; connected++) {
        ibv_wr_start(qpx);
        for (int i = 0; i < DEPTH * 8; i++) {
            qpx->wr_id = 1;
            qpx->wr_flags = IBV_SEND_SIGNALED;
            ibv_wr_rdma_write(qpx, region->rkey, (uintptr_t)memory + 64);
            ibv_wr_set_sge(qpx, region->lkey, (uintptr_t)memory, 8);
        }
        CHECK_EQ(ENOMEM, ibv_wr_complete(qpx));
        try_out(&pair);
        CHECK_EQ(0, ibv_poll_cq(pair.cq, 1, &wc));
    }
    close_pair(&pair);
}

/* ---- Asynchronous events --------------------------------------------------------------------- */

/* A completion tells the requester's errors; only the responder of a bad key has an event. */
static void events_of_errors(void)
{
    struct pair pair = open_pair();

    CHECK_EQ(0, post_write(pair.a, 1, 0xdead, region->rkey));
    expect(pair.cq, 1, IBV_WC_LOC_PROT_ERR);
    CHECK(!event_within(SILENCE_MS));
    close_pair(&pair);
    pair = open_pair();
    CHECK_EQ(0, post_write(pair.a, 1, region->lkey, 0xdead00));
    expect(pair.cq, 1, IBV_WC_REM_ACCESS_ERR);
    CHECK(next_event().element.qp == pair.b);
    CHECK(!event_within(SILENCE_MS));
    close_pair(&pair);
}

/* A Send that finds no receive fails its sender, and changes nothing at its receiver. */
static void event_of_not_ready(void)
{
    struct ibv_qp_attr attr = {.min_rnr_timer = 12};
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = 8, .lkey = region->lkey};
    struct ibv_send_wr wr = {.wr_id = 3,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad;
    struct pair pair;

    verbs_kit_rnr_retry = 1;
    pair = open_pair();
    verbs_kit_rnr_retry = VERBS_KIT_FOR_EVER;
    CHECK_EQ(0, ibv_modify_qp(pair.b, &attr, IBV_QP_MIN_RNR_TIMER));
    CHECK_EQ(0, ibv_post_send(pair.a, &wr, &bad));
    expect(pair.cq, 3, IBV_WC_RNR_RETRY_EXC_ERR);
    CHECK(!event_within(SILENCE_MS));
    CHECK_EQ(IBV_QPS_RTS, state_of(pair.b));
    close_pair(&pair);
}

/* A CQ without room tells its own event. */
static void overrun(void)
{
    struct ibv_cq *small = ibv_create_cq(verbs_kit.context, 1, NULL, NULL, 0);
    struct pair pair = open_pair_on(small);
    uint64_t wr_id = 0;
    bool full = false;
    struct ibv_async_event event;

    /* While the queue is full, those before it have to end. */
    for (int i = 0; i <= small->cqe || !event_within(full ? 1 : 0); i++)
        full = post_write(pair.a, wr_id++, region->lkey, region->rkey) == ENOMEM;
    event = next_event();
    CHECK_EQ(IBV_EVENT_CQ_ERR, event.event_type);
    CHECK(event.element.cq == small);
    while (event_within(SILENCE_MS))
        (void)next_event();
    close_pair(&pair);
}

/* A CQ takes along an event that its program has not read. */
static void unread_event_of_a_cq(void)
{
    struct ibv_cq *small = ibv_create_cq(verbs_kit.context, 1, NULL, NULL, 0);
    struct pair pair = open_pair_on(small);
    uint64_t wr_id = 0;

    while (!event_within(1))
        (void)post_write(pair.a, wr_id++, region->lkey, region->rkey);
    close_pair(&pair);
    CHECK(!event_within(SILENCE_MS));
}

/*
 * Arming reports later completions only. A program that polls some of those before and then sleeps
 * gets an event for the others, as with the cards that perftest was written for.
 */
static void left_completions(void)
{
    struct ibv_comp_channel *channel = ibv_create_comp_channel(verbs_kit.context);
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 64, NULL, channel, 0);
    struct pair pair = open_pair_on(cq);
    struct pollfd descriptor = {.fd = channel->fd, .events = POLLIN};
    struct ibv_cq *found;
    void *context;

    CHECK_EQ(0, ibv_req_notify_cq(cq, 0));
    write_well(pair.a, 0);
    CHECK_EQ(0, ibv_get_cq_event(channel, &found, &context));
    CHECK_EQ(0, ibv_req_notify_cq(cq, 0));
    CHECK_EQ(0, poll(&descriptor, 1, SILENCE_MS));
    CHECK_EQ(0, ibv_get_cq_event(channel, &found, &context));
    CHECK(found == cq);
    ibv_ack_cq_events(cq, 2);
    expect(cq, 0, IBV_WC_SUCCESS);
    CHECK_EQ(0, ibv_req_notify_cq(cq, 0));
    CHECK_EQ(0, fcntl(channel->fd, F_SETFL, O_NONBLOCK));
    CHECK_EQ(-1, ibv_get_cq_event(channel, &found, &context));
    CHECK_EQ(EAGAIN, errno);
    close_pair(&pair);
    CHECK_EQ(0, ibv_destroy_comp_channel(channel));
}

static void srq_limit(void)
{
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(verbs_kit.pd, &init);
    struct ibv_srq_attr attr = {.srq_limit = 4};
    struct ibv_async_event event;

    CHECK(srq != NULL);
    for (int streams = 0; streams < 2; streams++) {
        struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0);
        struct ibv_qp *qp = streams ? new_qp(cq, srq) : NULL;

        CHECK_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
        event = next_event();
        CHECK_EQ(IBV_EVENT_SRQ_LIMIT_REACHED, event.event_type);
        CHECK(event.element.srq == srq);
        CHECK_EQ(0, ibv_query_srq(srq, &attr));
        CHECK_EQ(0, attr.srq_limit); /* until the program sets it again */
        attr.srq_limit = 4;
        if (qp)
            CHECK_EQ(0, ibv_destroy_qp(qp));
        CHECK_EQ(0, ibv_destroy_cq(cq));
    }
    CHECK_EQ(0, ibv_destroy_srq(srq));
}

/* ---- Destroying ----------------------------------------------------------------------------- */

static void post_receive(struct ibv_qp *qp)
{
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = 8, .lkey = region->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;

    CHECK_EQ(0, ibv_post_recv(qp, &wr, &bad));
}

/*
 * A queue pair that is destroyed leaves no completion, and so no event: a program may destroy its
 * armed CQ next, while another thread waits for events of others.
 */
static void no_event_of_destruction(void)
{
    struct ibv_comp_channel *channel = ibv_create_comp_channel(verbs_kit.context);
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;
    struct pollfd descriptor;

    CHECK(channel != NULL);
    descriptor = (struct pollfd){.fd = channel->fd, .events = POLLIN};
    for (int i = 0; i < DESTRUCTIONS; i++) {
        struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 64, NULL, channel, 0);
        struct pair pair = open_pair_on(cq);

        try_out(&pair);
        for (int k = 0; k < DEPTH; k++) {
            post_receive(pair.a);
            post_receive(pair.b);
        }
        CHECK_EQ(0, ibv_req_notify_cq(cq, 0));
        CHECK_EQ(0, ibv_destroy_qp(pair.a));
        for (int k = 0; k < i; k++) /* the other end notices it sooner or later */
            (void)ibv_query_qp(pair.b, &attr, IBV_QP_STATE, &init);
        CHECK_EQ(0, ibv_destroy_qp(pair.b));
        CHECK_EQ(0, poll(&descriptor, 1, 1));
        CHECK_EQ(0, ibv_destroy_cq(cq));
    }
    CHECK_EQ(0, ibv_destroy_comp_channel(channel));
}

/*
 * Returns a pair of which only a is up; b is in INIT. swapped: b has the smaller number, so that it
 * is the end that connects.
 */
static struct pair half_open(bool swapped)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 64, NULL, NULL, 0);
    struct ibv_qp *one = new_qp(cq, NULL);
    struct ibv_qp *two = new_qp(cq, NULL);
    bool exchange = (one->qp_num < two->qp_num) == swapped;
    struct pair pair = {.cq = cq, .a = exchange ? two : one, .b = exchange ? one : two};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

    CHECK_EQ(0,
             ibv_modify_qp(pair.b, &attr,
                           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    verbs_kit_bring_up(pair.a, pair.b->qp_num);
    return pair;
}

/* A request fails when the retries are over, though the peer's process is there. */
static void peer_never_ready(void)
{
    verbs_kit_timeout = 1;
    for (int swapped = 0; swapped < 2; swapped++) {
        struct pair pair = half_open(swapped == 1);

        write_well(pair.a, 1);
        write_well(pair.a, 2);
        expect(pair.cq, 1, IBV_WC_RETRY_EXC_ERR);
        expect(pair.cq, 2, IBV_WC_WR_FLUSH_ERR);
        CHECK_EQ(IBV_QPS_ERR, state_of(pair.a));
        close_pair(&pair);
    }
    verbs_kit_timeout = 22;
}

/* The request that fails completes before the receives that it flushes. */
static void failure_comes_first(void)
{
    verbs_kit_timeout = 1;
    for (int i = 0; i < FAILURES; i++) {
        struct pair pair = open_pair();

        post_receive(pair.a);
        CHECK_EQ(0, ibv_destroy_qp(pair.b));
        write_well(pair.a, 1);
        expect(pair.cq, 1, IBV_WC_RETRY_EXC_ERR);
        expect(pair.cq, 0, IBV_WC_WR_FLUSH_ERR);
        CHECK_EQ(0, ibv_destroy_qp(pair.a));
        CHECK_EQ(0, ibv_destroy_cq(pair.cq));
    }
    verbs_kit_timeout = 22;
}

/* ---- SQD ------------------------------------------------------------------------------------ */

/* Requests posted before SQD end there, later ones wait; connected: before they are posted. */
static void drained(bool connected)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
    struct pair pair = open_pair();
    struct ibv_async_event event;
    struct ibv_wc wc;

    if (connected)
        try_out(&pair);
    write_well(pair.a, 1);
    CHECK_EQ(0, ibv_modify_qp(pair.a, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
    write_well(pair.a, 2);
    event = next_event();
    CHECK_EQ(IBV_EVENT_SQ_DRAINED, event.event_type);
    CHECK(event.element.qp == pair.a);
    expect(pair.cq, 1, IBV_WC_SUCCESS);
    CHECK(!event_within(SILENCE_MS));
    CHECK_EQ(0, ibv_poll_cq(pair.cq, 1, &wc));
    attr.qp_state = IBV_QPS_RTS;
    CHECK_EQ(0, ibv_modify_qp(pair.a, &attr, IBV_QP_STATE));
    expect(pair.cq, 2, IBV_WC_SUCCESS);
    try_out(&pair);
    close_pair(&pair);
}

/* ---- Windows -------------------------------------------------------------------------------- */

/* The new key of a window of type 1 is known when the call returns. */
static void key_of_a_window(void)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0);
    struct pair pair = open_pair_on(cq);
    struct ibv_mw *window = ibv_alloc_mw(verbs_kit.pd, IBV_MW_TYPE_1);
    struct ibv_mw_bind bind = {.wr_id = 5,
                               .send_flags = IBV_SEND_SIGNALED,
                               .bind_info = {.mr = region,
                                             .addr = (uintptr_t)memory,
                                             .length = 128,
                                             .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};

    CHECK(window != NULL);
    for (int connected = 0; connected < 2; connected++) {
        uint32_t before = window->rkey;

        CHECK_EQ(0, ibv_bind_mw(pair.b, window, &bind));
        CHECK(window->rkey != before);
        expect(cq, 5, IBV_WC_SUCCESS);
        CHECK_EQ(0, post_write(pair.a, 6, region->lkey, window->rkey));
        expect(cq, 6, IBV_WC_SUCCESS);
    }
    CHECK_EQ(0, ibv_dealloc_mw(window));
    close_pair(&pair);
}

static int bind_key(struct ibv_qp *qp, struct ibv_mw *window, uint32_t rkey, uint64_t length)
{
    struct ibv_send_wr wr = {
        .wr_id = 7,
        .opcode = IBV_WR_BIND_MW,
        .send_flags = IBV_SEND_SIGNALED,
        .bind_mw = {.mw = window,
                    .rkey = rkey,
                    .bind_info = {.mr = region,
                                  .addr = (uintptr_t)memory,
                                  .length = length,
                                  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}}};
    struct ibv_send_wr *bad;

    return ibv_post_send(qp, &wr, &bad);
}

static int bind_2(struct ibv_qp *qp, struct ibv_mw *window, uint64_t length)
{
    return bind_key(qp, window, ibv_inc_rkey(window->rkey), length);
}

/* A bind that turns out to be wrong once there is a connection fails as a bind. */
static void bad_key_of_a_window(void)
{
    struct ibv_mw *window = ibv_alloc_mw(verbs_kit.pd, IBV_MW_TYPE_2);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    struct pair pair = half_open(false);

    CHECK(window != NULL);
    CHECK_EQ(0, bind_key(pair.a, window, window->rkey + 0x100, 128));
    CHECK_EQ(0, ibv_modify_qp(pair.b, &attr, IBV_QP_STATE));
    verbs_kit_bring_up(pair.b, pair.a->qp_num);
    expect(pair.cq, 7, IBV_WC_MW_BIND_ERR);
    close_pair(&pair);
    CHECK_EQ(0, ibv_dealloc_mw(window));
}

/*
 * A window of type 2 keeps no queue pair alive. It loses its binding, and another queue pair can
 * have it. A window beyond its region is refused.
 */
static void bound_queue_pair_is_destroyed(void)
{
    struct ibv_mw *window = ibv_alloc_mw(verbs_kit.pd, IBV_MW_TYPE_2);

    CHECK(window != NULL);
    for (int i = 0; i < 2; i++) {
        struct pair pair = open_pair();

        CHECK_EQ(EINVAL, bind_2(pair.b, window, OCTETS + 1));
        try_out(&pair);
        CHECK_EQ(EINVAL, bind_2(pair.b, window, OCTETS + 1));
        CHECK_EQ(0, bind_2(pair.b, window, 128));
        expect(pair.cq, 7, IBV_WC_SUCCESS);
        CHECK_EQ(0, post_write(pair.a, 6, region->lkey, window->rkey));
        expect(pair.cq, 6, IBV_WC_SUCCESS);
        close_pair(&pair);
    }
    CHECK_EQ(0, ibv_dealloc_mw(window));
}

/* ---- Extended polling by several threads ----------------------------------------------------- */

struct crowd {
    struct ibv_cq_ex *cq;
    atomic_int seen[WRITES];
    atomic_int total;
};

static void *poll_some(void *argument)
{
    struct crowd *crowd = argument;

    while (atomic_load(&crowd->total) < WRITES) {
        struct ibv_poll_cq_attr attr = {.comp_mask = 0};
        uint64_t wr_id;

        if (ibv_start_poll(crowd->cq, &attr) != 0) {
            (void)sched_yield();
            continue;
        }
        wr_id = crowd->cq->wr_id;
        (void)sched_yield();
        CHECK_EQ(wr_id, crowd->cq->wr_id);
        CHECK_EQ(IBV_WC_RDMA_WRITE, ibv_wc_read_opcode(crowd->cq));
        CHECK_EQ(0, atomic_fetch_add(&crowd->seen[wr_id], 1));
        ibv_end_poll(crowd->cq);
        (void)atomic_fetch_add(&crowd->total, 1);
    }
    return NULL;
}

static void extended_polling(void)
{
    struct ibv_cq_init_attr_ex init = {.cqe = 64, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN};
    static struct crowd crowd;
    pthread_t threads[THREADS];
    struct pair pair;

    crowd.cq = ibv_create_cq_ex(verbs_kit.context, &init);
    CHECK(crowd.cq != NULL);
    pair = open_pair_on(ibv_cq_ex_to_cq(crowd.cq));
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, poll_some, &crowd));
    for (uint64_t i = 0; i < WRITES; i++) {
        int error;

        while ((error = post_write(pair.a, i, region->lkey, region->rkey)) == ENOMEM)
            (void)sched_yield();
        CHECK_EQ(0, error);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    CHECK_EQ(WRITES, atomic_load(&crowd.total));
    close_pair(&pair);
}

int main(void)
{
    verbs_kit_open();
    region = ibv_reg_mr(verbs_kit.pd, memory, sizeof(memory), REMOTE);
    CHECK(region != NULL);
    refusals();
    refused_dead_cq();
    refused_context();
    refused_receive(IBV_QPT_RC);
    refused_receive(IBV_QPT_UD);
    refused_early();
    refused_late();
    refused_lists();
    all_or_none();
    events_of_errors();
    event_of_not_ready();
    overrun();
    unread_event_of_a_cq();
    left_completions();
    srq_limit();
    no_event_of_destruction();
    peer_never_ready();
    failure_comes_first();
    drained(true);
    drained(false);
    key_of_a_window();
    bad_key_of_a_window();
    bound_queue_pair_is_destroyed();
    extended_polling();
    CHECK_EQ(0, ibv_dereg_mr(region));
    verbs_kit_close();
    check_done();
    return 0;
}
