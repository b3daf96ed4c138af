/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries and changes affect the selected members and no others. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_node.h"

TestSuite(api_query, .init = node_init, .fini = node_fini);

/* IT_..._ALL selects every member. */
Test(api_query, query_all)
{
    uint16_t port;
    union {
        it_pz_param_t pz;
        it_lmr_param_t lmr;
        it_listen_param_t listen;
    } p;
    struct fx_buf buf = fx_node_buf(&node, 8);
    it_listen_handle_t listener = fx_listen(&node, &port);

    EXPECT_OK(it_pz_query(node.pz, IT_PZ_PARAM_ALL, &p.pz));
    EXPECT(p.pz.ia == node.ia);
    EXPECT_OK(it_listen_query(listener, IT_LISTEN_PARAM_ALL, &p.listen));
    EXPECT(p.listen.ia_handle == node.ia && p.listen.connect_evd == node.listen_evd);
    EXPECT_EQ(node.spigot, p.listen.spigot_id);
    EXPECT_EQ(port, p.listen.connect_qual.conn_qual.port);
    EXPECT_OK(it_lmr_query(buf.lmr, IT_LMR_PARAM_ALL, &p.lmr));
    EXPECT(p.lmr.ia == node.ia && p.lmr.pz == node.pz && p.lmr.addr == buf.data);
    EXPECT_EQ(8, p.lmr.length);
    EXPECT_EQ(FX_PRIVS_ALL, p.lmr.privs);
    EXPECT_EQ(buf.key, p.lmr.rmr_context);
    EXPECT_EQ(IT_ADDR_MODE_ABSOLUTE, p.lmr.addr_mode);
    EXPECT(p.lmr.actual_addr <= p.lmr.addr && p.lmr.actual_length >= 8);
    check_done();
}

/* Only the selected members are written. */
Test(api_query, query_selects)
{
    it_ep_param_t p;
    it_evd_param_t e;
    it_ep_handle_t ep = fx_ep(&node, NULL);

    memset(&p, 0xd7, sizeof(p));
    CHECK_OK(it_ep_query(ep, (it_ep_param_mask_t)(IT_EP_PARAM_PZ | IT_EP_PARAM_MAX_IRD), &p));
    EXPECT(p.pz == node.pz);
    EXPECT_EQ(8, p.attr.srv.rc.rdma_read_ird);
    EXPECT(fx_is_byte(&p.ia, sizeof(p.ia), 0xd7));
    EXPECT(fx_is_byte(&p.request_sevd, sizeof(p.request_sevd), 0xd7));
    EXPECT(fx_is_byte(&p.attr.srv.rc.rdma_read_ord, 4, 0xd7));
    EXPECT(fx_is_byte(&p.attr.max_recv_dtos, sizeof(size_t), 0xd7));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &p));
    EXPECT(p.ia == node.ia && p.pz == node.pz && p.request_sevd == node.request_evd &&
           p.recv_sevd == node.recv_evd && p.connect_sevd == node.conn_evd);
    EXPECT_EQ(IT_RC_SERVICE, p.service_type);
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, p.ep_state.rc);
    EXPECT(p.attr.max_request_dtos >= 64 && p.attr.max_recv_dtos >= 64);
    EXPECT(p.attr.max_send_segments >= 8 && p.attr.max_recv_segments >= 8);
    EXPECT(p.attr.max_dto_payload_size >= 64u << 20);
    memset(&e, 0xd7, sizeof(e));
    CHECK_OK(it_evd_query(node.recv_evd, IT_EVD_PARAM_THRESHOLD, &e));
    EXPECT(e.sevd_threshold <= 1);
    EXPECT(fx_is_byte(&e.ia, sizeof(e.ia), 0xd7));
    CHECK_OK(it_evd_query(node.recv_evd, IT_EVD_PARAM_ALL, &e));
    EXPECT(e.ia == node.ia);
    EXPECT_EQ(IT_DTO_EVENT_STREAM, e.event_number);
    EXPECT(e.sevd_queue_size >= 512);
    EXPECT_EQ(-1, e.fd);
    EXPECT_EQ(IT_TRUE, e.evd_bound);
    EXPECT_EQ(IT_TRUE, e.evd_enabled);
    EXPECT_EQ(IT_FALSE, e.evd_overflowed);
    EXPECT_EQ(IT_FALSE, e.evd_callback);
    check_done();
}

/* Only the selected members are changed. */
Test(api_query, modify_selects)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_param_t p;
    it_ep_handle_t ep = fx_ep(&node, NULL);

    /* ORD can always be lowered. */
    attr.srv.rc.rdma_read_ord = 3;
    attr.max_recv_segments = 1;
    EXPECT_OK(it_ep_modify(ep, IT_EP_PARAM_MAX_ORD, &attr));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &p));
    EXPECT_EQ(3, p.attr.srv.rc.rdma_read_ord);
    EXPECT(p.attr.max_recv_segments >= 8);
    /* Segment counts can change while nothing is posted. */
    attr.max_send_segments = 2;
    attr.max_recv_segments = 2;
    attr.max_dto_payload_size = 1000;
    EXPECT_OK(it_ep_modify(ep,
                           (it_ep_param_mask_t)(IT_EP_PARAM_MAX_SEND_SEG |
                                                IT_EP_PARAM_MAX_RECV_SEG | IT_EP_PARAM_MAX_PAYLOAD),
                           &attr));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &p));
    EXPECT(p.attr.max_send_segments >= 2 && p.attr.max_recv_segments >= 2);
    EXPECT(p.attr.max_dto_payload_size >= 1000);
    check_done();
}
