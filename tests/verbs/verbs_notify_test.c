/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting, descriptors, callbacks and AEVDs on top of a device's completions. */
#include "verbs/fixture_stub.h"

#include "vp/verbs/device/verbs_ep.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

TestSuite(verbs_notify, .init = stub_start);

struct waiter {
    pthread_t thread;
    it_evd_handle_t evd;
    _Atomic int id;
    it_event_t event;
    unsigned arms; /* number of arms by the thread */
};

static void *wait_one(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&waiter->id, fx_thread_id());
    waiter->event = fx_wait(waiter->evd);
    waiter->arms = stub_arms();
    pthread_testcancel();
    return NULL;
}

static void waiter_start(struct waiter *waiter, it_evd_handle_t evd)
{
    waiter->evd = evd;
    atomic_store(&waiter->id, 0);
    CHECK_EQ(0, pthread_create(&waiter->thread, NULL, wait_one, waiter));
    FX_WAIT_WHILE(atomic_load(&waiter->id) == 0, "the thread to begin");
    fx_thread_sleeps(atomic_load(&waiter->id));
}

Test(verbs_notify, a_sleeping_thread_is_woken, .init = stub_pair, .fini = stub_close)
{
    struct waiter waiter;

    for (unsigned k = 0; k < 20; k++) {
        waiter_start(&waiter, n.fx.request_evd);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
        CHECK_EQ(0, pthread_join(waiter.thread, NULL));
        CHECK_EQ(k, waiter.event.dto_cmpl.cookie);
    }
}

/*
 * A wait is no cancellation point, although sleeping and the calls of the device's library are. So
 * the thread gives its place back, takes its event, and ends behind the call.
 */
Test(verbs_notify, a_cancelled_thread_takes_its_event, .init = stub_pair, .fini = stub_close)
{
    struct waiter waiter;
    void *result;

    for (unsigned k = 1; k <= 20; k++) {
        waiter.event.dto_cmpl.cookie = 0;
        waiter_start(&waiter, n.fx.request_evd);
        CHECK_EQ(0, pthread_cancel(waiter.thread));
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
        CHECK_EQ(0, pthread_join(waiter.thread, &result));
        CHECK(result == PTHREAD_CANCELED);
        CHECK_EQ(k, waiter.event.dto_cmpl.cookie);
    }
    waiter_start(&waiter, n.fx.request_evd);
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 21, FX_SIGNAL);
    CHECK_EQ(0, pthread_join(waiter.thread, NULL));
    CHECK_EQ(21, waiter.event.dto_cmpl.cookie);
}

/* The completion comes behind the poll before the arming, so no notification tells of it. */
Test(verbs_notify, a_completion_just_before_arming, .init = stub_pair, .fini = stub_close)
{
    struct waiter waiter;

    CHECK_OK(itx_ia_set_spin(n.fx.ia, 0));
    for (unsigned k = 0; k < 20; k++) {
        stub_hold(stub_qp(n.a), true);
        stub_release_at_arm(stub_qp(n.a));
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
        waiter.evd = n.fx.request_evd;
        CHECK_EQ(0, pthread_create(&waiter.thread, NULL, wait_one, &waiter));
        CHECK_EQ(0, pthread_join(waiter.thread, NULL));
        CHECK_EQ(k, waiter.event.dto_cmpl.cookie);
    }
}

/*
 * itx_ia_set_spin: a waiter polls once, twice more to arm the device, once when it leaves, and once
 * at the end.
 */
Test(verbs_notify, a_thread_may_be_kept_from_polling, .init = stub_pair, .fini = stub_close)
{
    struct waiter waiter;
    it_event_t event;
    unsigned looks;

    CHECK_OK(itx_ia_set_spin(n.fx.ia, 0));
    looks = stub_looks();
    for (unsigned k = 0; k < 20; k++)
        CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(n.fx.request_evd, 1000, &event, NULL));
    CHECK(stub_looks() - looks <= 20 * 5);
    for (unsigned k = 0; k < 20; k++) {
        waiter_start(&waiter, n.fx.request_evd);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
        CHECK_EQ(0, pthread_join(waiter.thread, NULL));
        CHECK_EQ(k, waiter.event.dto_cmpl.cookie);
    }
}

/*
 * Arming is a system call on some devices. A waiter arms before it sleeps and when it leaves. A
 * late wake of the previous waiter may make it sleep a second time.
 */
Test(verbs_notify, a_sleep_arms_the_device_twice, .fini = stub_close)
{
    const struct stub_shape one_queue = {.events = 1024};
    struct waiter waiter;
    it_event_t event;
    unsigned before;

    stub_node_pair(&n, &one_queue);
    CHECK_OK(itx_ia_set_spin(n.fx.ia, 0));
    before = stub_arms();
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(n.fx.request_evd, 1000, &event, NULL));
    CHECK_EQ(2, stub_arms() - before);
    for (unsigned k = 0; k < 20; k++) {
        waiter_start(&waiter, n.fx.request_evd);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
        CHECK_EQ(0, pthread_join(waiter.thread, NULL));
        CHECK_EQ(k, waiter.event.dto_cmpl.cookie);
        CHECK(waiter.arms >= 2);
        CHECK_EQ(0, waiter.arms % 2);
    }
}

/* One of the threads sleeps on the device's descriptor. When it leaves, another takes its place. */
Test(verbs_notify, several_sleeping_threads_are_woken, .init = stub_pair, .fini = stub_close)
{
    struct waiter waiters[4];
    unsigned seen = 0;

    for (unsigned i = 0; i < 4; i++)
        waiter_start(&waiters[i], n.fx.request_evd);
    for (unsigned k = 0; k < 4; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(0, pthread_join(waiters[i].thread, NULL));
        seen |= 1u << waiters[i].event.dto_cmpl.cookie;
    }
    CHECK_EQ(15, seen);
}

/*
 * Requests are flushed without the device, so the descriptor on which the thread sleeps stays
 * silent.
 */
Test(verbs_notify, a_sleeping_thread_is_told_of_a_flush, .fini = stub_close)
{
    struct waiter waiter;

    stub.like_siw = true;
    stub_node_pair(&n, &usual);
    stub_disconnected(n.a);
    waiter_start(&waiter, n.fx.request_evd);
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 1, FX_QUIET);
    CHECK_EQ(0, pthread_join(waiter.thread, NULL));
    CHECK_EQ(IT_DTO_ERR_FLUSHED, waiter.event.dto_cmpl.dto_status);
}

Test(verbs_notify, a_threshold_is_waited_for, .fini = stub_close)
{
    const struct stub_shape shape = {.threshold = 3};
    it_event_t event;
    size_t more;

    stub_node_pair(&n, &shape);
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 0, FX_SIGNAL);
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 1, FX_SIGNAL);
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(n.fx.request_evd, 10000, &event, &more));
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 2, FX_SIGNAL);
    CHECK_OK(it_evd_wait(n.fx.request_evd, IT_TIMEOUT_INFINITE, &event, &more));
    CHECK_EQ(0, event.dto_cmpl.cookie);
    CHECK_EQ(2, more);
}

static bool readable(int fd, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, timeout_ms) == 1;
}

Test(verbs_notify, a_descriptor_tells, .fini = stub_close)
{
    const struct stub_shape shape = {.flags = IT_EVD_CREATE_FD, .events = 4};
    it_evd_param_t param;

    stub_node_pair(&n, &shape);
    CHECK_OK(it_evd_query(n.fx.request_evd, IT_EVD_PARAM_FD, &param));
    CHECK(!readable(param.fd, 0));
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned k = 0; k < 10; k++) /* more than the EVD has room for */
            fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
        for (unsigned k = 0; k < 10; k++) {
            CHECK(readable(param.fd, FX_PATIENCE_MS));
            fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, k, IT_DTO_SUCCESS);
        }
        fx_empty(n.fx.request_evd);
        CHECK(!readable(param.fd, 0));
    }
}

/* A thread that waits on the EVD does not change its descriptor. */
Test(verbs_notify, a_descriptor_tells_after_a_wait, .fini = stub_close)
{
    const struct stub_shape shape = {.flags = IT_EVD_CREATE_FD};
    it_evd_param_t param;
    it_event_t event;

    stub.like_siw = true;
    stub_node_pair(&n, &shape);
    CHECK_OK(it_evd_query(n.fx.request_evd, IT_EVD_PARAM_FD, &param));
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(n.fx.request_evd, 10000, &event, NULL));
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 1, FX_SIGNAL);
    CHECK(readable(param.fd, FX_PATIENCE_MS));
    fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, IT_DTO_SUCCESS);
}

static _Atomic unsigned called;

static void count_events(it_evd_handle_t evd, void *argument)
{
    it_event_t event;

    (void)argument;
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        atomic_fetch_add(&called, 1);
}

static void wait_called(unsigned want)
{
    FX_WAIT_WHILE(atomic_load(&called) < want, "the callback");
    CHECK_EQ(want, atomic_load(&called));
}

/* The callback is attached before the first endpoint, and after it. */
Test(verbs_notify, a_callback_is_called)
{
    for (unsigned late = 0; late < 2; late++) {
        atomic_store(&called, 0);
        stub_node_open(&n, &usual);
        if (!late)
            CHECK_OK(it_evd_callback_attach(n.fx.request_evd, count_events, NULL));
        n.a = stub_node_ep(&n, &usual);
        n.b = stub_node_ep(&n, &usual);
        stub_connect(n.a, n.b);
        if (late) {
            fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 0, FX_SIGNAL);
            CHECK_OK(it_evd_callback_attach(n.fx.request_evd, count_events, NULL));
            wait_called(1);
        }
        for (unsigned k = 1; k <= 50; k++) {
            fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
            wait_called(late + k);
        }
        stub_node_close(&n);
    }
}

/* ---------------------------------------------------------------- a sleeping IA thread arms */

#define ARMED_ROUNDS 20u

/* Both EVDs share one CQ. */
static const struct stub_shape armed_shape = {.events = 1024};
static const struct stub_shape armed_fd_shape = {.events = 1024, .flags = IT_EVD_CREATE_FD};

static void nothing(void *argument)
{
    (void)argument;
}

/* Returns the number of arms after the IA's thread has finished all its work. */
static unsigned arms_settled(void)
{
    for (unsigned i = 0; i < 2; i++)
        verbs_host->ia_call((struct ual_ia *)(void *)n.fx.ia, nothing, NULL);
    return stub_all_arms();
}

static void write_one(unsigned cookie)
{
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, cookie, FX_SIGNAL);
}

/* Each report needs one arm. */
Test(verbs_notify, a_descriptor_arms_the_device_once, .fini = stub_close)
{
    it_evd_param_t param;
    unsigned before;

    stub_node_pair(&n, &armed_fd_shape);
    CHECK_OK(it_evd_query(n.fx.request_evd, IT_EVD_PARAM_FD, &param));
    for (unsigned k = 0; k < ARMED_ROUNDS; k++) {
        before = arms_settled();
        write_one(k);
        CHECK(readable(param.fd, FX_PATIENCE_MS));
        fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, k, IT_DTO_SUCCESS);
        fx_empty(n.fx.request_evd);
        CHECK(!readable(param.fd, 0));
        CHECK_EQ(1, arms_settled() - before);
    }
}

Test(verbs_notify, a_callback_arms_the_device_once, .fini = stub_close)
{
    unsigned before;

    atomic_store(&called, 0);
    stub_node_pair(&n, &armed_shape);
    before = arms_settled();
    CHECK_OK(it_evd_callback_attach(n.fx.request_evd, count_events, NULL));
    CHECK_EQ(1, arms_settled() - before);
    for (unsigned k = 0; k < ARMED_ROUNDS; k++) {
        before = arms_settled();
        write_one(k);
        wait_called(k + 1);
        CHECK_EQ(1, arms_settled() - before);
    }
}

Test(verbs_notify, an_aevd_arms_the_device_once, .fini = stub_close)
{
    it_evd_param_t param = {0};
    it_event_t event;
    unsigned before;

    stub_node_pair(&n, &armed_shape);
    CHECK_OK(it_evd_create(n.fx.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 0,
                           NULL, &param.aevd, NULL));
    before = arms_settled();
    CHECK_OK(it_evd_modify(n.fx.request_evd, IT_EVD_PARAM_AEVD_HANDLE, &param));
    CHECK_EQ(1, arms_settled() - before);
    for (unsigned k = 0; k < ARMED_ROUNDS; k++) {
        before = arms_settled();
        write_one(k);
        CHECK_OK(it_evd_wait(param.aevd, FX_PATIENCE_MS * 1000u, &event, NULL));
        CHECK_EQ(k, event.dto_cmpl.cookie);
        CHECK_EQ(1, arms_settled() - before);
    }
}

/* Many completions at once need no more arms. */
Test(verbs_notify, a_burst_arms_the_device_once, .fini = stub_close)
{
    it_evd_param_t param;
    unsigned before;

    stub_node_pair(&n, &armed_fd_shape);
    CHECK_OK(it_evd_query(n.fx.request_evd, IT_EVD_PARAM_FD, &param));
    before = arms_settled();
    stub_hold(stub_qp(n.a), true);
    for (unsigned k = 0; k < 16; k++)
        write_one(k);
    stub_hold(stub_qp(n.a), false);
    CHECK(readable(param.fd, FX_PATIENCE_MS));
    for (unsigned k = 0; k < 16; k++)
        fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, k, IT_DTO_SUCCESS);
    CHECK_EQ(1, arms_settled() - before);
}

/*
 * Polling an EVD that nobody relies on arms nothing. The IA's thread does not arm either after the
 * first completion: until then it is told of all completions, not of failures only.
 */
Test(verbs_notify, polling_arms_nothing, .fini = stub_close)
{
    it_event_t event;
    unsigned before;

    stub_node_pair(&n, &armed_shape);
    before = arms_settled();
    for (unsigned k = 0; k < ARMED_ROUNDS; k++) {
        write_one(k);
        if (k == 0)
            CHECK_EQ(1, arms_settled() - before);
        CHECK_OK(it_evd_dequeue(n.fx.request_evd, &event));
        CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(n.fx.request_evd, &event));
    }
    CHECK_EQ(1, arms_settled() - before);
}

Test(verbs_notify, an_aevd_tells, .fini = stub_close)
{
    struct stub_shape shape = {.events = 4};
    it_evd_param_t param = {0};
    it_evd_handle_t aevd;
    it_event_t event;
    size_t more;

    stub_node_pair(&n, &shape);
    CHECK_OK(it_evd_create(n.fx.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 0,
                           NULL, &aevd, NULL));
    param.aevd = aevd;
    CHECK_OK(it_evd_modify(n.fx.request_evd, IT_EVD_PARAM_AEVD_HANDLE, &param));
    for (unsigned k = 0; k < 10; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
    for (unsigned k = 0; k < 10; k++) {
        CHECK_OK(it_evd_wait(aevd, FX_PATIENCE_MS * 1000u, &event, &more));
        CHECK_EQ(k, event.dto_cmpl.cookie);
    }
}

/* ---------------------------------------------------------------- the device itself */

Test(verbs_notify, a_port_comes_and_goes, .init = stub_open, .fini = stub_close)
{
    it_evd_handle_t evd;
    it_event_t event;

    evd = fx_evd(&n.fx, IT_ASYNC_UNAFF_EVENT_STREAM, 8, 1);
    stub_raise(IBV_EVENT_PORT_ERR, NULL, 1);
    event = fx_wait(evd);
    CHECK_EQ(IT_ASYNC_UNAFF_SPIGOT_OFFLINE, event.unaff_async.event_number);
    CHECK_EQ(1, event.unaff_async.spigot_id);
    stub_raise(IBV_EVENT_PORT_ACTIVE, NULL, 1);
    event = fx_wait(evd);
    CHECK_EQ(IT_ASYNC_UNAFF_SPIGOT_ONLINE, event.unaff_async.event_number);
}

/* Each of these ends the connection. */
Test(verbs_notify, what_the_device_says_of_an_endpoint)
{
    static const struct {
        enum ibv_event_type type;
        it_event_type_t number;
    } rows[] = {
        {IBV_EVENT_QP_FATAL, IT_ASYNC_AFF_EP_FAILURE},
        {IBV_EVENT_QP_ACCESS_ERR, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION},
        {IBV_EVENT_QP_REQ_ERR, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        it_event_t event;

        stub_start();
        stub_pair();
        stub_raise(rows[i].type, stub_qp(n.a), 0);
        event = fx_wait(n.fx.aff_evd);
        CHECK_EQ(rows[i].number, event.aff_async.event_number);
        CHECK(event.aff_async.cause.ep == n.a);
        fx_ep_wait_state(n.a, IT_EP_STATE_NONOPERATIONAL);
        CHECK_EQ(1, stub_failures());
        stub_close();
    }
}

/* None of these is a failure: the connection goes on, and nobody is told. */
Test(verbs_notify, what_is_no_failure_of_an_endpoint, .init = stub_pair, .fini = stub_close)
{
    static const enum ibv_event_type types[] = {
        IBV_EVENT_COMM_EST,     IBV_EVENT_SQ_DRAINED,          IBV_EVENT_PATH_MIG,
        IBV_EVENT_PATH_MIG_ERR, IBV_EVENT_GID_CHANGE,          IBV_EVENT_PKEY_CHANGE,
        IBV_EVENT_LID_CHANGE,   IBV_EVENT_QP_LAST_WQE_REACHED, IBV_EVENT_CQ_ERR,
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        stub_raise(types[i], stub_qp(n.a), 0);
    stub_raise(IBV_EVENT_QP_FATAL, stub_qp(n.b), 0); /* the last one that is read */
    fx_ep_wait_state(n.b, IT_EP_STATE_NONOPERATIONAL);
    CHECK(fx_wait(n.fx.aff_evd).aff_async.cause.ep == n.b);
    fx_empty(n.fx.aff_evd);
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(n.a));
}

Test(verbs_notify, a_device_that_is_gone_fails_the_ia, .init = stub_pair, .fini = stub_close)
{
    it_event_t event;

    stub_raise(IBV_EVENT_DEVICE_FATAL, NULL, 0);
    FX_WAIT_WHILE(it_evd_dequeue(n.fx.request_evd, &event) != IT_ERR_IA_CATASTROPHE,
                  "the IA to fail");
}

/* itx_evd_arm: a waiting thread gets all events. The callback gets those that it leaves. */
Test(verbs_notify, a_callback_is_silent_while_a_thread_waits, .fini = stub_close)
{
    it_event_t event;

    atomic_store(&called, 0);
    stub_node_pair(&n, &armed_shape);
    CHECK_OK(it_evd_callback_attach(n.fx.request_evd, count_events, NULL));
    CHECK_EQ(IT_ERR_OP_NOT_SUPPORTED, itx_evd_arm(n.fx.request_evd, ITX_EVD_ARM_ANY));
    CHECK_OK(itx_evd_arm(n.fx.request_evd, ITX_EVD_ARM_NONE));
    for (unsigned k = 0; k < ARMED_ROUNDS; k++) {
        write_one(k);
        CHECK_OK(it_evd_wait(n.fx.request_evd, FX_PATIENCE_MS * 1000u, &event, NULL));
        CHECK_EQ(k, event.dto_cmpl.cookie);
    }
    (void)arms_settled();
    CHECK_EQ(0, atomic_load(&called));
    write_one(ARMED_ROUNDS);
    (void)arms_settled();
    CHECK_EQ(0, atomic_load(&called));
    CHECK_OK(itx_evd_arm(n.fx.request_evd, ITX_EVD_ARM_OFF));
    wait_called(1);
    write_one(ARMED_ROUNDS + 1);
    wait_called(2);
}
