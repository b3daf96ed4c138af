/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues of the verbs provider, on the stub device. */
#include "verbs/fixture_stub.h"

#include "vp/verbs/device/verbs_ep.h"

#include <criterion/criterion.h>

TestSuite(verbs_srq, .init = stub_start);

static it_ep_handle_t srq_ep(it_srq_handle_t srq)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_request_dtos = 16;
    return fx_srq_ep(&n.fx, srq, &attr);
}

/* The receivers draw in turn. Each event names the endpoint that got the message. */
Test(verbs_srq, receives_go_to_whoever_needs_one, .init = stub_open, .fini = stub_close)
{
    it_ep_handle_t from[4], to[4];
    it_srq_handle_t srq;

    srq = fx_srq(&n.fx, 1, 8);
    for (unsigned i = 0; i < 4; i++) {
        from[i] = stub_node_ep(&n, &usual);
        to[i] = srq_ep(srq);
        stub_connect(from[i], to[i]);
    }
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned k = 0; k < 8; k++)
            fx_srq_recv(srq, &n.buf, 1024 + 64 * k, 64, k);
        {
            it_lmr_triplet_t segment = fx_seg(&n.buf, 0, 8);

            CHECK_STATUS(IT_ERR_TOO_MANY_POSTS,
                         it_post_recv((it_handle_t)srq, &segment, 1, 8, FX_QUIET));
        }
        for (unsigned k = 0; k < 8; k++)
            fx_send(from[(k + round) % 4], &n.buf, 0, k, k, FX_QUIET);
        for (unsigned k = 0; k < 8; k++)
            fx_done_len(n.fx.recv_evd, to[(k + round) % 4], IT_DTO_RC_RECV_CMPL_EVENT, k, k);
        fx_empty(n.fx.recv_evd);
    }
}

/*
 * An endpoint is freed while completions of its messages wait below the EVD. They are dropped, and
 * the receives can be posted again.
 */
Test(verbs_srq, an_endpoint_gives_its_receives_back, .fini = stub_close)
{
    const struct stub_shape shape = {.events = 1};
    it_srq_handle_t srq;

    stub_node_open(&n, &shape);
    srq = fx_srq(&n.fx, 1, 4);
    n.a = stub_node_ep(&n, &shape);
    n.b = srq_ep(srq);
    stub_connect(n.a, n.b);
    for (unsigned k = 0; k < 4; k++)
        fx_srq_recv(srq, &n.buf, 1024, 64, k);
    for (unsigned k = 0; k < 4; k++)
        fx_send(n.a, &n.buf, 0, 8, k, FX_QUIET);
    CHECK_OK(it_ep_free(n.b));
    for (unsigned k = 0; k < 4; k++)
        fx_srq_recv(srq, &n.buf, 1024, 64, k);
    fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, 0, 8);
    fx_empty(n.fx.recv_evd);
}

/* Messages that arrived before a reset are reported after it. */
Test(verbs_srq, messages_outlive_a_reset, .fini = stub_close)
{
    const struct stub_shape shape = {.events = 1};
    it_srq_handle_t srq;

    stub_node_open(&n, &shape);
    srq = fx_srq(&n.fx, 1, 8);
    n.a = stub_node_ep(&n, &shape);
    n.b = srq_ep(srq);
    stub_connect(n.a, n.b);
    for (unsigned k = 0; k < 8; k++)
        fx_srq_recv(srq, &n.buf, 1024, 64, k);
    for (unsigned k = 0; k < 4; k++)
        fx_send(n.a, &n.buf, 0, 8, k, FX_QUIET);
    stub_disconnected(n.a);
    stub_disconnected(n.b);
    CHECK_OK(it_ep_reset(n.a));
    CHECK_OK(it_ep_reset(n.b));
    stub_connect(n.a, n.b);
    for (unsigned k = 4; k < 8; k++)
        fx_send(n.a, &n.buf, 0, 8, k, FX_QUIET);
    for (unsigned k = 0; k < 8; k++)
        fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, k, 8);
}

/* A receive that failed before a reset says nothing about the connection after it. */
Test(verbs_srq, a_failure_before_a_reset_is_over, .fini = stub_close)
{
    const struct stub_shape shape = {.events = 1};
    it_srq_handle_t srq;
    unsigned failures;

    stub_node_open(&n, &shape);
    srq = fx_srq(&n.fx, 1, 8);
    n.a = stub_node_ep(&n, &shape);
    n.b = srq_ep(srq);
    stub_connect(n.a, n.b);
    fx_srq_recv(srq, &n.buf, 1024, 64, 0);
    fx_srq_recv(srq, &n.buf, 1024, 4, 1);
    fx_send(n.a, &n.buf, 0, 8, 0, FX_QUIET);
    fx_send(n.a, &n.buf, 0, 8, 1, FX_QUIET); /* longer than its receive */
    stub_disconnected(n.a);
    stub_disconnected(n.b); /* moves the first one: the EVD is full */
    CHECK_OK(it_ep_reset(n.a));
    CHECK_OK(it_ep_reset(n.b));
    stub_connect(n.a, n.b);
    fx_drain(n.fx.request_evd);
    stub_settle(&n);
    failures = stub_failures();
    fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, 0, 8);
    fx_done(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_LOCAL_LENGTH);
    stub_settle(&n);
    CHECK_EQ(failures, stub_failures());
    fx_srq_recv(srq, &n.buf, 1024, 64, 2);
    fx_send(n.a, &n.buf, 0, 8, 2, FX_QUIET);
    fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, 2, 8);
}

Test(verbs_srq, a_low_watermark_fires_once, .init = stub_open, .fini = stub_close)
{
    it_srq_param_t param = {.low_watermark = 3};
    it_srq_handle_t srq;
    it_event_t event;

    srq = fx_srq(&n.fx, 1, 8);
    n.a = stub_node_ep(&n, &usual);
    n.b = srq_ep(srq);
    stub_connect(n.a, n.b);
    for (unsigned k = 0; k < 5; k++)
        fx_srq_recv(srq, &n.buf, 1024, 64, k);
    CHECK_OK(it_srq_modify(srq, IT_SRQ_PARAM_LOW_WATERMARK, &param));
    for (unsigned k = 0; k < 5; k++)
        fx_send(n.a, &n.buf, 0, 8, k, FX_QUIET);
    event = fx_wait(n.fx.aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_SRQ_LOW_WATERMARK, event.aff_async.event_number);
    CHECK(event.aff_async.cause.srq == srq);
    CHECK_OK(it_srq_query(srq, IT_SRQ_PARAM_LOW_WATERMARK, &param));
    CHECK_EQ(0, param.low_watermark);
    for (unsigned k = 0; k < 5; k++)
        fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, k, 8);
    /* There are fewer receives than the watermark already. */
    param.low_watermark = 3;
    CHECK_OK(it_srq_modify(srq, IT_SRQ_PARAM_LOW_WATERMARK, &param));
    event = fx_wait(n.fx.aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_SRQ_LOW_WATERMARK, event.aff_async.event_number);
    param.low_watermark = 9;
    CHECK_STATUS(IT_ERR_SRQ_LOW_WATERMARK, it_srq_modify(srq, IT_SRQ_PARAM_LOW_WATERMARK, &param));
    fx_empty(n.fx.aff_evd);
}

/* All these endpoints on one S-RQ have no more completions than it has receives. */
Test(verbs_srq, many_endpoints_share_the_room_of_a_cq, .fini = stub_close)
{
    it_ep_handle_t eps[100];
    it_srq_handle_t srq;

    stub.max_cqe = 2048;
    stub_node_open(&n, &usual);
    srq = fx_srq(&n.fx, 1, 1024);
    for (unsigned i = 0; i < 100; i++)
        eps[i] = srq_ep(srq);
    for (unsigned i = 0; i < 100; i++)
        CHECK_OK(it_ep_free(eps[i]));
}
