/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_modify: the effect of a change before the endpoint is connected and while data flows. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_node.h"
#include "support/fixture_pair.h"

static it_ep_attributes_t attr_of(it_ep_handle_t ep)
{
    it_ep_param_t param;

    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &param));
    return param.attr;
}

static it_status_t set_depth(it_ep_handle_t ep, it_ep_param_mask_t which, size_t depth)
{
    it_ep_attributes_t attr = {.max_request_dtos = depth, .max_recv_dtos = depth};

    return it_ep_modify(ep, which, &attr);
}

static it_status_t set_reads(it_ep_handle_t ep, it_ep_param_mask_t which, uint32_t depth)
{
    it_ep_attributes_t attr = {.max_request_dtos = 0};

    attr.srv.rc.rdma_read_ird = depth;
    attr.srv.rc.rdma_read_ord = depth;
    return it_ep_modify(ep, which, &attr);
}

Test(api_modify, is_announced, .init = node_init, .fini = node_fini)
{
    it_ia_info_t *info = NULL;

    CHECK_OK(it_ia_query(node.ia, &info));
    CHECK(info->ep_work_queues_resizable == IT_TRUE);
    CHECK(info->rdma_read_ord_increasable == IT_TRUE);
    CHECK(info->rdma_read_ird_modifiable == IT_TRUE);
    CHECK(info->ep_rdma_enables_modifiable == IT_TRUE);
    it_ia_info_free(info);
}

/* ---- Depths of the queues -------------------------------------------------------------------- */

/* Checks that so many receives fit and no more. */
static void fill_receives(it_ep_handle_t ep, unsigned have, unsigned depth)
{
    for (unsigned i = have; i < depth; i++)
        CHECK_OK(it_post_recv(ep, NULL, 0, i, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(ep, NULL, 0, depth, FX_SIGNAL));
}

Test(api_modify, receive_depth_before_the_connection, .fini = pair_fini)
{
    fx_node_open(&pair.a);
    fx_node_open(&pair.b);
    pair.a_ep = fx_ep(&pair.a, NULL);
    pair.b_ep = fx_ep(&pair.b, NULL);
    CHECK_OK(set_depth(pair.b_ep, IT_EP_PARAM_MAX_RECV_DTO, 3));
    fill_receives(pair.b_ep, 0, 3);
    CHECK_STATUS(IT_ERR_INVALID_EP_ATTR, set_depth(pair.b_ep, IT_EP_PARAM_MAX_RECV_DTO, 2));
    CHECK_EQ(3, attr_of(pair.b_ep).max_recv_dtos);
    CHECK_OK(set_depth(pair.b_ep, IT_EP_PARAM_MAX_RECV_DTO, 200));
    CHECK_EQ(200, attr_of(pair.b_ep).max_recv_dtos);
    fill_receives(pair.b_ep, 3, 200);
    CHECK_STATUS(IT_ERR_RESOURCE_RECV_DTO,
                 set_depth(pair.b_ep, IT_EP_PARAM_MAX_RECV_DTO, SIZE_MAX));
    fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
    for (unsigned i = 0; i < 200; i++) {
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, i, FX_QUIET));
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
        if (i % 16 == 15) { /* releases slots of the sender */
            CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, i, FX_SIGNAL, 0, 0));
            fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, 0);
        }
    }
}

/* Posted receives stay posted in their order, whatever the depth. */
Test(api_modify, receive_depth_of_a_connection, .init = pair_init, .fini = pair_fini)
{
    unsigned posted = 0;
    unsigned sent = 0;
    uint32_t random = 17;

    while (sent < 1000) {
        size_t depth = fx_random(&random) % 50;
        bool fits = depth >= posted - sent;

        CHECK_STATUS(fits ? IT_SUCCESS : IT_ERR_INVALID_EP_ATTR,
                     set_depth(pair.b_ep, IT_EP_PARAM_MAX_RECV_DTO, depth));
        if (fits) {
            unsigned more = (unsigned)depth - (posted - sent);

            for (unsigned i = 0; i < more; i++)
                CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, posted++, FX_SIGNAL));
            CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(pair.b_ep, NULL, 0, 0, FX_SIGNAL));
        }
        while (sent != posted && fx_random(&random) % 16 != 0) {
            CHECK_OK(it_post_send(pair.a_ep, NULL, 0, sent, FX_SIGNAL));
            fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, sent, 0);
            fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, sent, 0);
            sent++;
        }
    }
}

Test(api_modify, request_depth_of_a_connection, .fini = pair_fini)
{
    static const size_t depths[] = {1, 64, 3, 1000, 2, 65, 1};

    fx_pair_open_as(&pair, &(struct fx_pair_setup){.events = 2048});
    for (size_t k = 0; k < sizeof(depths) / sizeof(depths[0]); k++) {
        size_t depth = depths[k];

        CHECK_OK(set_depth(pair.a_ep, IT_EP_PARAM_MAX_REQ_DTO, depth));
        CHECK_EQ(depth, attr_of(pair.a_ep).max_request_dtos);
        /* Completions that are not dequeued hold slots, so no more requests than these fit. */
        for (size_t i = 0; i < depth; i++)
            CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, i, FX_SIGNAL, 0, 0));
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS,
                     it_post_rdma_write(pair.a_ep, NULL, 0, depth, FX_SIGNAL, 0, 0));
        for (size_t i = 0; i < depth; i++)
            fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, 0);
    }
    CHECK_OK(set_depth(pair.a_ep, IT_EP_PARAM_MAX_REQ_DTO, 0));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_rdma_write(pair.a_ep, NULL, 0, 1, FX_SIGNAL, 0, 0));
    CHECK_STATUS(IT_ERR_RESOURCE_REQ_DTO, set_depth(pair.a_ep, IT_EP_PARAM_MAX_REQ_DTO, SIZE_MAX));
}

/* The queues are replaced while data flows both ways and Reads are open. */
Test(api_modify, resizing_under_load, .fini = pair_fini)
{
    const size_t chunk = 3000;
    struct fx_buf local;
    struct fx_buf remote;
    unsigned posted = 0;
    unsigned done = 0;
    uint32_t random = 23;

    fx_pair_open_as(&pair, &(struct fx_pair_setup){.events = 2048});
    local = fx_node_buf(&pair.a, 64 * chunk);
    remote = fx_node_buf(&pair.b, 64 * chunk);
    fx_fill(remote.data, remote.size, 3);
    while (done < 3000) {
        size_t depth = 1 + fx_random(&random) % 64;
        it_status_t status = set_depth(pair.a_ep, IT_EP_PARAM_MAX_REQ_DTO, depth);

        CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_EP_ATTR);
        for (status = IT_SUCCESS; status == IT_SUCCESS;) {
            size_t at = posted % 64 * chunk;
            it_lmr_triplet_t segment = fx_seg(&local, at, chunk);

            status = it_post_rdma_read(pair.a_ep, &segment, 1, posted, FX_SIGNAL,
                                       fx_addr(&remote, at), remote.key);
            if (status == IT_SUCCESS)
                posted++;
        }
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, status);
        CHECK_OK(set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, 1 + fx_random(&random) % 8));
        do {
            fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, done, chunk);
            done++;
        } while (done != posted && fx_random(&random) % 8 != 0);
    }
    while (done != posted) {
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, done, chunk);
        done++;
    }
    fx_check_same(remote.data, local.data, local.size);
    fx_pair_ping(&pair);
}

/*
 * IT_COALESCE_WR_FLAG keeps the requests in the queue, so the depth cannot go below their number.
 */
Test(api_modify, request_depth_below_what_is_posted, .init = pair_init, .fini = pair_fini)
{
    for (unsigned i = 0; i < 5; i++)
        CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, i,
                                    (it_dto_flags_t)(FX_SIGNAL | IT_COALESCE_WR_FLAG), 0, 0));
    CHECK_STATUS(IT_ERR_INVALID_EP_ATTR, set_depth(pair.a_ep, IT_EP_PARAM_MAX_REQ_DTO, 4));
    CHECK_EQ(64, attr_of(pair.a_ep).max_request_dtos);
    CHECK_OK(set_depth(pair.a_ep, IT_EP_PARAM_MAX_REQ_DTO, 6));
    CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, 5, FX_SIGNAL, 0, 0));
    for (unsigned i = 0; i < 6; i++)
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, 0);
}

/* ---- Segments and payload ------------------------------------------------------------------- */

Test(api_modify, more_segments_than_at_creation, .fini = pair_fini)
{
    it_ep_attributes_t few = fx_ep_attr();
    it_ep_attributes_t many = fx_ep_attr();
    it_ep_param_mask_t mask =
        (it_ep_param_mask_t)(IT_EP_PARAM_MAX_SEND_SEG | IT_EP_PARAM_MAX_RECV_SEG |
                             IT_EP_PARAM_MAX_RDMA_READ_SEG | IT_EP_PARAM_MAX_RDMA_WRITE_SEG |
                             IT_EP_PARAM_MAX_PAYLOAD);
    it_lmr_triplet_t out[16];
    it_lmr_triplet_t in[16];
    struct fx_buf a_buf;
    struct fx_buf b_buf;

    few.max_send_segments = 1;
    few.max_recv_segments = 0;
    few.srv.rc.max_rdma_read_segments = 1;
    few.srv.rc.max_rdma_write_segments = 1;
    few.max_dto_payload_size = 8;
    many.max_send_segments = 16;
    many.max_recv_segments = 16;
    many.srv.rc.max_rdma_read_segments = 16;
    many.srv.rc.max_rdma_write_segments = 16;
    fx_node_open(&pair.a);
    fx_node_open(&pair.b);
    pair.a_ep = fx_ep(&pair.a, &few);
    pair.b_ep = fx_ep(&pair.b, &few);
    a_buf = fx_node_buf(&pair.a, 1600);
    b_buf = fx_node_buf(&pair.b, 1600);
    fx_fill(a_buf.data, a_buf.size, 8);
    for (unsigned i = 0; i < 16; i++) {
        out[i] = fx_seg(&a_buf, (size_t)i * 100, 100);
        in[i] = fx_seg(&b_buf, (size_t)i * 100, 100);
    }
    CHECK_STATUS(IT_ERR_INVALID_NUM_SEGMENTS, it_post_recv(pair.b_ep, in, 1, 1, FX_SIGNAL));
    CHECK_OK(it_ep_modify(pair.a_ep, mask, &many));
    CHECK_OK(it_ep_modify(pair.b_ep, mask, &many));
    CHECK_OK(it_post_recv(pair.b_ep, in, 16, 1, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_modify(pair.b_ep, mask, &few));
    fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
    CHECK_OK(it_post_send(pair.a_ep, out, 16, 1, FX_SIGNAL));
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 1600);
    fx_check_same(a_buf.data, b_buf.data, 1600);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 1, 1600);
    memset(a_buf.data, 0, 1600);
    CHECK_OK(it_post_rdma_read(pair.a_ep, out, 16, 2, FX_SIGNAL, fx_addr(&b_buf, 0), b_buf.key));
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 1600);
    fx_check_same(b_buf.data, a_buf.data, 1600);
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_modify(pair.a_ep, mask, &few));
}

/* ---- Read depths ---------------------------------------------------------------------------- */

static void connect_with(uint32_t a_ord, uint32_t b_ird, unsigned revision)
{
    struct itx_mpa_params mpa;

    memset(&pair, 0, sizeof(pair));
    fx_node_open(&pair.a);
    fx_node_open(&pair.b);
    pair.a_ep = fx_ep(&pair.a, NULL);
    pair.b_ep = fx_ep(&pair.b, NULL);
    mpa = fx_mpa(pair.a_ep);
    mpa.revision = revision;
    CHECK_OK(itx_ep_set_mpa_params(pair.a_ep, &mpa));
    CHECK_OK(set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, a_ord));
    CHECK_OK(set_reads(pair.b_ep, IT_EP_PARAM_MAX_IRD, b_ird));
    CHECK_EQ(b_ird, attr_of(pair.b_ep).srv.rc.rdma_read_ird);
    fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
}

/* Posts more Reads at once than the rings had room for at creation. */
static void read_many(void)
{
    for (uint64_t i = 0; i < 60; i++)
        CHECK_OK(it_post_rdma_read(pair.a_ep, NULL, 0, i, FX_SIGNAL, 0, 0));
    for (uint64_t i = 0; i < 60; i++)
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, 0);
}

Test(api_modify, read_depths_before_the_connection, .fini = pair_fini)
{
    connect_with(50, 40, 2);
    CHECK_EQ(40, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
    CHECK_EQ(40, attr_of(pair.b_ep).srv.rc.rdma_read_ird);
    read_many();
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, set_reads(pair.b_ep, IT_EP_PARAM_MAX_IRD, 41));
}

/* ORD can rise up to the peer's IRD, even if this side had asked for less. */
Test(api_modify, ord_of_a_connection_goes_up_to_the_ird_of_the_peer, .fini = pair_fini)
{
    connect_with(2, 40, 2);
    CHECK_EQ(2, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
    CHECK_OK(set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, 40));
    CHECK_EQ(40, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
    read_many();
    CHECK_STATUS(IT_ERR_RESOURCE_ORD, set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, 257));
    CHECK_OK(set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, 1));
    CHECK_EQ(1, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
    read_many();
    /* The next connection starts with the last values that were set. */
    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_reset(pair.a_ep));
    CHECK_EQ(1, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
}

/* An ORD above the peer's IRD is refused together with the other changes of the call. */
Test(api_modify, ord_of_a_connection_beyond_the_ird_of_the_peer, .fini = pair_fini)
{
    const it_ep_param_mask_t mask =
        (it_ep_param_mask_t)(IT_EP_PARAM_MAX_ORD | IT_EP_PARAM_MAX_REQ_DTO |
                             IT_EP_PARAM_RDMA_WR_ENABLE);
    it_ep_attributes_t wanted;

    connect_with(2, 40, 2);
    wanted = attr_of(pair.a_ep);
    CHECK_EQ(IT_TRUE, wanted.srv.rc.rdma_write_enable);
    wanted.srv.rc.rdma_read_ord = 41;
    wanted.srv.rc.rdma_write_enable = IT_FALSE;
    wanted.max_request_dtos = 17;
    CHECK_STATUS(IT_ERR_RESOURCE_ORD, set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, 41));
    CHECK_STATUS(IT_ERR_RESOURCE_ORD, it_ep_modify(pair.a_ep, mask, &wanted));
    CHECK_EQ(2, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
    CHECK_EQ(fx_ep_attr().max_request_dtos, attr_of(pair.a_ep).max_request_dtos);
    CHECK_EQ(IT_TRUE, attr_of(pair.a_ep).srv.rc.rdma_write_enable);
    read_many();
    wanted.srv.rc.rdma_read_ord = 40;
    CHECK_OK(it_ep_modify(pair.a_ep, mask, &wanted));
    CHECK_EQ(40, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
    CHECK_EQ(17, attr_of(pair.a_ep).max_request_dtos);
    /* The next connection does not use a refused value either. */
    CHECK_STATUS(IT_ERR_RESOURCE_ORD, set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, 100));
    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_reset(pair.a_ep));
    CHECK_EQ(40, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
    /* Without a connection there is no peer to limit the ORD. */
    CHECK_OK(set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, 100));
    CHECK_EQ(100, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
}

/* Revision 1 exchanges no depths, so the library relies on the program. */
Test(api_modify, ord_of_a_connection_without_exchange, .fini = pair_fini)
{
    connect_with(1, 20, 1);
    CHECK_OK(set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, 20));
    CHECK_EQ(20, attr_of(pair.a_ep).srv.rc.rdma_read_ord);
    read_many();
}

/* With an ORD of 0 Reads are refused. When the ORD rises they are allowed. */
Test(api_modify, ord_from_nothing, .fini = pair_fini)
{
    connect_with(0, 4, 1);
    CHECK_OK(set_reads(pair.a_ep, IT_EP_PARAM_MAX_ORD, 4));
    read_many();
}

/* ---- Rights --------------------------------------------------------------------------------- */

Test(api_modify, rights_of_a_connection, .fini = pair_fini)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_buf a_buf;
    struct fx_buf b_buf;

    attr.srv.rc.rdma_write_enable = IT_FALSE;
    fx_pair_open_as(&pair, &(struct fx_pair_setup){.b_attr = &attr});
    a_buf = fx_node_buf(&pair.a, 8);
    b_buf = fx_node_buf(&pair.b, 8);
    fx_fill(a_buf.data, 8, 1);
    attr.srv.rc.rdma_write_enable = IT_TRUE;
    CHECK_OK(it_ep_modify(pair.b_ep, IT_EP_PARAM_RDMA_WR_ENABLE, &attr));
    fx_write(pair.a_ep, &a_buf, 0, 8, &b_buf, 0, 1, FX_QUIET);
    fx_read(pair.a_ep, &a_buf, 0, 8, &b_buf, 0, 2, FX_SIGNAL);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 8);
    fx_check_same(a_buf.data, b_buf.data, 8);
    attr.srv.rc.rdma_read_enable = IT_FALSE;
    CHECK_OK(it_ep_modify(pair.b_ep, IT_EP_PARAM_RDMA_RD_ENABLE, &attr));
    CHECK_EQ(IT_TRUE, attr_of(pair.b_ep).srv.rc.rdma_write_enable);
    fx_read(pair.a_ep, &a_buf, 0, 8, &b_buf, 0, 3, FX_SIGNAL);
    fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 3,
            IT_DTO_ERR_REMOTE_ACCESS);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
}
