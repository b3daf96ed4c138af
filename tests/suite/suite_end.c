/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How connections end: by either side, or by the death of a process; and endpoints that are used
 * again.
 */
#include "suite/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define POSTED 5

static void post_receives(it_ep_handle_t ep, const struct fx_buf *buf)
{
    for (unsigned i = 0; i < POSTED; i++)
        fx_recv(ep, buf, 0, buf->size, 100 + i);
}

/* Checks that all receives are flushed in order, and no others. */
static void receives_flushed(struct suite_side *side, it_ep_handle_t ep)
{
    for (unsigned i = 0; i < POSTED; i++)
        fx_done(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 100 + i, IT_DTO_ERR_FLUSHED);
    fx_empty(side->node.recv_evd);
}

/* ---- Disconnecting --------------------------------------------------------------------------- */

/* First the near side disconnects, then the far one. Later posts are flushed, too. */
static void disconnect(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 64);

    for (int by_near = 0; by_near < 2; by_near++) {
        it_ep_handle_t ep = suite_joined(side);

        post_receives(ep, &buf);
        suite_meet(side, "posted");
        if (side->near == (by_near != 0))
            CHECK_OK(it_ep_disconnect(ep, NULL, 0));
        fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
        receives_flushed(side, ep);
        CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_disconnect(ep, NULL, 0));

        fx_recv(ep, &buf, 0, 64, 7);
        fx_send(ep, &buf, 0, 64, 8, FX_QUIET);
        fx_done(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 7, IT_DTO_ERR_FLUSHED);
        fx_done(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 8, IT_DTO_ERR_FLUSHED);
        fx_empty(side->node.conn_evd);
        CHECK_OK(it_ep_free(ep));
    }
    fx_buf_free(&buf);
}

/* Both at once. */
static void disconnect_crossing(struct suite_side *side)
{
    for (unsigned i = 0; i < 4; i++) {
        it_ep_handle_t ep = suite_joined(side);
        it_status_t status;

        suite_meet(side, "now");
        status = it_ep_disconnect(ep, NULL, 0);
        if (status != IT_SUCCESS)
            CHECK_STATUS(IT_ERR_INVALID_EP_STATE, status); /* the peer was first */
        suite_ended(side, ep);
        CHECK_OK(it_ep_free(ep));
    }
}

/* The side that posts Writes disconnects in the middle of them. No request fails. */
static void disconnect_busy_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 65536);
    it_ep_handle_t ep = suite_joined(side);
    struct suite_region region = suite_hear_region(side);

    for (unsigned round = 0; round < 4; round++) {
        unsigned posted = 0;

        for (; posted < 16; posted++)
            suite_write(ep, &buf, 0, 65536, &region, 0, posted, FX_SIGNAL);
        CHECK_OK(it_ep_disconnect(ep, NULL, 0));
        for (unsigned done = 0; done < posted; done++) {
            it_event_t event = fx_next(side->node.request_evd);

            CHECK_EQ(done, event.dto_cmpl.cookie);
            if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS)
                CHECK_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
        }
        fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        suite_meet(side, "ended");
        fx_empty(side->node.conn_evd);
        fx_empty(side->node.aff_evd);
        CHECK_OK(it_ep_reset(ep));
        suite_join(side, ep);
    }
    suite_part(side, ep);
    fx_buf_free(&buf);
}

static void disconnect_busy_far(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 65536);
    it_ep_handle_t ep = suite_joined(side);

    suite_tell_region(side, &buf);
    for (unsigned round = 0; round < 4; round++) {
        suite_ended(side, ep);
        suite_meet(side, "ended");
        CHECK_OK(it_ep_reset(ep));
        suite_join(side, ep);
    }
    suite_part(side, ep);
    fx_buf_free(&buf);
}

static void freed_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 64);
    it_ep_handle_t ep = suite_joined(side);

    post_receives(ep, &buf);
    suite_meet(side, "posted");
    suite_ended(side, ep);
    receives_flushed(side, ep);
    ep = suite_joined(side);
    suite_meet(side, "again");
    suite_ended(side, ep);
}

/* First the endpoint is freed, then a whole IA. */
static void freed_far(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);

    suite_meet(side, "posted");
    CHECK_OK(it_ep_free(ep));
    fx_empty(side->node.conn_evd);
    (void)suite_joined(side);
    suite_meet(side, "again");
    CHECK_OK(it_ia_free(side->node.ia));
    side->node.ia = NULL;
}

/* ---- A peer that is killed ------------------------------------------------------------------- */

static void killed_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 64);
    it_ep_handle_t ep = suite_joined(side);

    post_receives(ep, &buf);
    suite_meet(side, "posted");
    suite_ended(side, ep);
    receives_flushed(side, ep);
    CHECK_OK(it_ep_reset(ep));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
}

static void killed_far(struct suite_side *side)
{
    (void)suite_joined(side);
    suite_meet(side, "posted");
    (void)kill(getpid(), SIGKILL);
}

/*
 * The peer dies in the middle of Writes and Reads. Each request gets its outcome, in order. A Write
 * may have left before an earlier Read fails.
 */
static void killed_busy_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 65536);
    it_ep_handle_t ep = suite_joined(side);
    struct suite_region region = suite_hear_region(side);
    unsigned posted = 0;
    unsigned done = 0;
    bool failed = false;

    while (!failed) {
        while (posted - done < 16) {
            if (posted % 2)
                suite_read(ep, &buf, 0, 30000, &region, 0, posted, FX_SIGNAL);
            else
                suite_write(ep, &buf, 30000, 30000, &region, 30000, posted, FX_SIGNAL);
            posted++;
        }
        for (; done < posted; done++) {
            it_event_t event = fx_next(side->node.request_evd);

            CHECK_EQ(done, event.dto_cmpl.cookie);
            failed = failed || event.dto_cmpl.dto_status != IT_DTO_SUCCESS;
            CHECK(!failed || event.dto_cmpl.dto_status != IT_DTO_SUCCESS ||
                  event.event_number == IT_DTO_RDMA_WRITE_CMPL_EVENT);
        }
        if (done == 16)
            suite_meet(side, "busy");
    }
    suite_ended(side, ep);
    fx_empty(side->node.request_evd);
}

static void killed_busy_far(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 65536);

    (void)suite_joined(side);
    suite_tell_region(side, &buf);
    suite_meet(side, "busy");
    (void)kill(getpid(), SIGKILL);
}

/* ---- A peer that vanishes ------------------------------------------------------------------- */

/*
 * The peer can no longer be reached in either direction. The connection is idle; a Write of no
 * octets finds out after some time.
 */
static void vanished_near(struct suite_side *side)
{
    const char *cut = getenv("ITAPI_TEST_CUT");
    struct fx_buf buf = fx_buf_make(&side->node, 64);
    it_ep_handle_t ep;
    it_event_t event;
    unsigned next = 0;

    if (cut == NULL) {
        printf("skipped: end_vanished: ITAPI_TEST_CUT names no command that cuts the cable\n");
        exit(SUITE_SKIPPED);
    }
    ep = suite_joined(side);
    post_receives(ep, &buf);
    suite_meet(side, "posted");
    CHECK_EQ(0, system(cut));
    /*
     * A transport may report requests as successful when they were sent, without an
     * acknowledgement.
     */
    do {
        if (next == 0)
            CHECK_OK(it_post_rdma_write(ep, NULL, 0, next, FX_SIGNAL, 0, 0));
        else
            fx_send(ep, &buf, 0, 64, next, FX_SIGNAL);
        event = fx_next(side->node.request_evd);
        CHECK_EQ(next++, event.dto_cmpl.cookie);
    } while (event.dto_cmpl.dto_status == IT_DTO_SUCCESS && next < POSTED);
    suite_ended(side, ep);
    receives_flushed(side, ep);
    CHECK_OK(it_ep_reset(ep));
    CHECK_OK(it_ep_free(ep));
    suite_meet(side, "noticed");
}

/* This side learns nothing and can free its objects. */
static void vanished_far(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 64);
    it_ep_handle_t ep;

    if (getenv("ITAPI_TEST_CUT") == NULL)
        exit(SUITE_SKIPPED);
    ep = suite_joined(side);
    post_receives(ep, &buf);
    suite_meet(side, "posted");
    suite_meet(side, "noticed");
    CHECK_OK(it_ep_free(ep));
}

/* The far side has an undecided request when it dies. The kernel may reject the request for it. */
static void killed_undecided_near(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);
    it_event_t event;

    suite_connect(side, ep, NULL, 0);
    event = fx_next(side->node.conn_evd);
    if (event.event_number != IT_CM_MSG_CONN_PEER_REJECT_EVENT)
        CHECK_EQ(IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, event.event_number);
    CHECK(event.conn.ep == ep);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    fx_empty(side->node.conn_evd);
}

static void killed_undecided_far(struct suite_side *side)
{
    (void)suite_listen(side);
    (void)fx_request(&side->node, NULL);
    (void)kill(getpid(), SIGKILL);
}

/* The active side gives up. The passive side may learn of it before or after its decision. */
static void given_up_near(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);

    suite_connect(side, ep, NULL, 0);
    suite_meet(side, "requested");
    CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    suite_meet(side, "given up");
    CHECK_OK(it_ep_reset(ep));
    fx_empty(side->node.conn_evd);
    suite_join(side, ep);
}

static void given_up_far(struct suite_side *side)
{
    it_listen_handle_t listener = suite_listen(side);
    it_cn_est_identifier_t id = fx_request(&side->node, NULL);
    it_ep_handle_t ep = suite_ep(side);
    it_status_t status;

    suite_meet(side, "requested");
    suite_meet(side, "given up");
    status = it_ep_accept(ep, id, NULL, 0);
    if (status == IT_SUCCESS) {
        it_event_t event = fx_next(side->node.conn_evd);

        if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT)
            event = fx_next(side->node.conn_evd);
        CHECK(event.event_number == IT_CM_MSG_CONN_NONPEER_REJECT_EVENT ||
              event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT ||
              event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_reset(ep));
    } else {
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, status);
        CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    }
    CHECK_OK(it_listen_free(listener));
    suite_join(side, ep);
}

/* ---- Used again ------------------------------------------------------------------------------ */

/* One endpoint has many connections, made and ended by either side, with receives left to flush. */
static void reuse(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 64);
    it_ep_handle_t ep = suite_ep(side);

    CHECK_OK(it_ep_reset(ep)); /* no effect */
    for (unsigned round = 0; round < 6; round++) {
        suite_join_from(side, ep, side->near == (round % 2 == 0));
        suite_ping(side, ep);
        post_receives(ep, &buf);
        suite_meet(side, "posted");
        if (side->near == (round < 3))
            CHECK_OK(it_ep_disconnect(ep, NULL, 0));
        fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        receives_flushed(side, ep);
        CHECK_STATUS(IT_ERR_INVALID_EP_STATE,
                     suite_connect_to(side, ep, 1, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
        CHECK_OK(it_ep_reset(ep));
        CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    }
    fx_empty(side->node.conn_evd);
    fx_empty(side->node.request_evd);
    CHECK_OK(it_ep_free(ep));
    fx_buf_free(&buf);
}

const struct suite_case suite_end_cases[] = {
    {.name = "end_disconnect", .near = disconnect, .far = disconnect},
    {.name = "end_disconnect_crossing", .near = disconnect_crossing, .far = disconnect_crossing},
    {.name = "end_disconnect_busy", .near = disconnect_busy_near, .far = disconnect_busy_far},
    {.name = "end_freed", .near = freed_near, .far = freed_far},
    {.name = "end_killed", .near = killed_near, .far = killed_far, .far_dies = true},
    {.name = "end_killed_busy", .near = killed_busy_near, .far = killed_busy_far, .far_dies = true},
    {.name = "end_killed_undecided",
     .near = killed_undecided_near,
     .far = killed_undecided_far,
     .far_dies = true},
    {.name = "end_vanished", .near = vanished_near, .far = vanished_far},
    {.name = "end_given_up", .near = given_up_near, .far = given_up_far},
    {.name = "end_reuse", .near = reuse, .far = reuse},
    {0},
};
