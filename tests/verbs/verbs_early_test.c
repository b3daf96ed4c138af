/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives that complete before their connection is reported, on the stub device. */
#include "verbs/fixture_stub.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

TestSuite(verbs_early, .init = stub_start);

/* The EVDs of these have one CQ, which all endpoints share. */
static const struct stub_shape one_queue = {.events = 1024};
/* Most completions of these wait below the EVD. */
static const struct stub_shape small = {.events = 1};

/* Posts receives with the cookies from first on. */
static void post(it_ep_handle_t ep, unsigned first, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        fx_recv(ep, &n.buf, 1024, 64, first + k);
}

/* Sends messages whose lengths tell them apart. */
static void send_many(it_ep_handle_t ep, unsigned first, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        fx_send(ep, &n.buf, 0, (first + k) % 64, first + k, FX_QUIET);
}

static void got(it_evd_handle_t evd, it_ep_handle_t ep, unsigned first, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        fx_done_len(evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, first + k, (first + k) % 64);
}

static void got_flushed(it_evd_handle_t evd, it_ep_handle_t ep, unsigned first, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        fx_done(evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, first + k, IT_DTO_ERR_FLUSHED);
}

/* One side is established, and the consumer knows. */
static void establish(it_ep_handle_t ep)
{
    stub_established(ep);
    fx_conn(n.fx.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

/* Makes an endpoint and a peer that is established already, and can send to it. */
static void call(it_ep_handle_t *peer, it_ep_handle_t *ep, const struct stub_shape *shape)
{
    *peer = stub_node_ep(&n, shape);
    *ep = stub_node_ep(&n, shape);
    stub_attempt(*peer, *ep);
    establish(*peer);
}

static void open_call(const struct stub_shape *shape)
{
    stub_node_open(&n, shape);
    call(&n.a, &n.b, shape);
}

static void nothing_is_shown(it_evd_handle_t evd)
{
    it_event_t events[4];
    size_t count;

    fx_empty(evd);
    CHECK_STATUS(IT_ERR_QUEUE_EMPTY, itx_evd_dequeue_n(evd, 4, events, &count));
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(evd, 0, events, NULL));
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(evd, 2000, events, NULL));
}

/* The consumer can answer as soon as it sees a message. */
Test(verbs_early, receives_wait_for_the_event, .fini = stub_close)
{
    open_call(&one_queue);
    post(n.b, 0, 8);
    send_many(n.a, 0, 3);
    nothing_is_shown(n.fx.recv_evd);
    send_many(n.a, 3, 2);
    nothing_is_shown(n.fx.recv_evd);
    establish(n.b);
    got(n.fx.recv_evd, n.b, 0, 5);
    fx_empty(n.fx.recv_evd);
    send_many(n.a, 5, 3);
    got(n.fx.recv_evd, n.b, 5, 3);
    post(n.a, 0, 1);
    send_many(n.b, 0, 1);
    got(n.fx.recv_evd, n.a, 0, 1);
}

Test(verbs_early, the_event_comes_first_in_a_mixed_queue, .fini = stub_close)
{
    it_evd_handle_t mixed;

    stub_node_open(&n, &usual);
    CHECK_OK(itx_evd_create_mixed(n.fx.ia, ITX_STREAM_DTO | ITX_STREAM_CM_MSG, (it_evd_flags_t)0,
                                  64, 1, NULL, &mixed, NULL));
    n.a = stub_node_ep(&n, &usual);
    n.fx.recv_evd = mixed;
    n.fx.conn_evd = mixed;
    n.b = stub_node_ep(&n, &usual);
    stub_attempt(n.a, n.b);
    stub_established(n.a);
    post(n.b, 0, 8);
    for (unsigned polls = 0; polls < 2; polls++) {
        send_many(n.a, 4 * polls, 4);
        if (polls)
            nothing_is_shown(mixed);
    }
    establish(n.b);
    got(mixed, n.b, 0, 8);
    fx_empty(mixed);
}

/* Messages that arrive just before the event are still in the device when it is reported. */
Test(verbs_early, receives_that_nobody_has_polled_come_in_order, .fini = stub_close)
{
    open_call(&one_queue);
    post(n.b, 0, 16);
    send_many(n.a, 0, 4);
    nothing_is_shown(n.fx.recv_evd);
    send_many(n.a, 4, 8);
    establish(n.b);
    send_many(n.a, 12, 4);
    got(n.fx.recv_evd, n.b, 0, 16);
    fx_empty(n.fx.recv_evd);
}

/* More than one poll takes, and more than the EVD has room for. */
Test(verbs_early, many_receives_wait, .fini = stub_close)
{
    const struct stub_shape shape = {.receives = 500, .requests = 500, .events = 8};

    open_call(&shape);
    post(n.b, 0, 500);
    for (unsigned k = 0; k < 500; k += 50) {
        send_many(n.a, k, 50);
        nothing_is_shown(n.fx.recv_evd);
    }
    establish(n.b);
    got(n.fx.recv_evd, n.b, 0, 500);
    fx_empty(n.fx.recv_evd);
    post(n.b, 500, 500);
    send_many(n.a, 500, 500);
    got(n.fx.recv_evd, n.b, 500, 500);
}

/* ---------------------------------------------------------------- several endpoints */

Test(verbs_early, others_are_not_delayed, .fini = stub_close)
{
    it_ep_handle_t from[3], to[3];

    stub_node_open(&n, &one_queue);
    for (unsigned i = 0; i < 3; i++) {
        call(&from[i], &to[i], &one_queue);
        post(to[i], 0, 16);
    }
    establish(to[2]);
    for (unsigned k = 0; k < 8; k++) {
        for (unsigned i = 0; i < 3; i++)
            send_many(from[i], k, 1);
        got(n.fx.recv_evd, to[2], k, 1);
        fx_empty(n.fx.recv_evd);
    }
    establish(to[1]);
    got(n.fx.recv_evd, to[1], 0, 8);
    fx_empty(n.fx.recv_evd);
    send_many(from[0], 8, 1);
    send_many(from[1], 8, 1);
    establish(to[0]);
    for (unsigned i = 0; i < 2; i++)
        send_many(from[i], 9, 1);
    got(n.fx.recv_evd, to[0], 0, 9);
    got(n.fx.recv_evd, to[1], 8, 1);
    got(n.fx.recv_evd, to[0], 9, 1);
    got(n.fx.recv_evd, to[1], 9, 1);
    fx_empty(n.fx.recv_evd);
}

#define MANY 6u

struct many {
    it_ep_handle_t from[MANY], to[MANY];
    bool live[MANY];
    unsigned posted[MANY], sent[MANY], seen[MANY];
};

static void many_renew(struct many *many, unsigned i)
{
    stub_disconnected(many->from[i]);
    if (many->live[i])
        stub_disconnected(many->to[i]);
    else
        stub_attempt_failed(many->to[i]);
    CHECK_OK(it_ep_reset(many->from[i]));
    CHECK_OK(it_ep_reset(many->to[i]));
    stub_attempt(many->from[i], many->to[i]);
    stub_established(many->from[i]);
    many->live[i] = false;
    many->sent[i] = many->posted[i]; /* the rest has been flushed */
    fx_drain(n.fx.conn_evd);
}

/* The completions of the old endpoints that nobody has taken go with them. */
static void many_replace(struct many *many, unsigned i)
{
    CHECK_OK(it_ep_free(many->to[i]));
    CHECK_OK(it_ep_free(many->from[i]));
    call(&many->from[i], &many->to[i], &usual);
    many->live[i] = false;
    many->seen[i] = many->sent[i] = many->posted[i];
}

static void many_establish(struct many *many, unsigned i)
{
    if (many->live[i])
        return;
    establish(many->to[i]);
    many->live[i] = true;
}

/* In order, and a success only once the connection has been reported. */
static void many_see(struct many *many, const it_event_t *event)
{
    unsigned i = 0;

    while (many->to[i] != event->dto_cmpl.ep)
        CHECK(++i < MANY);
    CHECK_EQ(many->seen[i], event->dto_cmpl.cookie);
    many->seen[i]++;
    if (event->dto_cmpl.dto_status == IT_DTO_SUCCESS)
        CHECK(many->live[i]);
    else
        CHECK_EQ(IT_DTO_ERR_FLUSHED, event->dto_cmpl.dto_status);
}

static void many_step(struct many *many, uint32_t *random)
{
    unsigned i = fx_random(random) % MANY;
    it_event_t event;

    switch (fx_random(random) % 16) {
    case 0:
        if (fx_random(random) % 4 != 0)
            break;
        /* Successes of the old connection may be told while the new one is not reported. */
        while (it_evd_dequeue(n.fx.recv_evd, &event) == IT_SUCCESS)
            many_see(many, &event);
        if (fx_random(random) % 2)
            many_renew(many, i);
        else
            many_replace(many, i);
        break;
    case 1:
        many_establish(many, i);
        break;
    case 2:
    case 3:
    case 4:
    case 5:
        if (many->posted[i] - many->seen[i] < 16)
            post(many->to[i], many->posted[i]++, 1);
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        if (many->sent[i] != many->posted[i])
            send_many(many->from[i], many->sent[i]++, 1);
        break;
    default:
        if (it_evd_dequeue(n.fx.recv_evd, &event) == IT_SUCCESS)
            many_see(many, &event);
        break;
    }
}

/* Endpoints come and go in any order. */
Test(verbs_early, any_order_of_steps, .fini = stub_close)
{
    static struct many many;
    uint32_t random = 1;
    it_event_t event;

    stub_node_open(&n, &usual);
    for (unsigned i = 0; i < MANY; i++) {
        call(&many.from[i], &many.to[i], &usual);
    }
    for (unsigned k = 0; k < 10000; k++)
        many_step(&many, &random);
    for (unsigned i = 0; i < MANY; i++) {
        many_establish(&many, i);
        send_many(many.from[i], many.sent[i], many.posted[i] - many.sent[i]);
    }
    while (it_evd_dequeue(n.fx.recv_evd, &event) == IT_SUCCESS)
        many_see(&many, &event);
    for (unsigned i = 0; i < MANY; i++)
        CHECK_EQ(many.posted[i], many.seen[i]);
}

/* ---------------------------------------------------------------- ends */

/* The failure ends the connection when it is shown, not while an attempt would ignore it. */
Test(verbs_early, a_failure_waits_too, .fini = stub_close)
{
    open_call(&one_queue);
    post(n.b, 0, 1);
    fx_recv(n.b, &n.buf, 1024, 4, 1);
    post(n.b, 2, 1);
    send_many(n.a, 0, 1);
    fx_send(n.a, &n.buf, 0, 8, 1, FX_QUIET); /* longer than its receive */
    FX_WAIT_WHILE(stub_failures() < 1, "the failure of the sender");
    nothing_is_shown(n.fx.recv_evd);
    stub_settle(&n);
    CHECK_EQ(1, stub_failures());
    establish(n.b);
    got(n.fx.recv_evd, n.b, 0, 1);
    fx_done(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_LOCAL_LENGTH);
    FX_WAIT_WHILE(stub_failures() < 2, "the failure of the receiver");
    got_flushed(n.fx.recv_evd, n.b, 2, 1);
}

enum device {
    PROMPT, /* flushes at once */
    LAZY,   /* later */
    SIW,    /* flushes at once, and forgets later posts */
    DEVICES
};

/* Without a connection no message was received. */
Test(verbs_early, a_failed_attempt_flushes)
{
    for (unsigned device = PROMPT; device < DEVICES; device++)
        for (unsigned polled = 0; polled < 2; polled++) {
            stub_start();
            stub.lazy_flush = device == LAZY;
            stub.like_siw = device == SIW;
            open_call(&one_queue);
            post(n.b, 0, 6);
            send_many(n.a, 0, 3);
            if (polled)
                nothing_is_shown(n.fx.recv_evd);
            stub_attempt_failed(n.b);
            fx_conn(n.fx.conn_evd, n.b, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
            if (device == LAZY)
                stub_flush(stub_qp(n.b));
            post(n.b, 6, 2);
            got_flushed(n.fx.recv_evd, n.b, 0, 8);
            fx_empty(n.fx.recv_evd);
            stub_node_close(&n);
        }
}

static void attempt_again(void)
{
    CHECK_OK(it_ep_reset(n.a));
    CHECK_OK(it_ep_reset(n.b));
    stub_attempt(n.a, n.b);
    establish(n.a);
}

static void reset_between_attempts(const struct stub_shape *shape)
{
    open_call(shape);
    post(n.b, 0, 2);
    send_many(n.a, 0, 2);
    nothing_is_shown(n.fx.recv_evd);
    stub_attempt_failed(n.b);
    fx_conn(n.fx.conn_evd, n.b, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    stub_disconnected(n.a);
    attempt_again();
    post(n.b, 2, 4);
    send_many(n.a, 2, 2);
    got_flushed(n.fx.recv_evd, n.b, 0, 2);
    nothing_is_shown(n.fx.recv_evd);
    establish(n.b);
    got(n.fx.recv_evd, n.b, 2, 2);
    send_many(n.a, 4, 1);
    stub_disconnected(n.a);
    stub_disconnected(n.b);
    attempt_again();
    post(n.b, 6, 1);
    send_many(n.a, 6, 1);
    got(n.fx.recv_evd, n.b, 4, 1);
    got_flushed(n.fx.recv_evd, n.b, 5, 1);
    nothing_is_shown(n.fx.recv_evd);
    establish(n.b);
    got(n.fx.recv_evd, n.b, 6, 1);
    stub_node_close(&n);
}

/* What is left of one attempt is told during the next one, whose own receives wait. */
Test(verbs_early, a_reset_keeps_the_attempts_apart)
{
    reset_between_attempts(&one_queue);
    reset_between_attempts(&small);
}

Test(verbs_early, a_freed_endpoint_takes_them_along, .fini = stub_close)
{
    it_ep_handle_t from, to;

    open_call(&one_queue);
    call(&from, &to, &one_queue);
    post(n.b, 0, 4);
    post(to, 0, 4);
    send_many(n.a, 0, 2);
    send_many(from, 0, 2);
    nothing_is_shown(n.fx.recv_evd);
    send_many(n.a, 2, 2);
    CHECK_OK(it_ep_free(n.b));
    nothing_is_shown(n.fx.recv_evd);
    establish(to);
    got(n.fx.recv_evd, to, 0, 2);
    fx_empty(n.fx.recv_evd);
}

/* ---------------------------------------------------------------- shared receive queues */

struct shared {
    it_srq_handle_t srq;
    it_ep_handle_t from[2], to[2];
};

static void shared_open(struct shared *s, const struct stub_shape *shape)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_request_dtos = 16;
    stub_node_open(&n, shape);
    s->srq = fx_srq(&n.fx, 1, 8);
    for (unsigned i = 0; i < 2; i++) {
        s->from[i] = stub_node_ep(&n, shape);
        s->to[i] = fx_srq_ep(&n.fx, s->srq, &attr);
        stub_attempt(s->from[i], s->to[i]);
        establish(s->from[i]);
    }
}

static void shared_post(const struct shared *s, unsigned first, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        fx_srq_recv(s->srq, &n.buf, 1024, 64, first + k);
}

Test(verbs_early, receives_of_an_srq_wait, .fini = stub_close)
{
    struct shared s;

    shared_open(&s, &one_queue);
    shared_post(&s, 0, 8);
    establish(s.to[1]);
    for (unsigned k = 0; k < 8; k++)
        send_many(s.from[k % 2], k, 1);
    for (unsigned k = 1; k < 8; k += 2)
        got(n.fx.recv_evd, s.to[1], k, 1);
    nothing_is_shown(n.fx.recv_evd);
    shared_post(&s, 8, 4); /* those that were shown have room again */
    establish(s.to[0]);
    for (unsigned k = 0; k < 8; k += 2)
        got(n.fx.recv_evd, s.to[0], k, 1);
    send_many(s.from[0], 8, 1);
    got(n.fx.recv_evd, s.to[0], 8, 1);
    fx_empty(n.fx.recv_evd);
}

/* The consumer learns which receives are used up, however the attempt ends. */
Test(verbs_early, an_srq_gets_its_receives_back, .fini = stub_close)
{
    struct shared s;

    shared_open(&s, &one_queue);
    for (unsigned frees = 0; frees < 2; frees++) {
        shared_post(&s, 0, 8);
        send_many(s.from[frees], 0, 4);
        nothing_is_shown(n.fx.recv_evd);
        send_many(s.from[frees], 4, 4);
        if (frees) {
            CHECK_OK(it_ep_free(s.to[frees]));
        } else {
            stub_attempt_failed(s.to[frees]);
            fx_conn(n.fx.conn_evd, s.to[frees], IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
        }
        got_flushed(n.fx.recv_evd, s.to[frees], 0, 8);
        fx_empty(n.fx.recv_evd);
    }
    shared_post(&s, 0, 8);
}

static void reset_on_an_srq(const struct stub_shape *shape)
{
    struct shared s;

    shared_open(&s, shape);
    shared_post(&s, 0, 8);
    n.a = s.from[0];
    n.b = s.to[0];
    establish(n.b);
    send_many(n.a, 0, 3);
    stub_disconnected(n.a);
    stub_disconnected(n.b);
    attempt_again();
    send_many(n.a, 3, 2);
    got(n.fx.recv_evd, n.b, 0, 3);
    nothing_is_shown(n.fx.recv_evd);
    establish(n.b);
    got(n.fx.recv_evd, n.b, 3, 2);
    stub_node_close(&n);
}

/* What is left of the connection before a reset does not wait for the next one. */
Test(verbs_early, a_reset_keeps_the_receives_of_an_srq_apart)
{
    reset_on_an_srq(&one_queue);
    reset_on_an_srq(&small);
}

/* ---------------------------------------------------------------- those who wait */

static _Atomic bool reported, woken;
static _Atomic int waiter_id;

static void *wait_for_message(void *argument)
{
    it_event_t *event = argument;

    atomic_store(&waiter_id, fx_thread_id());
    CHECK_OK(it_evd_wait(n.fx.recv_evd, IT_TIMEOUT_INFINITE, event, NULL));
    atomic_store(&woken, true);
    return atomic_load(&reported) ? argument : NULL;
}

/* Another endpoint on the same CQ comes and goes while the receives wait. */
static void disturb(void)
{
    it_ep_handle_t from, to;

    call(&from, &to, &one_queue);
    CHECK_OK(it_ep_free(to));
    CHECK_OK(it_ep_free(from));
}

/* The device tells the thread of the message; it goes on sleeping. */
Test(verbs_early, a_sleeping_thread_is_woken_by_the_event, .fini = stub_close)
{
    pthread_t thread;
    it_event_t event;
    void *result;

    for (unsigned spins = 0; spins < 2; spins++) {
        open_call(&one_queue);
        atomic_store(&reported, false);
        atomic_store(&woken, false);
        atomic_store(&waiter_id, 0);
        if (!spins)
            CHECK_OK(itx_ia_set_spin(n.fx.ia, 0));
        post(n.b, 0, 4);
        CHECK_EQ(0, pthread_create(&thread, NULL, wait_for_message, &event));
        FX_WAIT_WHILE(atomic_load(&waiter_id) == 0, "the thread to begin");
        for (unsigned k = 0; k < 3; k++) {
            fx_thread_sleeps(atomic_load(&waiter_id));
            send_many(n.a, k, 1);
        }
        fx_thread_sleeps(atomic_load(&waiter_id));
        disturb();
        atomic_store(&reported, true);
        establish(n.b);
        FX_WAIT_WHILE(!atomic_load(&woken), "the thread to wake");
        CHECK_EQ(0, pthread_join(thread, &result));
        CHECK(result != NULL);
        CHECK_EQ(0, event.dto_cmpl.cookie);
        got(n.fx.recv_evd, n.b, 1, 2);
        if (!spins)
            stub_node_close(&n);
    }
}

static bool readable(int fd, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, timeout_ms) == 1;
}

Test(verbs_early, a_descriptor_tells_of_the_event, .fini = stub_close)
{
    const struct stub_shape shape = {.flags = IT_EVD_CREATE_FD, .events = 1024};
    it_evd_param_t param;

    open_call(&shape);
    CHECK_OK(it_evd_query(n.fx.recv_evd, IT_EVD_PARAM_FD, &param));
    post(n.b, 0, 4);
    for (unsigned k = 0; k < 4; k++) {
        send_many(n.a, k, 1);
        stub_settle(&n);
        CHECK(!readable(param.fd, 0));
    }
    establish(n.b);
    CHECK(readable(param.fd, FX_PATIENCE_MS));
    got(n.fx.recv_evd, n.b, 0, 4);
    CHECK(!readable(param.fd, 0));
}

static _Atomic unsigned called;

static void count_messages(it_evd_handle_t evd, void *argument)
{
    it_event_t event;

    (void)argument;
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        atomic_fetch_add(&called, 1);
}

Test(verbs_early, a_callback_follows_the_event, .fini = stub_close)
{
    atomic_store(&called, 0);
    open_call(&one_queue);
    CHECK_OK(it_evd_callback_attach(n.fx.recv_evd, count_messages, NULL));
    post(n.b, 0, 4);
    send_many(n.a, 0, 4);
    stub_settle(&n);
    CHECK_EQ(0, atomic_load(&called));
    establish(n.b);
    FX_WAIT_WHILE(atomic_load(&called) < 4, "the callback");
}

Test(verbs_early, an_aevd_is_told_of_the_event)
{
    struct stub_shape shape = {.events = 64};
    it_event_t event;
    size_t count;

    stub_node_open(&n, &usual);
    CHECK_OK(it_evd_create(n.fx.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 1,
                           NULL, &shape.aevd, NULL));
    CHECK_OK(it_evd_create(n.fx.ia, IT_DTO_EVENT_STREAM, shape.flags, 64, 1, shape.aevd,
                           &n.fx.recv_evd, NULL));
    call(&n.a, &n.b, &shape);
    post(n.b, 0, 4);
    send_many(n.a, 0, 2);
    stub_settle(&n);
    CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(shape.aevd, &event));
    establish(n.b);
    CHECK_OK(itx_aevd_wait(shape.aevd, IT_TIMEOUT_INFINITE, 1, &event, &count));
    CHECK_EQ(1, count);
    stub_node_close(&n);
}

/* ---------------------------------------------------------------- connection management */

/*
 * InfiniBand: the first message says that the peer is established, so the event need not wait for
 * the peer's confirmation, which may be lost.
 */
Test(verbs_early, connection_management_hears_of_the_first_message)
{
    for (unsigned iwarp = 0; iwarp < 2; iwarp++) {
        stub_start();
        stub.like_iwarp = iwarp;
        open_call(&one_queue);
        post(n.b, 0, 8);
        for (unsigned k = 0; k < 3; k++) {
            send_many(n.a, k, 1);
            nothing_is_shown(n.fx.recv_evd);
        }
        stub_settle(&n);
        CHECK_EQ(iwarp ? 0 : 1, stub_heard());
        establish(n.b);
        send_many(n.a, 3, 1);
        got(n.fx.recv_evd, n.b, 0, 4);
        stub_settle(&n);
        CHECK_EQ(iwarp ? 0 : 1, stub_heard());
        stub_disconnected(n.a);
        stub_disconnected(n.b);
        attempt_again();
        fx_drain(n.fx.recv_evd);
        post(n.b, 8, 1);
        send_many(n.a, 8, 1);
        fx_empty(n.fx.recv_evd);
        stub_settle(&n);
        CHECK_EQ(iwarp ? 0 : 2, stub_heard());
        stub_node_close(&n);
    }
}
