/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends without an event of rdma_cm, or that race with one; events of ids that are no connection. */
#include "support/test_row.h"
#include "verbs_cm/cm_kit.h"

#include "vp/verbs/cm/verbs_cm_private.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define SHORT_US  2000u
#define CROSSINGS 50u

static bool is_iwarp(const struct kit *kit)
{
    return kit->kind == KIT_SIW || kit->kind == KIT_IWARP;
}

/* Another thread destroys the objects, so this waits. */
static void expect_objects(size_t count)
{
    FX_WAIT_WHILE(stub_objects() > count, "objects of the device");
    EXPECT_EQ(count, stub_objects());
}

/* ---------------------------------------------------------------- time */

/* Nobody answers: the consumer's time limit ends the attempt at any stage. */
static void time_is_up(struct kit *kit)
{
    for (int steps = 0; steps < 3; steps++) {
        CHECK_OK(kit_connect(kit, IT_CONNECT_FLAG_TWO_WAY, SHORT_US));
        /* Late events change nothing. */
        if (steps > 0)
            kit_tell(kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
        if (steps > 1)
            kit_tell(kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
        kit_expect_failed(kit, IT_CN_REJ_TIMEOUT);
        CHECK_OK(it_ep_reset(kit->ep));
    }
}

TEST_ROW(cm_end, time_is_up, kit_each_kind, time_is_up);

/* The limit also ends an attempt in rdma_connect, which does not return by itself. */
Test(cm_end, time_is_up_while_calling)
{
    struct kit kit;

    kit_start(KIT_SIW);
    kit_open(&kit, KIT_SIW);
    stub_rdma_hold_connect(true);
    CHECK_OK(kit_connect(&kit, IT_CONNECT_FLAG_TWO_WAY, SHORT_US));
    kit_tell(&kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    kit_tell(&kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    kit_expect_failed(&kit, IT_CN_REJ_TIMEOUT);
    kit_close(&kit);
    check_done();
}

/* A consumer that decides may take its time. */
static void no_limit_for_the_consumer(struct kit *kit)
{
    static const struct stub_news news = {.responder_resources = 4, .initiator_depth = 3};

    if (is_iwarp(kit))
        return;
    CHECK_OK(kit_connect(kit, IT_CONNECT_FLAG_THREE_WAY, 300000));
    kit_tell(kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    kit_tell(kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    kit_tell(kit, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, &news);
    kit->request =
        fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_ACCEPT_ARRIVAL_EVENT).conn.cn_est_id;
    CHECK_OK(it_ep_accept(kit->ep, kit->request, NULL, 0));
    fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    EXPECT_EQ(IT_EP_STATE_CONNECTED, kit_state(kit));
    EXPECT_EQ(1, stub_rdma_count(STUB_ESTABLISH));
}

TEST_ROW(cm_end, three_way, kit_each_kind, no_limit_for_the_consumer);

/* ---------------------------------------------------------------- the device */

static struct ibv_qp *qp_of(const struct kit *kit)
{
    return verbs_ep_of((struct ual_ep *)(void *)kit->ep)->qp;
}

static void set_qp(const struct kit *kit, enum ibv_qp_state state)
{
    struct ibv_qp_attr attributes = {.qp_state = state};

    CHECK_EQ(0, ibv_modify_qp(qp_of(kit), &attributes, IBV_QP_STATE));
}

static void fail_qp(const struct kit *kit)
{
    set_qp(kit, IBV_QPS_ERR);
}

/* The user can mend one kind of failure, so the log names it. */
static unsigned warned_of_empty_read(enum kit_kind kind, size_t length, enum ibv_wc_status status)
{
    struct fx_buf buf;
    struct kit kit;
    unsigned warned;

    kit_start(kind);
    kit_open(&kit, kind);
    kit_reach(&kit, KIT_LIVE);
    buf = fx_buf_make(&kit.node, 64);
    set_qp(&kit, IBV_QPS_RTS); /* as the kernel does on iWARP */
    stub_fail_next(qp_of(&kit), status);
    kit_watch_warnings("a Read of no octets");
    fx_read(kit.ep, &buf, 0, length, &buf, 0, 1, FX_SIGNAL);
    CHECK(fx_next(kit.node.request_evd).dto_cmpl.dto_status != IT_DTO_SUCCESS);
    kit_settle(&kit);
    warned = kit_watched_warnings();
    kit_watch_warnings(NULL);
    fx_buf_free(&buf);
    kit_close(&kit);
    return warned;
}

Test(cm_end, empty_read)
{
    EXPECT_EQ(1, warned_of_empty_read(KIT_SIW, 0, IBV_WC_GENERAL_ERR));
    EXPECT_EQ(0, warned_of_empty_read(KIT_SIW, 1, IBV_WC_GENERAL_ERR));
    EXPECT_EQ(0, warned_of_empty_read(KIT_SIW, 0, IBV_WC_REM_ACCESS_ERR));
    EXPECT_EQ(0, warned_of_empty_read(KIT_IWARP, 0, IBV_WC_GENERAL_ERR));
    check_done();
}

static void expect_broken(const struct kit *kit)
{
    fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_empty(kit->node.conn_evd);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, kit_state(kit));
    EXPECT(kit_warnings() > 0);
}

/* On InfiniBand a connection whose QP has failed first does not count as ended by the peer. */
static void broken_first(struct kit *kit)
{
    kit_reach(kit, KIT_LIVE);
    fail_qp(kit);
    kit_tell(kit, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
    if (is_iwarp(kit))
        fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    else
        expect_broken(kit);
    EXPECT(!stub_rdma_lives(kit->id));
}

TEST_ROW(cm_end, broken_before_the_peer_leaves, kit_each_kind, broken_first);

/* The device reports the QP's failure. A later event of rdma_cm is no second end. */
static void told_by_the_device(struct kit *kit)
{
    kit_reach(kit, KIT_PASSIVE_LIVE);
    fail_qp(kit);
    stub_raise(IBV_EVENT_QP_FATAL, verbs_ep_of((struct ual_ep *)(void *)kit->ep)->qp, 0);
    expect_broken(kit);
    kit_tell(kit, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
    fx_empty(kit->node.conn_evd);
    EXPECT(!stub_rdma_lives(kit->id));
}

TEST_ROW(cm_end, broken_by_the_device, kit_each_kind, told_by_the_device);

/*
 * siw closes the stream before it reports that the QP has failed. That must not look like a peer
 * that leaves.
 */
static void broken_and_told_late(int disconnect_error)
{
    struct kit kit;

    kit_start(KIT_SIW);
    kit_open(&kit, KIT_SIW);
    kit_reach(&kit, KIT_LIVE);
    if (disconnect_error)
        stub_rdma_fail(STUB_DISCONNECT, disconnect_error, 0, 1);
    stub.tells_late = true;
    kit_tell(&kit, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
    expect_broken(&kit);
    EXPECT_EQ(IT_ASYNC_AFF_EP_FAILURE, fx_next(kit.node.aff_evd).event_number);
    EXPECT(!stub_rdma_lives(kit.id));
    stub.tells_late = false;
    kit_close(&kit);
    check_done();
}

TEST_ROW(cm_end, broken_and_told_late, broken_and_told_late, 0)
/* The connection is freed while the event of its end is handled. */
TEST_ROW(cm_end, broken_and_freed_when_told, broken_and_told_late, EINVAL)

/* siw's report of a stream that a disconnect has closed is ignored. */
Test(cm_end, no_failure_behind_a_disconnect)
{
    struct kit kit;

    kit_start(KIT_SIW);
    kit_open(&kit, KIT_SIW);
    kit_reach(&kit, KIT_LIVE);
    stub.tells_late = true;
    CHECK_OK(it_ep_disconnect(kit.ep, NULL, 0));
    kit_settle(&kit);
    fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_empty(kit.node.conn_evd);
    fx_empty(kit.node.aff_evd);
    EXPECT_EQ(0, kit_warnings());
    stub.tells_late = false;
    kit_close(&kit);
    check_done();
}

/* ---------------------------------------------------------------- the consumer */

/* Frees an endpoint at any stage. No event is raised. */
static void free_at(enum kit_kind kind, enum kit_stage stage)
{
    struct kit kit;
    char about[64];

    (void)snprintf(about, sizeof(about), "%s, %s", kit_kind_name(kind), kit_stage_name(stage));
    check_context(about);
    kit_start(kind);
    kit_open(&kit, kind);
    kit_reach(&kit, stage);
    stub_rdma_hold_connect(false);
    stub_rdma_hold_destroy(NULL);
    CHECK_OK(it_ep_free(kit.ep));
    fx_empty(kit.node.conn_evd);
    EXPECT_EQ(0, kit_warnings());
    kit_close(&kit);
    check_context(NULL);
}

Test(cm_end, freed_at_any_stage)
{
    for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++)
        for (enum kit_stage stage = 0; stage < KIT_STAGES; stage++)
            if (kit_has_stage(kind, stage))
                free_at(kind, stage);
    check_done();
}

/*
 * siw's kernel holds the id of an unanswered attempt for up to 10 s. A reset does not wait for it,
 * however often.
 */
Test(cm_end, a_reset_does_not_wait)
{
    struct kit kit;
    size_t objects;

    kit_start(KIT_SIW);
    kit_open(&kit, KIT_SIW);
    objects = stub_objects();
    for (int round = 0; round < 2; round++) {
        const struct rdma_cm_id *first;

        kit_reach(&kit, KIT_GIVEN_UP);
        first = kit.id;
        CHECK_OK(it_ep_reset(kit.ep));
        EXPECT_EQ(objects + 1, stub_objects()); /* the QP of the held id */
        kit_reach(&kit, KIT_LIVE);
        EXPECT(stub_rdma_lives(first));
        stub_rdma_hold_destroy(NULL);
        CHECK_OK(it_ep_disconnect(kit.ep, NULL, 0));
        fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_reset(kit.ep));
        expect_objects(objects);
    }
    kit_close(&kit);
    check_done();
}

/* A completion without room in the EVD is taken later. It does not affect a new connection. */
static void left_from_before(struct kit *kit)
{
    enum {
        RECEIVES = 64
    };
    it_ep_attributes_t attr = fx_ep_attr();
    it_evd_handle_t small = fx_evd(&kit->node, IT_DTO_EVENT_STREAM, 1, IT_THRESHOLD_DISABLE);

    CHECK_OK(it_ep_free(kit->ep));
    CHECK_OK(it_ep_rc_create(kit->node.pz, kit->node.request_evd, small, kit->node.conn_evd,
                             IT_EP_REUSEADDR, &attr, &kit->ep));
    for (uint64_t i = 0; i < RECEIVES; i++)
        CHECK_OK(it_post_recv(kit->ep, NULL, 0, i, FX_SIGNAL));
    kit_reach(kit, KIT_LIVE);
    kit_tell(kit, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
    fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_reset(kit->ep));
    kit_reach(kit, KIT_LIVE);
    for (uint64_t i = 0; i < RECEIVES; i++)
        fx_done(small, kit->ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
    kit_settle(kit);
    fx_empty(kit->node.conn_evd);
    EXPECT_EQ(IT_EP_STATE_CONNECTED, kit_state(kit));
}

TEST_ROW(cm_end, what_is_left_breaks_no_later_connection, kit_each_kind, left_from_before);

struct freeing {
    it_ep_handle_t ep;
    _Atomic int thread;
    _Atomic bool done;
};

static void *free_ep(void *argument)
{
    struct freeing *call = argument;

    atomic_store(&call->thread, fx_thread_id());
    CHECK_OK(it_ep_free(call->ep));
    atomic_store(&call->done, true);
    return NULL;
}

/* Objects that the id uses stay, including the QP that a reset has left behind. */
static void free_waits(bool reset)
{
    struct freeing call = {.thread = 0};
    pthread_t thread;
    struct kit kit;

    kit_start(KIT_SIW);
    kit_open(&kit, KIT_SIW);
    kit_reach(&kit, KIT_GIVEN_UP);
    if (reset)
        CHECK_OK(it_ep_reset(kit.ep));
    call.ep = kit.ep;
    CHECK_EQ(0, pthread_create(&thread, NULL, free_ep, &call));
    FX_WAIT_WHILE(atomic_load(&call.thread) == 0, "the thread");
    fx_thread_sleeps(atomic_load(&call.thread));
    EXPECT(!atomic_load(&call.done));
    stub_rdma_hold_destroy(NULL);
    CHECK_EQ(0, pthread_join(thread, NULL));
    kit_close(&kit);
}

Test(cm_end, freeing_waits)
{
    free_waits(false);
    free_waits(true);
    check_done();
}

/* An event races with freeing the endpoint: it may come before or after. */
static void crossing(struct kit *kit)
{
    static const int events[] = {RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_REJECTED,
                                 RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_UNREACHABLE};

    for (unsigned i = 0; i < CROSSINGS; i++) {
        kit_reach(kit, KIT_REPLY);
        stub_rdma_tell(kit->id, NULL, events[i % 4], 0, NULL);
        CHECK_OK(it_ep_free(kit->ep));
        kit->ep = fx_ep(&kit->node, NULL);
    }
}

TEST_ROW(cm_end, an_event_crosses_the_end, kit_each_kind, crossing);

/* ---------------------------------------------------------------- the listener */

/* Events of rdma_cm about a listener itself are not reported. */
static void about_the_listener(struct kit *kit)
{
    kit_listen(kit);
    kit->id = kit->listen_id;
    for (int event = -1; event < 32; event++)
        if (event != RDMA_CM_EVENT_CONNECT_REQUEST && event != RDMA_CM_EVENT_DEVICE_REMOVAL)
            kit_tell(kit, event, -1, NULL);
    fx_empty(kit->node.listen_evd);
    EXPECT(stub_rdma_lives(kit->listen_id));
    kit_ask(kit);
    CHECK_OK(it_reject(fx_request(&kit->node, NULL), NULL, 0));
    EXPECT_EQ(1, stub_rdma_count(STUB_REJECT));
    EXPECT(!stub_rdma_lives(kit->id));
}

TEST_ROW(cm_end, events_of_a_listener, kit_each_kind, about_the_listener);

/*
 * The kernel waits until every id of the device is destroyed, including those of listeners and of
 * the guard.
 */
static void listener_is_lost(struct kit *kit)
{
    kit_listen(kit);
    kit->id = kit->listen_id;
    kit_tell(kit, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL);
    EXPECT(!stub_rdma_lives(kit->listen_id));
    EXPECT(kit_warnings() > 0);
    CHECK_OK(it_listen_free(kit->listener));
}

TEST_ROW(cm_end, a_listener_loses_its_device, kit_each_kind, listener_is_lost);

static void guard_is_told(struct kit *kit)
{
    struct rdma_cm_id *guard = stub_rdma_newest(RDMA_PS_IB);
    it_event_t event;

    CHECK(guard != NULL);
    kit->id = guard;
    kit_tell(kit, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL);
    EXPECT(stub_rdma_lives(guard));
    kit_tell(kit, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL);
    EXPECT(!stub_rdma_lives(guard));
    EXPECT_STATUS(IT_ERR_IA_CATASTROPHE, it_evd_dequeue(kit->node.conn_evd, &event));
}

TEST_ROW(cm_end, the_guard_tells_of_a_removal, kit_each_kind, guard_is_told);

/* The EVD is full: requests are refused and their ids destroyed, and later ones are served. */
static void more_than_there_is_room_for(struct kit *kit)
{
    it_evd_handle_t evd = fx_evd(&kit->node, IT_CM_REQ_EVENT_STREAM, 2, IT_THRESHOLD_DISABLE);
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    struct rdma_cm_id *asked[4];
    it_event_t event;

    CHECK_OK(it_listen_create(kit->node.ia, kit->node.spigot, evd, IT_LISTEN_NO_FLAG, &qual,
                              &kit->listener));
    kit->listen_id = stub_rdma_newest(RDMA_PS_TCP);
    for (unsigned i = 0; i < 4; i++) {
        kit_ask(kit);
        asked[i] = kit->id;
    }
    EXPECT(stub_rdma_lives(asked[0]) && stub_rdma_lives(asked[1]));
    EXPECT(!stub_rdma_lives(asked[2]) && !stub_rdma_lives(asked[3]));
    for (unsigned i = 0; i < 2; i++) {
        CHECK_OK(it_evd_dequeue(evd, &event));
        CHECK_OK(it_reject(event.conn_req.cn_est_id, NULL, 0));
    }
    EXPECT_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(evd, &event));
}

TEST_ROW(cm_end, no_room_for_a_request, kit_each_kind, more_than_there_is_room_for);

/* More requests than an IA may hold undecided, but each is decided before the next one. */
static void one_after_the_other(struct kit *kit)
{
    kit_listen(kit);
    for (unsigned i = 0; i <= VERBS_CM_UNDECIDED_MAX; i++) {
        kit_ask(kit);
        CHECK_OK(it_reject(fx_request(&kit->node, NULL), NULL, 0));
    }
}

TEST_ROW(cm_end, decided_requests_make_room, kit_each_kind, one_after_the_other);
