/* SPDX-License-Identifier: BSD-2-Clause */
/* One EVD for everything on each side: the order of its events. */
#include <criterion/criterion.h>

#include "support/it_fixture.h"

#define MESSAGES 20u

TestSuite(data_mixed);

struct side {
    struct fx_node node; /* all its EVDs are .evd */
    it_evd_handle_t evd;
    it_ep_handle_t ep;
};

static void side_open(struct side *side)
{
    struct fx_node *node = &side->node;

    fx_node_open(node);
    CHECK_OK(it_evd_free(node->aff_evd));
    CHECK_OK(itx_evd_create_mixed(node->ia,
                                  ITX_STREAM_DTO | ITX_STREAM_CM_REQ | ITX_STREAM_CM_MSG |
                                      ITX_STREAM_ASYNC_AFF | ITX_STREAM_SOFTWARE,
                                  (it_evd_flags_t)0, 256, 1, NULL, &side->evd, NULL));
    CHECK_OK(it_evd_free(node->request_evd));
    CHECK_OK(it_evd_free(node->recv_evd));
    CHECK_OK(it_evd_free(node->conn_evd));
    CHECK_OK(it_evd_free(node->listen_evd));
    node->request_evd = node->recv_evd = node->conn_evd = side->evd;
    node->listen_evd = node->aff_evd = side->evd;
    side->ep = fx_ep(node, NULL);
}

static void side_expect(const struct side *side, it_event_type_t number)
{
    it_event_t event = fx_wait(side->evd);

    CHECK_EQ(number, event.event_number);
    CHECK_EQ((uintptr_t)side->evd, (uintptr_t)event.any.evd);
}

static void side_expect_done(const struct side *side, it_event_type_t number, uint64_t cookie,
                             it_dto_status_t status)
{
    it_event_t event = fx_wait(side->evd);

    CHECK_EQ(number, event.event_number);
    CHECK_EQ(cookie, event.dto_cmpl.cookie);
    CHECK_EQ(status, event.dto_cmpl.dto_status);
}

static void connect_sides(struct side *a, struct side *b)
{
    uint16_t port;
    it_listen_handle_t listener = fx_listen(&b->node, &port);
    it_event_t event;

    fx_connect(&a->node, a->ep, port);
    event = fx_wait(b->evd);
    CHECK_EQ(IT_CM_REQ_CONN_REQUEST_EVENT, event.event_number);
    for (unsigned k = 0; k < 2 * MESSAGES; k++)
        CHECK_OK(it_post_recv(b->ep, NULL, 0, k, FX_SIGNAL));
    CHECK_OK(it_ep_accept(b->ep, event.conn_req.cn_est_id, NULL, 0));
    side_expect(a, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    side_expect(b, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_OK(it_listen_free(listener));
}

/* Messages, the end of the connection after them, and the flushed requests in between. */
Test(data_mixed, a_whole_life_in_order)
{
    struct side a, b;

    side_open(&a);
    side_open(&b);
    connect_sides(&a, &b);
    CHECK_OK(it_evd_post_se(b.evd, NULL));
    for (unsigned k = 0; k < MESSAGES; k++)
        CHECK_OK(it_post_send(a.ep, NULL, 0, k, FX_SIGNAL));
    for (unsigned k = 0; k < MESSAGES; k++)
        side_expect_done(&a, IT_DTO_SEND_CMPL_EVENT, k, IT_DTO_SUCCESS);
    CHECK_OK(it_post_recv(a.ep, NULL, 0, 77, FX_SIGNAL));
    CHECK_OK(it_ep_disconnect(a.ep, NULL, 0));
    side_expect_done(&a, IT_DTO_RC_RECV_CMPL_EVENT, 77, IT_DTO_ERR_FLUSHED);
    side_expect(&a, IT_CM_MSG_CONN_DISCONNECT_EVENT);

    side_expect(&b, IT_SOFTWARE_EVENT);
    for (unsigned k = 0; k < 2 * MESSAGES; k++)
        side_expect_done(&b, IT_DTO_RC_RECV_CMPL_EVENT, k,
                         k < MESSAGES ? IT_DTO_SUCCESS : IT_DTO_ERR_FLUSHED);
    side_expect(&b, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_empty(a.evd);
    fx_empty(b.evd);
    fx_node_close(&a.node);
    fx_node_close(&b.node);
}
