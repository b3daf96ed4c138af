/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders of freeing, busy statuses, and it_ia_free while everything still exists. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "support/fixture_node.h"

Test(api_free, busy, .init = node_init, .fini = node_fini)
{
    uint16_t port;
    it_ep_handle_t ep = fx_ep(&node, NULL);
    struct fx_buf buf = fx_buf_make(&node, 8);
    it_listen_handle_t listener = fx_listen(&node, &port);

    EXPECT_STATUS(IT_ERR_PZ_BUSY, it_pz_free(node.pz));
    EXPECT_STATUS(IT_ERR_EVD_BUSY, it_evd_free(node.request_evd));
    EXPECT_STATUS(IT_ERR_EVD_BUSY, it_evd_free(node.recv_evd));
    EXPECT_STATUS(IT_ERR_EVD_BUSY, it_evd_free(node.conn_evd));
    EXPECT_STATUS(IT_ERR_EVD_BUSY, it_evd_free(node.listen_evd));
    EXPECT_OK(it_ep_free(ep));
    EXPECT_STATUS(IT_ERR_PZ_BUSY, it_pz_free(node.pz));
    fx_buf_free(&buf);
    EXPECT_OK(it_pz_free(node.pz));
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_pz_free(node.pz));
    EXPECT_OK(it_evd_free(node.request_evd));
    EXPECT_OK(it_evd_free(node.recv_evd));
    EXPECT_OK(it_evd_free(node.conn_evd));
    EXPECT_STATUS(IT_ERR_EVD_BUSY, it_evd_free(node.listen_evd));
    EXPECT_OK(it_listen_free(listener));
    EXPECT_OK(it_evd_free(node.listen_evd));
    EXPECT_OK(it_evd_free(node.aff_evd));
    EXPECT_STATUS(IT_ERR_INVALID_EVD, it_evd_free(node.request_evd));
    check_done();
}

/* The EVDs of several endpoints are busy until the last endpoint is freed. */
Test(api_free, shared_evds, .init = node_init, .fini = node_fini)
{
    it_ep_handle_t one = fx_ep(&node, NULL);
    it_ep_handle_t two = fx_ep(&node, NULL);

    EXPECT_OK(it_ep_free(one));
    EXPECT_STATUS(IT_ERR_EVD_BUSY, it_evd_free(node.request_evd));
    EXPECT_STATUS(IT_ERR_PZ_BUSY, it_pz_free(node.pz));
    EXPECT_OK(it_ep_free(two));
    EXPECT_OK(it_evd_free(node.request_evd));
    EXPECT_OK(it_pz_free(node.pz));
    check_done();
}

/* A failed creation must not keep its parents busy. */
Test(api_free, failed_creation_holds_nothing, .init = node_init, .fini = node_fini)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = NULL;
    it_lmr_handle_t lmr = NULL;

    attr.max_request_dtos = SIZE_MAX;
    CHECK_STATUS(IT_ERR_RESOURCE_REQ_DTO,
                 it_ep_rc_create(node.pz, node.request_evd, node.recv_evd, node.conn_evd,
                                 IT_EP_NO_FLAG, &attr, &ep));
    CHECK_STATUS(IT_ERR_FAULT,
                 it_lmr_create21(node.pz, (void *)(uintptr_t)4096, NULL, 10, IT_ADDR_MODE_ABSOLUTE,
                                 IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL));
    EXPECT_OK(it_pz_free(node.pz));
    EXPECT_OK(it_evd_free(node.request_evd));
    EXPECT_OK(it_evd_free(node.recv_evd));
    EXPECT_OK(it_evd_free(node.conn_evd));
    check_done();
}

/* Queued events do not keep an EVD busy. Events of a freed endpoint stay and carry its handle. */
Test(api_free, queued_events)
{
    struct fx_pair pair;

    fx_pair_open(&pair);
    for (uint64_t i = 0; i < 3; i++)
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, i, FX_SIGNAL));
    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_free(pair.a_ep));
    fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 0, IT_DTO_ERR_FLUSHED);
    CHECK_OK(it_evd_free(pair.a.recv_evd));
    CHECK_OK(it_ep_free(pair.b_ep));
    fx_node_close(&pair.a);
    fx_node_close(&pair.b);
}

/* Frees an endpoint in every state that it can be in. */
Test(api_free, ep_in_every_state)
{
    struct fx_node a;
    struct fx_node b;
    struct raw_peer peer;
    it_ep_handle_t ep;
    uint16_t port = 0;
    int listener;
    int fd = -1;

    fx_node_open(&a);
    fx_node_open(&b);
    /* UNCONNECTED, with receives */
    ep = fx_ep(&a, NULL);
    CHECK_OK(it_post_recv(ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_ep_free(ep));
    /* ACTIVE1: the peer does not answer */
    listener = raw_listen(&port);
    ep = fx_ep(&a, NULL);
    fx_connect(&a, ep, port);
    raw_accept(&peer, listener);
    CHECK_EQ(IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, fx_ep_state(ep));
    CHECK_OK(it_ep_free(ep));
    CHECK(raw_drain(&peer) != RAW_TIMEOUT);
    raw_close(&peer);
    (void)close(listener);
    /* PASSIVE_WAIT_RDMA_TRANS_REQ */
    raw_socket_pair(&peer, &fd);
    ep = fx_ep(&a, NULL);
    CHECK_OK(it_socket_convert(fd, ep, ITX_SC_RESPONDER, NULL, 0));
    (void)close(fd);
    CHECK_EQ(IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ, fx_ep_state(ep));
    CHECK_OK(it_ep_free(ep));
    CHECK(raw_drain(&peer) != RAW_TIMEOUT);
    raw_close(&peer);
    /* NONOPERATIONAL */
    raw_socket_pair(&peer, &fd);
    ep = fx_ep(&a, NULL);
    CHECK_OK(it_socket_convert(fd, ep, ITX_SC_RESPONDER, NULL, 0));
    (void)close(fd);
    CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    fx_conn(a.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_free(ep));
    raw_close(&peer);
    /* None of them leaves an event. */
    fx_empty(a.conn_evd);
    fx_empty(a.recv_evd);
    fx_empty(a.aff_evd);
    fx_node_close(&a);
    fx_node_close(&b);
    check_done();
}

/* Everything exists at once: objects, connections in all stages, requests, events, regions. */
Test(api_free, ia_with_everything_alive)
{
    size_t before = fx_fd_count();

    for (unsigned round = 0; round < 5; round++) {
        struct fx_pair pair;
        struct raw_peer silent;
        struct raw_peer waiting;
        struct raw_peer half;
        RAW_BYTES(bytes);
        struct fx_buf buf;
        it_listen_handle_t listener;
        uint16_t port = 0;
        uint16_t raw_port = 0;
        int raw_listener = raw_listen(&raw_port);
        int fd = -1;

        fx_pair_open(&pair);
        listener = fx_listen(&pair.a, &port);
        CHECK(listener != NULL);
        buf = fx_buf_make(&pair.a, 1u << 20);
        for (uint64_t i = 0; i < 20; i++) {
            fx_recv(pair.a_ep, &buf, 0, 64, i);
            fx_write(pair.a_ep, &buf, 0, buf.size, &buf, 0, i, FX_SIGNAL);
        }
        raw_connect(&silent, port);  /* says nothing */
        raw_connect(&waiting, port); /* has sent its Request */
        raw_mpa1(&bytes, false, RAW_MPA_C);
        CHECK(raw_send(&waiting, &bytes));
        (void)fx_request(&pair.a, NULL);
        fx_connect(&pair.a, fx_ep(&pair.a, NULL), raw_port); /* waits for a Reply */
        raw_accept(&half, raw_listener);
        CHECK(it_socket_convert(fd, fx_ep(&pair.a, NULL), IT_SC_DEFAULT, NULL, 0) != IT_SUCCESS);
        fx_node_close(&pair.a);
        CHECK(raw_drain(&silent) != RAW_TIMEOUT);
        CHECK(raw_drain(&waiting) != RAW_TIMEOUT);
        CHECK(raw_drain(&half) != RAW_TIMEOUT);
        raw_close(&silent);
        raw_close(&waiting);
        raw_close(&half);
        (void)close(raw_listener);
        buf.lmr = NULL;
        fx_buf_free(&buf);
        fx_node_close(&pair.b);
        fx_fd_settle(before);
    }
    check_done();
}

/* Makes and frees hundreds of objects of each kind. */
Test(api_free, many_objects, .init = node_init, .fini = node_fini)
{
    static it_pz_handle_t pz[300];
    static it_evd_handle_t evd[300];
    static it_lmr_handle_t lmr[300];
    static unsigned char memory[300];

    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < 300; i++) {
            CHECK_OK(it_pz_create(node.ia, &pz[i]));
            evd[i] = fx_evd(&node, IT_DTO_EVENT_STREAM, 4, 0);
            CHECK_OK(it_lmr_create21(pz[i], &memory[i], NULL, 1, IT_ADDR_MODE_ABSOLUTE,
                                     IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr[i], NULL));
        }
        for (size_t i = 0; i < 300 && round < 2; i++) {
            size_t k = (i * 7) % 300;

            CHECK_STATUS(IT_ERR_PZ_BUSY, it_pz_free(pz[k]));
            CHECK_OK(it_lmr_free(lmr[k]));
            CHECK_OK(it_pz_free(pz[k]));
            CHECK_OK(it_evd_free(evd[k]));
        }
    }
}
