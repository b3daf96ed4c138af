/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens to posted work when the connection ends; limits of the queues; reset and reuse. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "support/fixture_pair.h"
#include "support/raw_peer.h"

static void disconnected(void)
{
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(pair.a_ep));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(pair.b_ep));
}

/* Opens a pair whose b side holds its requests back, since the a side has sent nothing yet. */
static void held_pair(void)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct itx_mpa_params mpa = {.size = sizeof(mpa),
                                 .revision = 1,
                                 .crc = IT_TRUE,
                                 .peer_to_peer = IT_FALSE,
                                 .rtr_types = ITX_RTR_READ,
                                 .request_markers = IT_FALSE};
    struct fx_pair_setup setup = {.a_attr = &attr, .b_attr = &attr, .a_mpa = &mpa, .b_mpa = &mpa};

    fx_pair_open_as(&pair, &setup);
}

Test(data_flush, receives_in_order_on_both_sides, .init = pair_init, .fini = pair_fini)
{
    for (uint64_t i = 0; i < 20; i++) {
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, i, FX_QUIET));
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 100 + i, FX_SIGNAL));
    }
    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    for (uint64_t i = 0; i < 20; i++) {
        fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
        fx_done(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 100 + i, IT_DTO_ERR_FLUSHED);
    }
    disconnected();
    fx_empty(pair.a.recv_evd);
    fx_empty(pair.b.recv_evd);
    fx_empty(pair.a.conn_evd);
    fx_empty(pair.b.conn_evd);
    fx_empty(pair.a.aff_evd);
    fx_empty(pair.b.aff_evd);
}

/* Requests that never ran are flushed in order, including unsignalled ones. */
Test(data_flush, requests_in_order)
{
    static const it_event_type_t kinds[] = {IT_DTO_SEND_CMPL_EVENT, IT_DTO_RDMA_WRITE_CMPL_EVENT,
                                            IT_DTO_RDMA_READ_CMPL_EVENT};
    struct fx_buf local;
    struct fx_buf remote;

    held_pair();
    local = fx_node_buf(&pair.b, 64);
    remote = fx_node_buf(&pair.a, 64);
    for (uint64_t i = 0; i < 30; i++) {
        it_dto_flags_t flags = i % 2 == 0 ? FX_QUIET : FX_SIGNAL;

        if (i % 3 == 0)
            fx_send(pair.b_ep, &local, 0, 8, i, flags);
        else if (i % 3 == 1)
            fx_write(pair.b_ep, &local, 0, 8, &remote, 0, i, flags);
        else
            fx_read(pair.b_ep, &local, 0, 8, &remote, 0, i, flags);
    }
    fx_empty(pair.b.request_evd);
    CHECK_OK(it_ep_disconnect(pair.b_ep, NULL, 0));
    for (uint64_t i = 0; i < 30; i++)
        fx_done(pair.b.request_evd, pair.b_ep, kinds[i % 3], i, IT_DTO_ERR_FLUSHED);
    fx_empty(pair.b.request_evd);
    disconnected();
    fx_pair_close(&pair);
}

/* A request that fails while an older one waits for the peer completes behind that one. */
Test(data_flush, a_failed_request_keeps_its_place)
{
    struct fx_node node;
    struct raw_peer peer; /* answers nothing */
    it_lmr_triplet_t outside;
    struct fx_buf buf;
    it_ep_handle_t ep;
    int sd;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    raw_socket_pair(&peer, &sd);
    CHECK_OK(it_socket_convert(sd, ep, IT_SC_NO_REQ_REP, NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    buf = fx_node_buf(&node, 64);
    outside = (it_lmr_triplet_t){.lmr = buf.lmr, .addr.abs = buf.data, .length = 65};
    fx_read(ep, &buf, 0, 8, &buf, 0, 1, FX_QUIET);
    CHECK_OK(it_post_send(ep, &outside, 1, 2, FX_SIGNAL));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK_OK(it_post_send(ep, NULL, 0, 3, FX_SIGNAL));
    fx_done(node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    fx_done(node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_ERR_LOCAL_PROTECTION);
    fx_done(node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 3, IT_DTO_ERR_FLUSHED);
    CHECK_OK(it_ep_free(ep));
    raw_close(&peer);
    (void)close(sd);
    fx_node_close(&node);
}

/* The held requests run when the connecting side has sent its first FPDU. */
Test(data_flush, held_requests_run_later)
{
    struct fx_buf local;
    struct fx_buf remote;

    held_pair();
    local = fx_node_buf(&pair.b, 64);
    remote = fx_node_buf(&pair.a, 64);
    fx_fill(local.data, 64, 1);
    CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 1, FX_SIGNAL));
    fx_write(pair.b_ep, &local, 0, 64, &remote, 0, 2, FX_SIGNAL);
    CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, 3, FX_SIGNAL));
    CHECK_OK(it_post_send(pair.b_ep, NULL, 0, 4, FX_SIGNAL));
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 5, FX_SIGNAL));
    fx_done_len(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 3, 0);
    fx_check_same(local.data, remote.data, 64);
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, 64);
    fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 4, 0);
    fx_pair_close(&pair);
}

/* In state NONOPERATIONAL every post is accepted and flushed. */
Test(data_flush, posts_after_the_end, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf buf = fx_node_buf(&pair.a, 64);

    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(pair.a_ep));
    for (uint64_t i = 0; i < 10; i++) {
        fx_recv(pair.a_ep, &buf, 0, 8, i);
        fx_send(pair.a_ep, &buf, 0, 8, 100 + i, FX_QUIET);
        fx_write(pair.a_ep, &buf, 0, 8, &buf, 0, 200 + i, FX_QUIET);
        fx_read(pair.a_ep, &buf, 0, 8, &buf, 0, 300 + i, FX_SIGNAL);
        fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
        fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 100 + i, IT_DTO_ERR_FLUSHED);
        fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 200 + i,
                IT_DTO_ERR_FLUSHED);
        fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 300 + i,
                IT_DTO_ERR_FLUSHED);
    }
    fx_empty(pair.a.request_evd);
    fx_empty(pair.a.recv_evd);
}

static size_t depth(it_ep_handle_t ep, it_ep_param_mask_t mask)
{
    it_ep_param_t param;

    memset(&param, 0, sizeof(param));
    CHECK_OK(it_ep_query(ep, mask, &param));
    return mask == IT_EP_PARAM_MAX_REQ_DTO ? param.attr.max_request_dtos : param.attr.max_recv_dtos;
}

Test(data_flush, too_many_receives, .init = pair_init, .fini = pair_fini)
{
    size_t most = depth(pair.b_ep, IT_EP_PARAM_MAX_RECV_DTO);

    CHECK(most >= 64);
    for (uint64_t i = 0; i < most; i++)
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(pair.b_ep, NULL, 0, 999, FX_SIGNAL));
    for (uint64_t i = 0; i < 3 * most; i++) {
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, i, FX_SIGNAL));
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, i, 0);
        /* Its slot is free now, and no other. */
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i + most, FX_SIGNAL));
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(pair.b_ep, NULL, 0, 999, FX_SIGNAL));
    }
}

Test(data_flush, too_many_requests)
{
    size_t most;

    held_pair();
    most = depth(pair.b_ep, IT_EP_PARAM_MAX_REQ_DTO);
    CHECK(most >= 64);
    for (uint64_t i = 0; i < most; i++) {
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_post_send(pair.b_ep, NULL, 0, i, FX_SIGNAL));
    }
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_send(pair.b_ep, NULL, 0, 999, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS,
                 it_post_rdma_write(pair.b_ep, NULL, 0, 999, FX_SIGNAL, 0, 0));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS,
                 it_post_rdma_read(pair.b_ep, NULL, 0, 999, FX_SIGNAL, 0, 0));
    /* Let the held requests run. */
    CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 0, FX_SIGNAL));
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 0, FX_SIGNAL));
    for (uint64_t i = 0; i < most; i++) {
        fx_done_len(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
        fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_SEND_CMPL_EVENT, i, 0);
    }
    fx_pair_close(&pair);
}

/* A later signalled request returns the slots of unsignalled ones. */
Test(data_flush, slots_of_unsignalled_requests, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf local = fx_node_buf(&pair.a, 64);
    struct fx_buf remote = fx_node_buf(&pair.b, 64);
    size_t most = depth(pair.a_ep, IT_EP_PARAM_MAX_REQ_DTO);

    for (unsigned round = 0; round < 20; round++) {
        for (uint64_t i = 1; i < most; i++)
            fx_write(pair.a_ep, &local, 0, 8, &remote, 0, i, FX_QUIET);
        fx_write(pair.a_ep, &local, 0, 8, &remote, 0, most, FX_SIGNAL);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, most, 8);
    }
    fx_empty(pair.a.request_evd);
}

/* The same endpoints, connected again and again. */
Test(data_flush, reset_and_reuse, .init = pair_init, .fini = pair_fini)
{
    for (uint64_t i = 0; i < 20; i++) {
        CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_reset(pair.a_ep));
        fx_pair_ping(&pair);
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_ep_disconnect(i % 2 == 0 ? pair.a_ep : pair.b_ep, NULL, 0));
        fx_done(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
        disconnected();
        CHECK_OK(it_ep_reset(pair.a_ep));
        CHECK_OK(it_ep_reset(pair.b_ep));
        CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(pair.a_ep));
        CHECK_OK(it_ep_reset(pair.a_ep)); /* no effect */
        fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
    }
    fx_pair_ping(&pair);
}

/* Queued completions stay when the endpoint is reset. */
Test(data_flush, completions_survive_reset, .init = pair_init, .fini = pair_fini)
{
    for (uint64_t i = 0; i < 3; i++)
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, i, FX_SIGNAL));
    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    CHECK_OK(it_ep_reset(pair.a_ep));
    for (uint64_t i = 0; i < 3; i++)
        fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
}

/* Receives posted before the connection are used by it. */
Test(data_flush, receives_before_connect)
{
    struct fx_buf in;
    struct fx_buf out;

    fx_node_open(&pair.a);
    fx_node_open(&pair.b);
    pair.a_ep = fx_ep(&pair.a, NULL);
    pair.b_ep = fx_ep(&pair.b, NULL);
    in = fx_node_buf(&pair.b, 64);
    out = fx_node_buf(&pair.a, 64);
    fx_fill(out.data, 64, 9);
    fx_recv(pair.b_ep, &in, 0, 64, 1);
    fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
    fx_empty(pair.b.recv_evd);
    fx_send(pair.a_ep, &out, 0, 64, 2, FX_SIGNAL);
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 64);
    fx_check_same(out.data, in.data, 64);
    fx_pair_close(&pair);
}

/* The state is never older than an event that was dequeued (invariant 1). */
Test(data_flush, state_before_events, .init = pair_init, .fini = pair_fini)
{
    it_event_t event;

    for (unsigned i = 0; i < 20; i++) {
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
        event = fx_wait(pair.b.recv_evd);
        CHECK_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
        CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(pair.b_ep));
        disconnected();
        fx_pair_rejoin(&pair);
    }
}

/* it_ep_free of a live connection raises no local event. The peer sees the end once. */
Test(data_flush, ep_free_of_live_connection)
{
    it_event_t event;

    fx_pair_open(&pair);
    for (uint64_t i = 0; i < 5; i++) {
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
    }
    CHECK_OK(it_ep_free(pair.a_ep));
    CHECK_STATUS(IT_ERR_INVALID_EP, it_ep_free(pair.a_ep));
    event = fx_next(pair.b.conn_evd);
    CHECK(event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
          event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT);
    for (uint64_t i = 0; i < 5; i++)
        fx_done(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
    fx_empty(pair.a.conn_evd);
    fx_empty(pair.a.recv_evd);
    CHECK_OK(it_ep_free(pair.b_ep));
    fx_node_close(&pair.a);
    fx_node_close(&pair.b);
}

/* After it_ia_free of a live connection the peer sees the end. */
Test(data_flush, ia_free_of_live_connection)
{
    it_event_t event;

    fx_pair_open(&pair);
    CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 1, FX_SIGNAL));
    fx_node_close(&pair.a);
    event = fx_next(pair.b.conn_evd);
    CHECK(event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
          event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_done(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    fx_node_close(&pair.b);
}
