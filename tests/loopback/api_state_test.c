/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes every call that depends on the endpoint's state in every state that an iWARP endpoint can
 * have.
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "support/fixture_node.h"
#include "support/raw_peer.h"
#include "support/fixture_pair.h"

/* An endpoint in the wanted state, and the objects that keep it there. */
struct stage {
    struct fx_node node;
    struct fx_node other;
    struct raw_peer peer;
    it_ep_handle_t ep;
    it_ep_handle_t other_ep;
    it_cn_est_identifier_t id; /* an undecided request on the node */
    struct raw_peer client;    /* the client of that request */
    uint16_t port;             /* port of the node's listener */
    int spare;                 /* a socket that could be converted */
    struct raw_peer spare_peer;
};

static void reach_active1(struct stage *stage)
{
    uint16_t port = 0;
    int listener = raw_listen(&port);

    fx_connect(&stage->node, stage->ep, port);
    raw_accept(&stage->peer, listener);
    (void)close(listener);
}

static void reach_wait(struct stage *stage)
{
    int fd = -1;

    raw_socket_pair(&stage->peer, &fd);
    CHECK_OK(it_socket_convert(fd, stage->ep, ITX_SC_RESPONDER, NULL, 0));
    (void)close(fd);
}

static void reach_connected(struct stage *stage)
{
    fx_node_open(&stage->other);
    stage->other_ep = fx_ep(&stage->other, NULL);
    fx_join(&stage->other, stage->other_ep, &stage->node, stage->ep);
}

static void stage_open(struct stage *stage, it_ep_state_rc_t state)
{
    RAW_BYTES(request);

    memset(stage, 0, sizeof(*stage));
    stage->peer.fd = -1;
    fx_node_open(&stage->node);
    stage->ep = fx_ep(&stage->node, NULL);
    if (state == IT_EP_STATE_ACTIVE1_CONNECTION_PENDING)
        reach_active1(stage);
    else if (state == IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ)
        reach_wait(stage);
    else if (state != IT_EP_STATE_UNCONNECTED)
        reach_connected(stage);
    if (state == IT_EP_STATE_NONOPERATIONAL) {
        CHECK_OK(it_ep_disconnect(stage->ep, NULL, 0));
        fx_conn(stage->node.conn_evd, stage->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    }
    CHECK_EQ(state, fx_ep_state(stage->ep));

    (void)fx_listen(&stage->node, &stage->port);
    raw_connect(&stage->client, stage->port);
    raw_mpa1(&request, false, RAW_MPA_C);
    CHECK(raw_send(&stage->client, &request));
    stage->id = fx_request(&stage->node, NULL);
    raw_socket_pair(&stage->spare_peer, &stage->spare);
}

static void stage_close(struct stage *stage)
{
    fx_node_close(&stage->node);
    if (stage->other.ia != NULL)
        fx_node_close(&stage->other);
    raw_close(&stage->peer);
    raw_close(&stage->client);
    raw_close(&stage->spare_peer);
    (void)close(stage->spare);
}

static it_status_t try_connect(struct stage *stage)
{
    it_path_t path = fx_path(&stage->node);
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = stage->port;
    return it_ep_connect(stage->ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0);
}

/* A refused call changes nothing, so all refused calls can be tried on one endpoint. */
static void refusals(it_ep_state_rc_t state)
{
    const it_status_t refused = IT_ERR_INVALID_EP_STATE;
    bool posts = state == IT_EP_STATE_CONNECTED || state == IT_EP_STATE_NONOPERATIONAL;
    struct itx_mpa_params params;
    struct stage stage;

    check_context(itx_ep_state_string(state));
    stage_open(&stage, state);
    if (!posts) {
        EXPECT_STATUS(refused, it_post_send(stage.ep, NULL, 0, 1, FX_SIGNAL));
        EXPECT_STATUS(refused, it_post_rdma_write(stage.ep, NULL, 0, 1, FX_SIGNAL, 0, 0));
        EXPECT_STATUS(refused, it_post_rdma_read(stage.ep, NULL, 0, 1, FX_SIGNAL, 0, 0));
    }
    if (state != IT_EP_STATE_UNCONNECTED) {
        EXPECT_STATUS(refused, try_connect(&stage));
        EXPECT_STATUS(refused, it_ep_accept(stage.ep, stage.id, NULL, 0));
        EXPECT_STATUS(refused, it_socket_convert(stage.spare, stage.ep, IT_SC_DEFAULT, NULL, 0));
        EXPECT_STATUS(refused, itx_socket_convert(stage.spare, stage.ep, IT_SC_DEFAULT, NULL));
        memset(&params, 0, sizeof(params));
        params.size = sizeof(params);
        EXPECT_OK(itx_ep_get_mpa_params(stage.ep, &params));
        EXPECT_STATUS(refused, itx_ep_set_mpa_params(stage.ep, &params));
    }
    if (state == IT_EP_STATE_UNCONNECTED || state == IT_EP_STATE_NONOPERATIONAL)
        EXPECT_STATUS(refused, it_ep_disconnect(stage.ep, NULL, 0));
    if (state != IT_EP_STATE_UNCONNECTED && state != IT_EP_STATE_NONOPERATIONAL)
        EXPECT_STATUS(refused, it_ep_reset(stage.ep));
    EXPECT_EQ(state, fx_ep_state(stage.ep));
    fx_empty(stage.node.conn_evd);
    fx_empty(stage.node.request_evd);
    /* The identifier is still valid after the refused accept. */
    EXPECT_OK(it_reject(stage.id, NULL, 0));
    stage_close(&stage);
    check_context(NULL);
}

static const it_ep_state_rc_t states[] = {
    IT_EP_STATE_UNCONNECTED, IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, IT_EP_STATE_CONNECTED,
    IT_EP_STATE_NONOPERATIONAL, IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ};

#define STATES (sizeof(states) / sizeof(states[0]))

Test(api_state, refused_calls)
{
    for (size_t i = 0; i < STATES; i++)
        refusals(states[i]);
    check_done();
}

/* it_post_recv is legal in every state; in NONOPERATIONAL it is flushed. */
Test(api_state, receives)
{
    for (size_t i = 0; i < STATES; i++) {
        struct stage stage;

        check_context(itx_ep_state_string(states[i]));
        stage_open(&stage, states[i]);
        EXPECT_OK(it_post_recv(stage.ep, NULL, 0, 1, FX_SIGNAL));
        if (states[i] == IT_EP_STATE_NONOPERATIONAL)
            fx_done(stage.node.recv_evd, stage.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1,
                    IT_DTO_ERR_FLUSHED);
        else
            fx_empty(stage.node.recv_evd);
        stage_close(&stage);
    }
    check_context(NULL);
    check_done();
}

/*
 * Calls it_ep_disconnect in every state with a connection or an attempt: there is one DISCONNECT,
 * and receives are flushed.
 */
Test(api_state, disconnect)
{
    for (size_t i = 0; i < STATES; i++) {
        struct stage stage;

        if (states[i] == IT_EP_STATE_UNCONNECTED || states[i] == IT_EP_STATE_NONOPERATIONAL)
            continue;
        check_context(itx_ep_state_string(states[i]));
        stage_open(&stage, states[i]);
        EXPECT_OK(it_post_recv(stage.ep, NULL, 0, 1, FX_SIGNAL));
        EXPECT_OK(it_ep_disconnect(stage.ep, NULL, 0));
        EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(stage.ep));
        fx_conn(stage.node.conn_evd, stage.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        fx_done(stage.node.recv_evd, stage.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
        EXPECT_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_disconnect(stage.ep, NULL, 0));
        if (stage.peer.fd >= 0)
            EXPECT(raw_drain(&stage.peer) != RAW_TIMEOUT);
        fx_empty(stage.node.conn_evd);
        EXPECT_OK(it_ep_reset(stage.ep));
        EXPECT_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(stage.ep));
        stage_close(&stage);
    }
    check_context(NULL);
    check_done();
}

/* it_ep_query and it_ep_modify by state. */
Test(api_state, modify)
{
    static const it_ep_param_mask_t fixed_once_connected[] = {
        IT_EP_PARAM_MAX_PAYLOAD, IT_EP_PARAM_MAX_SEND_SEG, IT_EP_PARAM_MAX_RECV_SEG,
        IT_EP_PARAM_MAX_RDMA_READ_SEG, IT_EP_PARAM_MAX_RDMA_WRITE_SEG};
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.rdma_read_ord = 2;
    for (size_t i = 0; i < STATES; i++) {
        struct stage stage;
        it_ep_param_t p;
        bool open = states[i] == IT_EP_STATE_UNCONNECTED || states[i] == IT_EP_STATE_CONNECTED;

        check_context(itx_ep_state_string(states[i]));
        stage_open(&stage, states[i]);
        EXPECT_OK(it_ep_query(stage.ep, IT_EP_PARAM_ALL, &p));
        EXPECT_STATUS(open ? IT_SUCCESS : IT_ERR_INVALID_EP_STATE,
                      it_ep_modify(stage.ep, IT_EP_PARAM_MAX_ORD, &attr));
        EXPECT_STATUS(IT_ERR_INVALID_MASK, it_ep_modify(stage.ep, IT_EP_PARAM_ALL, &attr));
        for (size_t k = 0; k < sizeof(fixed_once_connected) / sizeof(*fixed_once_connected); k++)
            EXPECT_STATUS(states[i] == IT_EP_STATE_UNCONNECTED ? IT_SUCCESS
                                                               : IT_ERR_INVALID_EP_STATE,
                          it_ep_modify(stage.ep, fixed_once_connected[k], &attr));
        stage_close(&stage);
    }
    check_context(NULL);
    check_done();
}

/* The segment counts and the payload size cannot change while a receive is posted. */
Test(api_state, modify_with_a_receive_posted, .init = node_init, .fini = node_fini)
{
    static const it_ep_param_mask_t sizes[] = {
        IT_EP_PARAM_MAX_PAYLOAD, IT_EP_PARAM_MAX_SEND_SEG, IT_EP_PARAM_MAX_RECV_SEG,
        IT_EP_PARAM_MAX_RDMA_READ_SEG, IT_EP_PARAM_MAX_RDMA_WRITE_SEG};
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep;

    ep = fx_ep(&node, NULL);
    CHECK_OK(it_post_recv(ep, NULL, 0, 1, FX_SIGNAL));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_modify(ep, sizes[i], &attr));
    CHECK_OK(it_ep_free(ep));
}

/* A connection event for a full EVD is reported on the affiliated EVD, with its EP. */
Test(api_state, connection_event_without_room, .init = pair_init, .fini = pair_fini)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t passive = NULL;
    it_event_t event;
    it_evd_handle_t small = fx_evd(&pair.b, IT_CM_MSG_EVENT_STREAM, 1, 0);
    it_ep_handle_t active = fx_ep(&pair.a, NULL);

    CHECK_OK(it_ep_rc_create(pair.b.pz, pair.b.request_evd, pair.b.recv_evd, small, IT_EP_NO_FLAG,
                             &attr, &passive));
    {
        uint16_t port = 0;
        it_listen_handle_t listener = fx_listen(&pair.b, &port);

        fx_connect(&pair.a, active, port);
        CHECK_OK(it_ep_accept(passive, fx_request(&pair.b, NULL), NULL, 0));
        fx_conn(pair.a.conn_evd, active, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        CHECK_OK(it_listen_free(listener));
    }
    /* ESTABLISHED has filled the queue, so DISCONNECT finds no room. */
    CHECK_OK(it_ep_disconnect(active, NULL, 0));
    do {
        event = fx_next(pair.b.aff_evd);
    } while (event.event_number == IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE);
    CHECK_EQ(IT_ASYNC_AFF_EP_REQ_DROPPED, event.event_number);
    CHECK(event.aff_async.cause.ep == passive);
}

/* Members that only datagrams use are zero in other completions. */
Test(api_state, completion_fields, .init = pair_init, .fini = pair_fini)
{
    static const it_path_t no_path;
    it_event_t event;

    CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 7, FX_SIGNAL));
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 8, FX_QUIET));
    memset(&event, 0xff, sizeof(event));
    CHECK_OK(it_evd_wait(pair.b.recv_evd, 10000000, &event, NULL));
    CHECK_EQ(7, event.dto_cmpl.cookie);
    CHECK_EQ(0, event.all_dto_cmpl.flags);
    CHECK_EQ(0, event.all_dto_cmpl.ud_ep_id);
    CHECK(memcmp(&event.all_dto_cmpl.src_path, &no_path, sizeof(no_path)) == 0);
}

/* While connected, ORD can go down, and up to the agreed value. */
Test(api_state, ord_of_a_connection, .init = pair_init, .fini = pair_fini)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_param_t p;

    attr.srv.rc.rdma_read_ord = 1;
    CHECK_OK(it_ep_modify(pair.a_ep, IT_EP_PARAM_MAX_ORD, &attr));
    CHECK_OK(it_ep_query(pair.a_ep, IT_EP_PARAM_MAX_ORD, &p));
    CHECK_EQ(1, p.attr.srv.rc.rdma_read_ord);
    for (uint64_t i = 0; i < 10; i++)
        CHECK_OK(it_post_rdma_read(pair.a_ep, NULL, 0, i, FX_SIGNAL, 0, 0));
    for (uint64_t i = 0; i < 10; i++)
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, 0);
    attr.srv.rc.rdma_read_ord = 100000;
    CHECK(it_ep_modify(pair.a_ep, IT_EP_PARAM_MAX_ORD, &attr) != IT_SUCCESS);
}

/* Nobody listens. */
Test(api_state, connection_refused, .init = node_init)
{
    it_ep_handle_t ep;
    it_event_t event;
    uint16_t port = 0;
    int kept = raw_keep_port(&port);

    ep = fx_ep(&node, NULL);
    CHECK_OK(it_post_recv(ep, NULL, 0, 1, FX_SIGNAL));
    fx_connect(&node, ep, port);
    event = fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_EQ(IT_CN_REJ_OTHER, event.conn.reject_reason_code);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    fx_done(node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    fx_node_close(&node);
    (void)close(kept);
}

/* Checks the ESTABLISHED events: read depths, path, identifiers. */
Test(api_state, established_event)
{
    struct fx_node a;
    struct fx_node b;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    it_event_t request;
    it_event_t event;
    it_ep_param_t p;
    uint16_t port = 0;

    fx_node_open(&a);
    fx_node_open(&b);
    a_ep = fx_ep(&a, NULL);
    b_ep = fx_ep(&b, NULL);
    (void)fx_listen(&b, &port);
    fx_connect(&a, a_ep, port);
    (void)fx_request(&b, &request);
    EXPECT(request.conn_req.evd == b.listen_evd);
    EXPECT_EQ(IT_IPV4, request.conn_req.source_addr.addr_type);
    EXPECT_EQ(b.spigot, request.conn_req.spigot_id);
    EXPECT_EQ(8, request.conn_req.rdma_read_ird);
    EXPECT_EQ(8, request.conn_req.rdma_read_ord);
    EXPECT_EQ(IT_FALSE, request.conn_req.private_data_present);
    CHECK_OK(it_ep_accept(b_ep, request.conn_req.cn_est_id, NULL, 0));
    for (unsigned i = 0; i < 2; i++) {
        event = fx_conn(i == 0 ? a.conn_evd : b.conn_evd, i == 0 ? a_ep : b_ep,
                        IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        EXPECT_EQ(0, event.conn.cn_est_id);
        EXPECT_EQ(8, event.conn.rdma_read_ird);
        EXPECT_EQ(8, event.conn.rdma_read_ord);
        EXPECT_EQ(IT_IP_VERS_IPV4, event.conn.dst_path.remote.iwarp.ip_vers);
        EXPECT(event.conn.dst_path.remote.iwarp.raddr.ipv4.s_addr != 0);
        EXPECT_EQ(IT_FALSE, event.conn.private_data_present);
        CHECK_OK(it_ep_query(i == 0 ? a_ep : b_ep, IT_EP_PARAM_PATH, &p));
        EXPECT_EQ(event.conn.dst_path.remote.iwarp.raddr.ipv4.s_addr,
                  p.dst_path.remote.iwarp.raddr.ipv4.s_addr);
    }
    fx_node_close(&a);
    fx_node_close(&b);
    check_done();
}
