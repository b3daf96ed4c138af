/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * EVDs of several streams on the verbs provider: the place of a connection's end among their
 * events.
 */
#include "verbs/stub_node.h"

#include <criterion/criterion.h>

#define POSTS 6u

TestSuite(verbs_mixed, .init = stub_start);

enum device {
    PROMPT, /* flushes at once */
    LAZY,   /* later */
    SIW     /* flushes at once, and forgets later posts */
};

/* Which EVDs of the endpoint are the same. */
enum merge {
    ALL,
    RECEIVES, /* and connections; requests use another EVD */
    REQUESTS
};

struct mixed {
    struct stub_node n;
    it_evd_handle_t evd;
    enum merge merge;
};

static void mixed_open(struct mixed *mixed, enum device device, enum merge merge)
{
    const struct stub_shape usual = {.events = 0};
    struct stub_node *n = &mixed->n;

    stub_start();
    stub.lazy_flush = device == LAZY;
    stub.like_siw = device == SIW;
    mixed->merge = merge;
    stub_node_open(n, &usual);
    CHECK_OK(itx_evd_create_mixed(n->fx.ia,
                                  ITX_STREAM_DTO | ITX_STREAM_CM_MSG | ITX_STREAM_SOFTWARE,
                                  (it_evd_flags_t)0, 64, 1, NULL, &mixed->evd, NULL));
    n->fx.conn_evd = mixed->evd;
    if (merge != RECEIVES)
        n->fx.request_evd = mixed->evd;
    if (merge != REQUESTS)
        n->fx.recv_evd = mixed->evd;
    n->a = stub_node_ep(n, &usual);
    n->b = stub_node_ep(n, &usual);
    stub_connect(n->a, n->b);
}

static void mixed_post(const struct mixed *mixed)
{
    const struct stub_node *n = &mixed->n;

    stub_hold(stub_qp(n->a), true);
    for (unsigned k = 0; k < POSTS; k++) {
        fx_write(n->a, &n->buf, 0, 8, &n->buf, 64, k, k == 1 ? FX_QUIET : FX_SIGNAL);
        fx_recv(n->a, &n->buf, 0, 8, k);
    }
}

/* Expects all flushed completions, then the end, then nothing. */
static void mixed_expect_end(const struct mixed *mixed)
{
    unsigned expected = mixed->merge == ALL ? 2 * POSTS : POSTS;
    it_event_t event;

    for (unsigned k = 0; k < expected; k++) {
        event = fx_next(mixed->evd);
        CHECK_EQ(IT_DTO_EVENT_STREAM, (unsigned)event.event_number & IT_EVENT_STREAM_MASK);
        CHECK_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
    }
    fx_conn(mixed->evd, mixed->n.a, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_empty(mixed->evd);
}

static void end_on(enum device device, enum merge merge)
{
    struct mixed mixed;

    mixed_open(&mixed, device, merge);
    mixed_post(&mixed);
    stub_disconnect(mixed.n.a);
    if (device == LAZY) {
        fx_empty(mixed.evd); /* the end waits for the completions */
        stub_flush(stub_qp(mixed.n.a));
    }
    mixed_expect_end(&mixed);
    stub_node_close(&mixed.n);
}

Test(verbs_mixed, the_end_comes_behind_all_that_it_flushes)
{
    for (unsigned merge = ALL; merge <= REQUESTS; merge++) {
        end_on(PROMPT, (enum merge)merge);
        end_on(LAZY, (enum merge)merge);
        end_on(SIW, (enum merge)merge);
    }
}

/* Nobody polls: the waiter gets the completions and then the end. */
Test(verbs_mixed, the_end_reaches_a_waiter)
{
    struct mixed mixed;

    mixed_open(&mixed, LAZY, ALL);
    fx_recv(mixed.n.a, &mixed.n.buf, 0, 8, 7);
    stub_disconnect(mixed.n.a);
    stub_flush(stub_qp(mixed.n.a));
    CHECK_EQ(IT_DTO_RC_RECV_CMPL_EVENT, fx_wait(mixed.evd).event_number);
    CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, fx_wait(mixed.evd).event_number);
    stub_node_close(&mixed.n);
}

/* A reset does not wait for the device and loses nothing. */
Test(verbs_mixed, reset_reports_the_end_first)
{
    struct mixed mixed;

    mixed_open(&mixed, LAZY, ALL);
    mixed_post(&mixed);
    stub_disconnect(mixed.n.a);
    CHECK_OK(it_ep_reset(mixed.n.a));
    mixed_expect_end(&mixed);
    stub_node_close(&mixed.n);
}

Test(verbs_mixed, an_endpoint_may_be_freed_before_its_end_is_told)
{
    struct mixed mixed;

    mixed_open(&mixed, LAZY, ALL);
    mixed_post(&mixed);
    stub_disconnect(mixed.n.a);
    CHECK_OK(it_ep_free(mixed.n.a));
    stub_node_close(&mixed.n);
}

/* Requests that the device has completed before another event arrives are reported before it. */
Test(verbs_mixed, completions_come_before_later_events)
{
    struct mixed mixed;
    const struct stub_node *n = &mixed.n;

    mixed_open(&mixed, PROMPT, ALL);
    for (unsigned round = 0; round < 3; round++) {
        fx_write(n->a, &n->buf, 0, 8, &n->buf, 64, 1, FX_SIGNAL);
        CHECK_OK(it_evd_post_se(mixed.evd, &mixed));
        fx_write(n->a, &n->buf, 0, 8, &n->buf, 64, 2, FX_SIGNAL);
        fx_done(mixed.evd, n->a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, IT_DTO_SUCCESS);
        CHECK_EQ(IT_SOFTWARE_EVENT, fx_next(mixed.evd).event_number);
        fx_done(mixed.evd, n->a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, IT_DTO_SUCCESS);
    }
    fx_empty(mixed.evd);
    stub_node_close(&mixed.n);
}
