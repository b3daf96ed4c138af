/* SPDX-License-Identifier: BSD-2-Clause */
/* A completion EVD that is too small breaks the connections that use it, and no others. */
#include <criterion/criterion.h>

#include "support/it_fixture.h"

#define ROOM 4u

static bool detects_overflow(const struct fx_node *node)
{
    it_ia_info_t *info = NULL;
    bool answer;

    CHECK_OK(it_ia_query(node->ia, &info));
    answer = info->dto_evd_overflow_detection == IT_TRUE;
    it_ia_info_free(info);
    return answer;
}

static bool overflowed(it_evd_handle_t evd)
{
    it_evd_param_t param;

    CHECK_OK(it_evd_query(evd, IT_EVD_PARAM_OVERFLOWED, &param));
    return param.evd_overflowed == IT_TRUE;
}

Test(data_overflow, receives)
{
    struct fx_pair good;
    struct fx_node *b = &good.b;
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep = NULL;
    it_ep_handle_t late = NULL;
    it_evd_handle_t small;
    it_event_t event;
    size_t room = 0;

    fx_pair_open(&good);
    small = fx_evd(b, IT_DTO_EVENT_STREAM, ROOM, 0);
    {
        it_evd_param_t param;

        CHECK_OK(it_evd_query(small, IT_EVD_PARAM_QUEUE_SIZE, &param));
        room = param.sevd_queue_size;
        CHECK(room >= ROOM && room < 60);
    }
    a_ep = fx_ep(&good.a, NULL);
    CHECK_OK(
        it_ep_rc_create(b->pz, b->request_evd, small, b->conn_evd, IT_EP_NO_FLAG, &attr, &b_ep));
    fx_join(&good.a, a_ep, b, b_ep);
    for (uint64_t i = 0; i < room + 2; i++)
        CHECK_OK(it_post_recv(b_ep, NULL, 0, i, FX_SIGNAL));
    for (uint64_t i = 0; i < room + 2; i++)
        CHECK_OK(it_post_send(a_ep, NULL, 0, i, FX_QUIET));
    FX_WAIT_WHILE(!overflowed(small), "overflow");
    event = fx_next(b->aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE, event.event_number);
    CHECK(event.aff_async.cause.sevd == small);
    if (detects_overflow(b)) {
        fx_conn(b->conn_evd, b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
        CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(b_ep));
        /* The sender's end breaks as well. Requests that were not sent are flushed. */
        fx_conn(good.a.conn_evd, a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
        while (it_evd_dequeue(good.a.request_evd, &event) == IT_SUCCESS)
            CHECK(event.dto_cmpl.ep == a_ep);
    }
    /* Queued completions can be taken in order. Other connections continue. */
    fx_pair_ping(&good);
    for (uint64_t i = 0; i < room; i++)
        fx_done_len(small, b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
    CHECK_STATUS(
        IT_ERR_INVALID_RECV_EVD_STATE,
        it_ep_rc_create(b->pz, b->request_evd, small, b->conn_evd, IT_EP_NO_FLAG, &attr, &late));
    CHECK_STATUS(
        IT_ERR_INVALID_REQ_EVD_STATE,
        it_ep_rc_create(b->pz, small, b->recv_evd, b->conn_evd, IT_EP_NO_FLAG, &attr, &late));
    fx_pair_ping(&good);
    fx_node_close(&good.a);
    fx_node_close(&good.b);
}

/* Completions of requests are lost in the same way, and the connection of the lost one ends. */
Test(data_overflow, requests)
{
    struct fx_pair good;
    const struct fx_node *a = &good.a;
    it_ep_attributes_t attr = fx_ep_attr();
    it_evd_param_t param;
    it_ep_handle_t a_ep = NULL;
    it_ep_handle_t b_ep;
    it_evd_handle_t small;
    it_event_t event;

    fx_pair_open(&good);
    small = fx_evd(a, IT_DTO_EVENT_STREAM, ROOM, 0);
    CHECK_OK(it_evd_query(small, IT_EVD_PARAM_QUEUE_SIZE, &param));
    CHECK_OK(it_ep_rc_create(a->pz, small, a->recv_evd, a->conn_evd, IT_EP_NO_FLAG, &attr, &a_ep));
    b_ep = fx_ep(&good.b, NULL);
    fx_join(a, a_ep, &good.b, b_ep);
    for (uint64_t i = 0; i < param.sevd_queue_size + 2; i++)
        CHECK_OK(it_post_rdma_write(a_ep, NULL, 0, i, FX_SIGNAL, 0, 0));
    FX_WAIT_WHILE(!overflowed(small), "overflow");
    event = fx_next(a->aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE, event.event_number);
    CHECK(event.aff_async.cause.sevd == small);
    if (detects_overflow(a)) {
        fx_conn(a->conn_evd, a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
        fx_conn(good.b.conn_evd, b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    }
    fx_pair_ping(&good);
    for (uint64_t i = 0; i < param.sevd_queue_size; i++)
        fx_done_len(small, a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, 0);
    fx_pair_close(&good);
}

/* Unsignalled requests need no room. */
Test(data_overflow, unsignalled_requests_take_no_room)
{
    struct fx_node a;
    struct fx_node b;
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t a_ep = NULL;
    it_ep_handle_t b_ep;
    it_evd_handle_t small;

    fx_node_open(&a);
    fx_node_open(&b);
    small = fx_evd(&a, IT_DTO_EVENT_STREAM, 1, 0);
    CHECK_OK(it_ep_rc_create(a.pz, small, a.recv_evd, a.conn_evd, IT_EP_NO_FLAG, &attr, &a_ep));
    b_ep = fx_ep(&b, NULL);
    fx_join(&a, a_ep, &b, b_ep);
    for (unsigned round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < 50; i++)
            CHECK_OK(it_post_rdma_write(a_ep, NULL, 0, i, FX_QUIET, 0, 0));
        CHECK_OK(it_post_rdma_write(a_ep, NULL, 0, 99, FX_SIGNAL, 0, 0));
        fx_done_len(small, a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 99, 0);
        CHECK(!overflowed(small));
    }
    fx_node_close(&a);
    fx_node_close(&b);
}
