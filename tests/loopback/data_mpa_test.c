/* SPDX-License-Identifier: BSD-2-Clause */
/* Every setting of itx_ep_set_mpa_params on both sides: what both agree on, and that data flows. */
#include <criterion/criterion.h>
#include <string.h>

#include "vp/uiwarp/stream/uiw_stream.h"

#include "support/fixture_node.h"
#include "support/fixture_pair.h"

static struct itx_mpa_params settings(uint32_t revision, bool crc, bool peer_to_peer,
                                      uint32_t rtr_types)
{
    struct itx_mpa_params params;

    memset(&params, 0, sizeof(params));
    params.size = sizeof(params);
    params.revision = revision;
    params.crc = crc ? IT_TRUE : IT_FALSE;
    params.peer_to_peer = peer_to_peer ? IT_TRUE : IT_FALSE;
    params.rtr_types = rtr_types;
    return params;
}

static struct itx_mpa_info agreed(it_ep_handle_t ep)
{
    struct itx_mpa_info info;

    memset(&info, 0, sizeof(info));
    info.size = sizeof(info);
    CHECK_OK(itx_ep_query_mpa(ep, &info));
    return info;
}

/* Sends, reads and writes messages of several sizes both ways. */
static void exercise(void)
{
    static const size_t sizes[] = {0, 1, 3, 500, 1428, 4096, 65537, 300001};
    struct fx_buf a = fx_buf_make(&pair.a, 310000);
    struct fx_buf b = fx_buf_make(&pair.b, 310000);

    fx_pair_ping(&pair);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = sizes[i];

        fx_fill(a.data, a.size, (uint32_t)i);
        fx_recv(pair.b_ep, &b, 1, size, 1);
        fx_send(pair.a_ep, &a, 3, size, 2, FX_SIGNAL);
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, size);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 2, size);
        fx_check_same(a.data + 3, b.data + 1, size);
        /* b reads from a, writes it back to another place, and sends a message. */
        memset(b.data, 0, b.size);
        fx_read(pair.b_ep, &b, 0, size, &a, 5, 3, FX_SIGNAL);
        fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 3, size);
        fx_check_same(a.data + 5, b.data, size);
        memset(a.data, 0, a.size);
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, 4, FX_SIGNAL));
        fx_write(pair.b_ep, &b, 0, size, &a, 7, 5, FX_QUIET);
        CHECK_OK(it_post_send(pair.b_ep, NULL, 0, 6, FX_SIGNAL));
        fx_done_len(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 4, 0);
        fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 6, 0);
        fx_check_same(b.data, a.data + 7, size);
    }
    fx_buf_free(&a);
    fx_buf_free(&b);
}

static void run(struct itx_mpa_params a, struct itx_mpa_params b, bool crc, uint32_t rtr)
{
    struct fx_pair_setup setup = {.a_mpa = &a, .b_mpa = &b};
    struct itx_mpa_info a_info;
    struct itx_mpa_info b_info;

    fx_pair_open_as(&pair, &setup);
    a_info = agreed(pair.a_ep);
    b_info = agreed(pair.b_ep);
    CHECK_EQ(a.revision, a_info.revision);
    CHECK_EQ(a.revision, b_info.revision);
    CHECK_EQ(IT_TRUE, a_info.initiator);
    CHECK_EQ(IT_FALSE, b_info.initiator);
    CHECK_EQ(crc, a_info.crc);
    CHECK_EQ(crc, b_info.crc);
    CHECK_EQ(rtr, a_info.rtr_type);
    CHECK_EQ(rtr, b_info.rtr_type);
    CHECK_EQ(IT_FALSE, a_info.send_markers);
    CHECK_EQ(IT_FALSE, b_info.send_markers);
    CHECK(a_info.max_ulpdu >= 128 && a_info.max_ulpdu <= 65535);
    exercise();
    fx_pair_close(&pair);
}

Test(data_mpa, crc_settings)
{
    for (unsigned i = 0; i < 4; i++)
        run(settings(2, (i & 1) != 0, true, ITX_RTR_READ | ITX_RTR_WRITE),
            settings(2, (i & 2) != 0, true, ITX_RTR_READ | ITX_RTR_WRITE), i != 0, ITX_RTR_READ);
}

Test(data_mpa, revision_1)
{
    for (unsigned i = 0; i < 4; i++)
        run(settings(1, (i & 1) != 0, false, ITX_RTR_READ),
            settings(2, (i & 2) != 0, false, ITX_RTR_READ), i != 0, 0);
}

Test(data_mpa, revision_2_client_server)
{
    run(settings(2, true, false, ITX_RTR_READ), settings(2, true, true, ITX_RTR_READ), true, 0);
    run(settings(2, false, false, ITX_RTR_READ), settings(2, false, true, ITX_RTR_READ), false, 0);
}

Test(data_mpa, ready_to_receive_kinds)
{
    const uint32_t all = ITX_RTR_SEND | ITX_RTR_WRITE | ITX_RTR_READ;

    run(settings(2, true, true, ITX_RTR_WRITE), settings(2, true, true, all), true, ITX_RTR_WRITE);
    run(settings(2, true, true, ITX_RTR_READ), settings(2, true, true, all), true, ITX_RTR_READ);
    run(settings(2, true, true, all), settings(2, true, true, all), true, ITX_RTR_READ);
    run(settings(2, true, true, ITX_RTR_SEND | ITX_RTR_WRITE), settings(2, true, true, all), true,
        ITX_RTR_WRITE);
}

/* Without the peer-to-peer model no kind of RTR is needed. */
Test(data_mpa, no_kind_without_peer_to_peer, .init = node_init, .fini = node_fini)
{
    struct itx_mpa_params params;
    it_ep_handle_t ep;

    ep = fx_ep(&node, NULL);
    params = fx_mpa(ep);
    params.rtr_types = 0;
    params.peer_to_peer = IT_FALSE;
    CHECK_OK(itx_ep_set_mpa_params(ep, &params));
    params = fx_mpa(ep);
    CHECK_EQ(IT_FALSE, params.peer_to_peer);
    CHECK_EQ(0, params.rtr_types);
}

/* The settings of a new endpoint. */
Test(data_mpa, defaults, .init = pair_init, .fini = pair_fini)
{
    struct itx_mpa_info info;
    struct itx_mpa_params params = fx_mpa(pair.a_ep);

    CHECK_EQ(2, params.revision);
    CHECK_EQ(IT_TRUE, params.crc);
    CHECK_EQ(IT_TRUE, params.peer_to_peer);
    CHECK_EQ(ITX_RTR_READ | ITX_RTR_WRITE, params.rtr_types);
    CHECK_EQ(IT_FALSE, params.request_markers);
    info = agreed(pair.a_ep);
    CHECK_EQ(2, info.revision);
    CHECK_EQ(IT_TRUE, info.crc);
    CHECK_EQ(ITX_RTR_READ, info.rtr_type);
    fx_pair_ping(&pair);
}

/* ORD = min(own ORD, peer's IRD) on both sides. IRD stays as set. */
Test(data_mpa, read_depths)
{
    static const uint32_t depths[][4] = {
        /* a: ird, ord; b: ird, ord */
        {8, 8, 8, 8}, {4, 2, 1, 8}, {1, 1, 16, 16}, {16, 16, 1, 1}, {3, 7, 5, 9},
    };
    it_ep_attributes_t a_attr = fx_ep_attr();
    it_ep_attributes_t b_attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &a_attr, .b_attr = &b_attr};

    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        const uint32_t *d = depths[i];
        it_ep_param_t a;
        it_ep_param_t b;

        a_attr.srv.rc.rdma_read_ird = d[0];
        a_attr.srv.rc.rdma_read_ord = d[1];
        b_attr.srv.rc.rdma_read_ird = d[2];
        b_attr.srv.rc.rdma_read_ord = d[3];
        fx_pair_open_as(&pair, &setup);
        CHECK_OK(it_ep_query(pair.a_ep, IT_EP_PARAM_ALL, &a));
        CHECK_OK(it_ep_query(pair.b_ep, IT_EP_PARAM_ALL, &b));
        CHECK(a.attr.srv.rc.rdma_read_ord == (d[1] < d[2] ? d[1] : d[2]));
        CHECK(b.attr.srv.rc.rdma_read_ord == (d[3] < d[0] ? d[3] : d[0]));
        CHECK(a.attr.srv.rc.rdma_read_ird >= d[0]);
        CHECK(b.attr.srv.rc.rdma_read_ird >= d[2]);
        CHECK_EQ(agreed(pair.a_ep).ord, a.attr.srv.rc.rdma_read_ord);
        CHECK_EQ(agreed(pair.b_ep).ird, b.attr.srv.rc.rdma_read_ird);
        CHECK_EQ(d[0], agreed(pair.b_ep).peer_ird);
        CHECK_EQ(d[1], agreed(pair.b_ep).peer_ord);
        fx_pair_ping(&pair);
        fx_pair_close(&pair);
    }
}

/* The state may change behind the first look at it, so the provider looks again. */
Test(data_mpa, a_connection_that_begins_meanwhile_keeps_its_settings)
{
    struct itx_mpa_params params = settings(2, true, true, ITX_RTR_READ);
    struct itx_mpa_params before;

    fx_pair_open(&pair);
    before = fx_mpa(pair.a_ep);
    params.release_us = before.release_us + 1;
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE,
                 uiw_ep_set_mpa((struct ual_ep *)(void *)pair.a_ep, &params));
    CHECK_EQ(before.release_us, fx_mpa(pair.a_ep).release_us);
    fx_pair_close(&pair);
}
