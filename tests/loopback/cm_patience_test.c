/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_mpa_params.patience_us: the peer's host refuses TCP connections for a while. */
#include <criterion/criterion.h>

#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

#define LONG_US  UINT64_C(3600000000)
#define SHORT_US UINT64_C(40000)

static struct {
    struct fx_node near;
    struct fx_node far;
    it_ep_handle_t ep;
    struct fx_buf buf;
    int kept; /* a socket that has the port, and does not listen */
    uint16_t port;
} t;

static void open_nodes(void)
{
    fx_node_open(&t.near);
    fx_node_open(&t.far);
    t.ep = fx_ep(&t.near, NULL);
    t.buf = fx_node_buf(&t.near, 64);
    t.kept = raw_keep_port(&t.port);
}

static void close_nodes(void)
{
    CHECK_OK(it_ep_free(t.ep));
    (void)close(t.kept);
    fx_node_close(&t.far);
    fx_node_close(&t.near);
}

static void connect_patiently(uint64_t patience_us, uint64_t limit_us)
{
    struct itx_mpa_params mpa = fx_mpa(t.ep);
    it_path_t path = fx_path(&t.near);
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = t.port};

    mpa.patience_us = patience_us;
    CHECK_OK(itx_ep_set_mpa_params(t.ep, &mpa));
    path.timeout = limit_us;
    fx_recv(t.ep, &t.buf, 0, 64, 1);
    CHECK_OK(it_ep_connect(t.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
}

static void refused(it_conn_reject_code_t code)
{
    it_event_t event = fx_conn(t.near.conn_evd, t.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);

    CHECK_EQ(code, event.conn.reject_reason_code);
    fx_done(t.near.recv_evd, t.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
}

/*
 * The first attempt has been refused when it_ep_connect returns. The receive posted before is used.
 */
Test(cm_patience, listens_later, .init = open_nodes, .fini = close_nodes)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = t.port};
    it_ep_handle_t far_ep = fx_ep(&t.far, NULL);
    it_listen_handle_t listener;
    struct fx_buf message = fx_node_buf(&t.far, 64);

    connect_patiently(LONG_US, 0);
    CHECK_OK(it_listen_create(t.far.ia, t.far.spigot, t.far.listen_evd, IT_LISTEN_CONN_QUAL_INPUT,
                              &qual, &listener));
    CHECK_OK(it_ep_accept(far_ep, fx_request(&t.far, NULL), NULL, 0));
    fx_conn(t.near.conn_evd, t.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(t.far.conn_evd, far_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_send(far_ep, &message, 0, 64, 2, FX_QUIET);
    fx_done_len(t.near.recv_evd, t.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 64);
    CHECK_OK(it_listen_free(listener));
    CHECK_OK(it_ep_free(far_ep));
    (void)fx_next(t.near.conn_evd);
}

Test(cm_patience, nobody_ever_listens, .init = open_nodes, .fini = close_nodes)
{
    connect_patiently(SHORT_US, 0);
    refused(IT_CN_REJ_OTHER);
}

Test(cm_patience, not_beyond_the_limit, .init = open_nodes, .fini = close_nodes)
{
    connect_patiently(LONG_US, SHORT_US);
    refused(IT_CN_REJ_OTHER);
}

Test(cm_patience, none_by_default, .init = open_nodes, .fini = close_nodes)
{
    CHECK_EQ(0, fx_mpa(t.ep).patience_us);
    connect_patiently(0, 0);
    refused(IT_CN_REJ_OTHER);
}

Test(cm_patience, given_up, .init = open_nodes, .fini = close_nodes)
{
    connect_patiently(LONG_US, 0);
    CHECK_OK(it_ep_disconnect(t.ep, NULL, 0));
    fx_done(t.near.recv_evd, t.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    (void)fx_next(t.near.conn_evd);
    CHECK_OK(it_ep_reset(t.ep));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(t.ep));
}

/* The IA is freed while the endpoint keeps trying. */
Test(cm_patience, closed, .init = open_nodes, .fini = close_nodes)
{
    struct fx_node node = t.near;
    it_ep_handle_t ep = t.ep;
    struct fx_buf buf = t.buf;

    fx_node_open(&t.near);
    t.ep = fx_ep(&t.near, NULL);
    t.buf = fx_node_buf(&t.near, 64);
    connect_patiently(LONG_US, 0);
    CHECK_OK(it_ep_free(t.ep));
    fx_node_close(&t.near);
    t.near = node;
    t.ep = ep;
    t.buf = buf;
}
