/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a connection on the verbs provider: which requests are flushed, in which order; and
 * the reset.
 */
#include "verbs/fixture_stub.h"

#include "vp/verbs/device/verbs_ep.h"

#include <criterion/criterion.h>

TestSuite(verbs_flush, .init = stub_start);

enum device {
    PROMPT, /* flushes at once */
    LAZY,   /* later */
    SIW,    /* flushes at once, and forgets later posts */
    DEVICES
};

static void behave_as(enum device device)
{
    stub_start();
    stub.lazy_flush = device == LAZY;
    stub.like_siw = device == SIW;
}

static void expect_flushed(it_evd_handle_t evd, it_event_type_t number, unsigned from, unsigned to)
{
    for (unsigned k = from; k < to; k++)
        fx_done(evd, n.a, number, k, IT_DTO_ERR_FLUSHED);
}

/* Requests are posted before the end, after it but before the library knows, and afterwards. */
static void flush_on(enum device device)
{
    behave_as(device);
    stub_node_pair(&n, &usual);
    stub_hold(stub_qp(n.a), true);
    for (unsigned k = 0; k < 3; k++) {
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, k == 1 ? FX_QUIET : FX_SIGNAL);
        fx_recv(n.a, &n.buf, 0, 8, k);
    }
    if (device == SIW) { /* the QP has failed, and the library does not know yet */
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

        CHECK_EQ(0, ibv_modify_qp(stub_qp(n.a), &attr, IBV_QP_STATE));
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 3, FX_SIGNAL);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 4, FX_QUIET);
    } else {
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 3, FX_QUIET);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 4, FX_QUIET);
    }
    stub_disconnected(n.a);
    for (unsigned k = 5; k < 8; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, k == 6 ? FX_QUIET : FX_SIGNAL);
    for (unsigned k = 3; k < 5; k++)
        fx_recv(n.a, &n.buf, 0, 8, k);
    if (device == LAZY) {
        fx_empty(n.fx.request_evd);
        stub_flush(stub_qp(n.a));
    }
    expect_flushed(n.fx.request_evd, IT_DTO_RDMA_WRITE_CMPL_EVENT, 0, 8);
    expect_flushed(n.fx.recv_evd, IT_DTO_RC_RECV_CMPL_EVENT, 0, 5);
    /* From here on one request at a time is posted. */
    for (unsigned k = 0; k < 40; k++) {
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_QUIET);
        fx_recv(n.a, &n.buf, 0, 8, k);
        expect_flushed(n.fx.request_evd, IT_DTO_RDMA_WRITE_CMPL_EVENT, k, k + 1);
        expect_flushed(n.fx.recv_evd, IT_DTO_RC_RECV_CMPL_EVENT, k, k + 1);
    }
    fx_empty(n.fx.request_evd);
    fx_empty(n.fx.recv_evd);
    stub_node_close(&n);
}

Test(verbs_flush, in_the_order_of_posting)
{
    for (unsigned device = 0; device < DEVICES; device++)
        flush_on((enum device)device);
}

/* Unsignalled requests that have completed are not flushed if the device can tell. */
static void quiet_on(enum device device)
{
    behave_as(device);
    stub_node_pair(&n, &usual);
    for (unsigned k = 0; k < 5; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_QUIET);
    stub_disconnected(n.a);
    stub_flush(stub_qp(n.a));
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 5, FX_QUIET);
    expect_flushed(n.fx.request_evd, IT_DTO_RDMA_WRITE_CMPL_EVENT, 5, 6);
    fx_empty(n.fx.request_evd);
    stub_node_close(&n);
}

Test(verbs_flush, not_what_was_done_quietly)
{
    quiet_on(PROMPT);
    quiet_on(LAZY);
}

/* Events of the old connection come before those of the new one. */
static void reset_on(enum device device, size_t events)
{
    const struct stub_shape shape = {.events = events};

    behave_as(device);
    stub_node_pair(&n, &shape);
    stub_hold(stub_qp(n.a), true);
    for (unsigned k = 0; k < 6; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
    fx_recv(n.a, &n.buf, 0, 8, 0);
    fx_recv(n.a, &n.buf, 0, 8, 1);
    stub_disconnected(n.a);
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 6, FX_SIGNAL);
    stub_disconnected(n.b);
    CHECK_OK(it_ep_reset(n.a));
    CHECK_OK(it_ep_reset(n.b));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(n.a));
    fx_recv(n.a, &n.buf, 128, 8, 2);
    stub_connect(n.a, n.b);
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 7, FX_SIGNAL);
    fx_send(n.b, &n.buf, 0, 8, 50, FX_QUIET);
    expect_flushed(n.fx.request_evd, IT_DTO_RDMA_WRITE_CMPL_EVENT, 0, 7);
    expect_flushed(n.fx.recv_evd, IT_DTO_RC_RECV_CMPL_EVENT, 0, 2);
    fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 7, IT_DTO_SUCCESS);
    fx_done_len(n.fx.recv_evd, n.a, IT_DTO_RC_RECV_CMPL_EVENT, 2, 8);
    fx_empty(n.fx.request_evd);
    fx_empty(n.fx.recv_evd);
    /* The same again. */
    fx_recv(n.a, &n.buf, 0, 8, 3);
    stub_disconnected(n.a);
    stub_flush(stub_qp(n.a));
    expect_flushed(n.fx.recv_evd, IT_DTO_RC_RECV_CMPL_EVENT, 3, 4);
    stub_node_close(&n);
}

Test(verbs_flush, reset_and_connect_again)
{
    for (unsigned device = 0; device < DEVICES; device++) {
        reset_on((enum device)device, 64);
        reset_on((enum device)device, 2); /* most of the completions wait below the EVD */
    }
}

Test(verbs_flush, a_reset_that_fails_changes_nothing, .init = stub_pair, .fini = stub_close)
{
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_reset(n.a));
    stub_disconnected(n.a);
    stub.refuse_qps = 4;
    CHECK_STATUS(IT_ERR_RESOURCES, it_ep_reset(n.a));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(n.a));
    CHECK_OK(it_ep_reset(n.a));
    CHECK_OK(it_ep_reset(n.a));
}

/* A failed request ends the connection. Later ones are flushed. */
Test(verbs_flush, a_failure_ends_the_connection)
{
    static const struct {
        enum ibv_wc_status from;
        it_dto_status_t to;
    } rows[] = {
        {IBV_WC_LOC_LEN_ERR, IT_DTO_ERR_LOCAL_LENGTH},
        {IBV_WC_LOC_PROT_ERR, IT_DTO_ERR_LOCAL_PROTECTION},
        {IBV_WC_REM_ACCESS_ERR, IT_DTO_ERR_REMOTE_ACCESS},
        {IBV_WC_REM_OP_ERR, IT_DTO_ERR_REMOTE_RESPONDER},
        {IBV_WC_RETRY_EXC_ERR, IT_DTO_ERR_TRANSPORT},
        {IBV_WC_RNR_RETRY_EXC_ERR, IT_DTO_ERR_RECEIVER_NOT_READY},
        {IBV_WC_BAD_RESP_ERR, IT_DTO_ERR_BAD_RESPONSE},
        {IBV_WC_LOC_QP_OP_ERR, IT_DTO_ERR_LOCAL_EP},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        stub_start();
        stub_node_pair(&n, &usual);
        stub_fail_next(stub_qp(n.a), rows[i].from);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 1, FX_QUIET);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 2, FX_QUIET);
        fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, rows[i].to);
        fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
        fx_ep_wait_state(n.a, IT_EP_STATE_NONOPERATIONAL);
        CHECK_EQ(1, stub_failures());
        stub_node_close(&n);
    }
}

/* The failure is noticed although nobody polls the EVD. */
Test(verbs_flush, a_failure_is_noticed, .init = stub_pair, .fini = stub_close)
{
    for (unsigned k = 0; k < 5; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
    stub_fail_next(stub_qp(n.a), IBV_WC_REM_ACCESS_ERR);
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 5, FX_QUIET);
    fx_ep_wait_state(n.a, IT_EP_STATE_NONOPERATIONAL);
    for (unsigned k = 0; k < 5; k++)
        fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, k, IT_DTO_SUCCESS);
    fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 5, IT_DTO_ERR_REMOTE_ACCESS);
}

/* This device refuses receives without a segment. */
Test(verbs_flush, an_empty_receive_on_siw, .fini = stub_close)
{
    behave_as(SIW);
    stub_node_pair(&n, &usual);
    CHECK_OK(it_post_recv((it_handle_t)n.b, NULL, 0, 5, FX_QUIET));
    CHECK_OK(it_post_send(n.a, NULL, 0, 6, FX_SIGNAL));
    fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, 5, 0);
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 6, 0);
}

/* ---------------------------------------------------------------- the wrap of the numbers */

#define HELD 40u /* more than one poll takes, and than the numbers have left before the wrap */

/* The queues are longer than one poll takes. Most completions wait below the EVD. */
static const struct stub_shape deep = {.requests = 64, .receives = 64, .events = 2};

static void write_all(unsigned from, unsigned to)
{
    for (unsigned k = from; k < to; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
}

/*
 * The last post of the device has a number behind the wrap, or just below it. What is posted after
 * the end is flushed behind all that the device still has.
 */
static void drain_across_the_wrap(unsigned done)
{
    behave_as(LAZY);
    stub_node_pair(&n, &deep);
    write_all(0, done);
    for (unsigned k = 0; k < done; k++)
        fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, k, IT_DTO_SUCCESS);
    stub_hold(stub_qp(n.a), true);
    write_all(0, HELD);
    for (unsigned k = 0; k < HELD; k++)
        fx_recv(n.a, &n.buf, 0, 8, k);
    stub_disconnected(n.a);
    write_all(HELD, HELD + 3);
    for (unsigned k = HELD; k < HELD + 3; k++)
        fx_recv(n.a, &n.buf, 0, 8, k);
    fx_empty(n.fx.request_evd);
    fx_empty(n.fx.recv_evd);
    stub_flush(stub_qp(n.a));
    expect_flushed(n.fx.request_evd, IT_DTO_RDMA_WRITE_CMPL_EVENT, 0, HELD + 3);
    expect_flushed(n.fx.recv_evd, IT_DTO_RC_RECV_CMPL_EVENT, 0, HELD + 3);
    fx_empty(n.fx.request_evd);
    fx_empty(n.fx.recv_evd);
    stub_node_close(&n);
}

Test(verbs_flush, in_order_across_the_wrap)
{
    for (unsigned done = 0; done < 12; done++)
        drain_across_the_wrap(done);
}

/* Waits until the IA's thread has done what it was told: freeing an EP waits for it. */
static void await_ia(void)
{
    CHECK_OK(it_ep_free(stub_node_ep(&n, &usual)));
}

/*
 * The reset lies on one side of the wrap, and posts of the old or of the new connection on the
 * other. Only a failure of the new one ends it.
 */
static void reset_across_the_wrap(unsigned before, unsigned after)
{
    behave_as(PROMPT);
    stub_node_pair(&n, &deep);
    stub_hold(stub_qp(n.a), true);
    write_all(0, before);
    stub_disconnected(n.a);
    stub_disconnected(n.b);
    CHECK_OK(it_ep_reset(n.a));
    CHECK_OK(it_ep_reset(n.b));
    stub_connect(n.a, n.b);
    expect_flushed(n.fx.request_evd, IT_DTO_RDMA_WRITE_CMPL_EVENT, 0, before);
    write_all(0, after);
    for (unsigned k = 0; k < after; k++)
        fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, k, IT_DTO_SUCCESS);
    await_ia();
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(n.a));
    stub_fail_next(stub_qp(n.a), IBV_WC_REM_ACCESS_ERR);
    write_all(after, after + 1);
    fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, after, IT_DTO_ERR_REMOTE_ACCESS);
    fx_ep_wait_state(n.a, IT_EP_STATE_NONOPERATIONAL);
    stub_node_close(&n);
}

Test(verbs_flush, a_reset_across_the_wrap)
{
    for (unsigned before = 1; before < 14; before++) {
        reset_across_the_wrap(before, 0);
        reset_across_the_wrap(before, 14);
    }
}
