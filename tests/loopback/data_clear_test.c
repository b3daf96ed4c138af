/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ep_flush, itx_ep_clear and ITX_ASYNC_AFF_EP_LAST_RECV. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_pair.h"

static void no_word(const struct fx_node *node)
{
    fx_empty(node->conn_evd);
    fx_empty(node->aff_evd);
}

static void flushed(it_evd_handle_t evd, it_ep_handle_t ep, it_event_type_t number,
                    it_dto_cookie_t cookie)
{
    fx_done(evd, ep, number, cookie, IT_DTO_ERR_FLUSHED);
}

static void peer_sees_the_end(void)
{
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_empty(pair.b.aff_evd);
}

Test(data_clear, flush_of_a_connection, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf buf = fx_node_buf(&pair.a, 64);
    struct fx_buf theirs = fx_node_buf(&pair.b, 64);

    fx_recv(pair.a_ep, &buf, 0, 64, 1);
    fx_recv(pair.a_ep, &buf, 0, 64, 2);
    /* This Write is held back, so it is flushed for certain. */
    fx_write(pair.a_ep, &buf, 0, 64, &theirs, 0, 3,
             (it_dto_flags_t)(FX_SIGNAL | IT_COALESCE_WR_FLAG));
    CHECK_OK(itx_ep_flush(pair.a_ep));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(pair.a_ep));
    flushed(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1);
    flushed(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2);
    flushed(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3);
    /* Later posts are flushed, too. A second flush does nothing. */
    fx_recv(pair.a_ep, &buf, 0, 64, 4);
    flushed(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 4);
    CHECK_OK(itx_ep_flush(pair.a_ep));
    no_word(&pair.a);
    peer_sees_the_end();
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_disconnect(pair.a_ep, NULL, 0));
    fx_pair_rejoin(&pair);
    fx_pair_ping(&pair);
}

Test(data_clear, flush_of_an_idle_endpoint, .init = pair_init, .fini = pair_fini)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_buf buf = fx_node_buf(&pair.a, 64);
    it_ep_handle_t ep = fx_ep(&pair.a, &attr);

    fx_recv(ep, &buf, 0, 64, 1);
    CHECK_OK(itx_ep_flush(ep));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    flushed(pair.a.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1);
    CHECK_OK(it_post_send(ep, NULL, 0, 2, FX_SIGNAL));
    flushed(pair.a.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 2);
    no_word(&pair.a);
    CHECK_OK(it_ep_reset(ep));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    CHECK_OK(it_ep_free(ep));
}

/* The attempt is given up: the other side finds the request gone. */
static void attempt(it_status_t (*end)(it_ep_handle_t), it_ep_state_rc_t state)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_buf buf = fx_node_buf(&pair.a, 64);
    it_ep_handle_t ep = fx_ep(&pair.a, &attr);
    uint16_t port;
    it_listen_handle_t listener = fx_listen(&pair.b, &port);

    fx_recv(ep, &buf, 0, 64, 1);
    fx_connect(&pair.a, ep, port);
    CHECK_OK(end(ep));
    CHECK_EQ(state, fx_ep_state(ep));
    if (state == IT_EP_STATE_NONOPERATIONAL)
        flushed(pair.a.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1);
    fx_empty(pair.a.recv_evd);
    no_word(&pair.a);
    CHECK_OK(it_ep_free(ep));
    CHECK_OK(it_listen_free(listener));
    fx_drain(pair.b.listen_evd);
}

Test(data_clear, attempts, .init = pair_init, .fini = pair_fini)
{
    attempt(itx_ep_flush, IT_EP_STATE_NONOPERATIONAL);
    attempt(itx_ep_clear, IT_EP_STATE_UNCONNECTED);
    fx_pair_ping(&pair);
}

Test(data_clear, clear_of_a_connection, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf buf = fx_node_buf(&pair.a, 64);
    struct fx_buf theirs = fx_node_buf(&pair.b, 64);

    for (uint64_t i = 0; i < 20; i++) {
        for (uint64_t j = 0; j < 64; j++)
            fx_recv(pair.a_ep, &buf, 0, 64, j);
        fx_write(pair.a_ep, &buf, 0, 64, &theirs, 0, 3,
                 (it_dto_flags_t)(FX_SIGNAL | IT_COALESCE_WR_FLAG));
        CHECK_OK(itx_ep_clear(pair.a_ep));
        CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(pair.a_ep));
        fx_empty(pair.a.recv_evd);
        fx_empty(pair.a.request_evd);
        no_word(&pair.a);
        peer_sees_the_end();
        CHECK_OK(itx_ep_clear(pair.b_ep));
        fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
        fx_pair_ping(&pair);
    }
}

Test(data_clear, clear_of_an_idle_endpoint, .init = pair_init, .fini = pair_fini)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_buf buf = fx_node_buf(&pair.a, 64);
    it_ep_handle_t ep = fx_ep(&pair.a, &attr);

    for (unsigned i = 0; i < 3; i++) {
        for (uint64_t j = 0; j < 64; j++)
            fx_recv(ep, &buf, 0, 64, j);
        CHECK_OK(itx_ep_clear(ep));
        CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    }
    CHECK_OK(itx_ep_flush(ep));
    CHECK_OK(itx_ep_clear(ep));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    fx_empty(pair.a.recv_evd);
    no_word(&pair.a);
    CHECK_OK(it_ep_free(ep));
}

/* A link that was posted and never ran releases its region. */
Test(data_clear, cleared_links_let_go, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf buf = fx_buf_make(&pair.a, 64);
    it_rmr_handle_t rmr;
    it_rmr_context_t key;

    CHECK_OK(it_rmr_create20(pair.a.pz, IT_RMR_TYPE_WIDE, &rmr));
    CHECK_OK(it_rmr_link(rmr, buf.lmr, buf.data, 64, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE_READ,
                         pair.a_ep, 1, (it_dto_flags_t)(FX_SIGNAL | IT_COALESCE_WR_FLAG), &key));
    CHECK_OK(itx_ep_clear(pair.a_ep));
    peer_sees_the_end();
    CHECK_OK(it_lmr_free(buf.lmr));
    CHECK_OK(it_rmr_free(rmr));
    free(buf.data);
}

/* ---- The last receive ----------------------------------------------------------------------- */

static it_ep_handle_t shared_endpoint(it_srq_handle_t srq, bool tells)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = fx_srq_ep(&pair.a, srq, &attr);

    if (tells)
        CHECK_OK(itx_ep_tell_last_recv(ep, IT_TRUE));
    return ep;
}

static void last_recv(it_ep_handle_t ep)
{
    it_event_t event = fx_next(pair.a.aff_evd);

    CHECK_EQ(ITX_ASYNC_AFF_EP_LAST_RECV, event.event_number);
    CHECK(event.aff_async.cause.ep == ep);
    CHECK(strcmp("ITX_ASYNC_AFF_EP_LAST_RECV", itx_event_string(event.event_number)) == 0);
}

Test(data_clear, the_last_receive, .init = pair_init, .fini = pair_fini)
{
    it_srq_handle_t srq = fx_srq(&pair.a, 1, 8);
    it_ep_handle_t silent = shared_endpoint(srq, false);
    it_ep_handle_t ep = shared_endpoint(srq, true);
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t peer = fx_ep(&pair.b, &attr);

    CHECK_OK(itx_ep_flush(silent));
    no_word(&pair.a);
    CHECK_OK(itx_ep_flush(ep));
    last_recv(ep);
    CHECK_OK(itx_ep_flush(ep)); /* once */
    CHECK_OK(it_ep_reset(ep));
    no_word(&pair.a);
    fx_join(&pair.a, ep, &pair.b, peer);
    CHECK_OK(it_ep_disconnect(peer, NULL, 0));
    last_recv(ep);
    fx_conn(pair.a.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(pair.b.conn_evd, peer, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    /* An endpoint without an S-RQ has no last receive to report. */
    CHECK_OK(itx_ep_tell_last_recv(pair.a_ep, IT_TRUE));
    CHECK_OK(itx_ep_flush(pair.a_ep));
    no_word(&pair.a);
    peer_sees_the_end();
    CHECK_OK(it_ep_free(peer));
    CHECK_OK(it_ep_free(ep));
    CHECK_OK(it_ep_free(silent));
    CHECK_OK(it_srq_free(srq));
}
