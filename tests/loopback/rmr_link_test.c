/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows that are linked, moved, unlinked and freed: what peers can access at each time, and what
 * is busy.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_window.h"
#include "support/test_row.h"

/* The window is on b's memory. a is the peer. */
static struct {
    struct fx_pair pair;
    struct fx_buf local;  /* a's */
    struct fx_buf region; /* b's */
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.local = fx_buf_make(&bed.pair.a, 4096);
    /* The region has no remote right: peers reach it through windows only. */
    bed.region = fx_buf_make_as(bed.pair.b.pz, 4096, IT_PRIV_LOCAL, IT_ADDR_MODE_ABSOLUTE);
    memset(bed.local.data, 0x44, bed.local.size);
}

static void bed_close(void)
{
    fx_buf_free(&bed.local);
    fx_buf_free(&bed.region);
    fx_pair_close(&bed.pair);
}

static it_rmr_context_t link_it(it_rmr_handle_t rmr, const struct fx_part *part)
{
    return fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr, part);
}

static void unlink_it(it_rmr_handle_t rmr)
{
    fx_unlinked(bed.pair.b.request_evd, bed.pair.b_ep, rmr);
}

static it_status_t read_by(it_rdma_addr_t address, it_rmr_context_t key, size_t length)
{
    it_lmr_triplet_t segment = fx_seg(&bed.local, 0, length);

    return it_post_rdma_read(bed.pair.a_ep, &segment, 1, 7, FX_SIGNAL, address, key);
}

static void reads(it_rdma_addr_t address, it_rmr_context_t key, size_t length)
{
    CHECK_OK(read_by(address, key, length));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 7, length);
}

static void writes(it_rdma_addr_t address, it_rmr_context_t key, size_t length)
{
    it_lmr_triplet_t segment = fx_seg(&bed.local, 0, length);

    CHECK_OK(it_post_rdma_write(bed.pair.a_ep, &segment, 1, 8, FX_QUIET, address, key));
    fx_pair_ping(&bed.pair);
}

static void mend(void)
{
    fx_pair_mend(&bed.pair);
    fx_drain(bed.pair.a.aff_evd);
    fx_drain(bed.pair.b.aff_evd);
    fx_drain(bed.pair.a.request_evd);
}

static void read_refused(it_rdma_addr_t address, it_rmr_context_t key, size_t length)
{
    memset(bed.local.data, 0x44, bed.local.size);
    CHECK_OK(read_by(address, key, length));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 7,
            IT_DTO_ERR_REMOTE_ACCESS);
    CHECK(fx_is_byte(bed.local.data, bed.local.size, 0x44));
    mend();
}

static void write_refused(it_rdma_addr_t address, it_rmr_context_t key, size_t length)
{
    it_lmr_triplet_t segment = fx_seg(&bed.local, 0, length);

    CHECK_OK(it_post_rdma_write(bed.pair.a_ep, &segment, 1, 8, FX_QUIET, address, key));
    mend();
}

/* ---- What a window opens -------------------------------------------------------------------- */

/* A window on a part of the region, in both modes, gives access to its octets and no others. */
static void opens_a_part(it_rmr_type_t type, it_addr_mode_t mode)
{
    struct fx_part part;
    it_rmr_handle_t rmr;
    it_rmr_context_t key;

    bed_open();
    fx_fill(bed.region.data, bed.region.size, 3);
    part = (struct fx_part){&bed.region, 1000, 64, mode, IT_PRIV_REMOTE};
    rmr = fx_rmr(bed.pair.b.pz, type);
    key = link_it(rmr, &part);
    reads(fx_part_addr(&part, 0), key, 64);
    CHECK(memcmp(bed.local.data, bed.region.data + 1000, 64) == 0);
    reads(fx_part_addr(&part, 63), key, 1);
    reads(fx_part_addr(&part, 64), key, 0);
    memset(bed.local.data, 0x44, 64);
    writes(fx_part_addr(&part, 32), key, 32);
    CHECK(fx_is_byte(bed.region.data + 1032, 32, 0x44));
    fx_fill(bed.region.data, bed.region.size, 3);
    /* The end of the connection ends a narrow window's access. */
    read_refused(fx_part_addr(&part, 0), key, 65);
    key = link_it(rmr, &part);
    read_refused(fx_part_addr(&part, 64), key, 1);
    key = link_it(rmr, &part);
    write_refused(fx_part_addr(&part, 0) - 1, key, 2);
    key = link_it(rmr, &part);
    write_refused(fx_part_addr(&part, 60), key, 5);
    key = link_it(rmr, &part);
    if (mode == IT_ADDR_MODE_RELATIVE)
        write_refused((uintptr_t)bed.region.data + 1000, key, 1);
    else
        write_refused(0, key, 1);
    CHECK(fx_is_filled(bed.region.data, bed.region.size, 3));
    CHECK_OK(it_rmr_free(rmr));
    bed_close();
}

TEST_ROW(rmr_link, narrow_and_absolute, opens_a_part, IT_RMR_TYPE_NARROW, IT_ADDR_MODE_ABSOLUTE);
TEST_ROW(rmr_link, narrow_and_relative, opens_a_part, IT_RMR_TYPE_NARROW, IT_ADDR_MODE_RELATIVE);
TEST_ROW(rmr_link, wide_and_absolute, opens_a_part, IT_RMR_TYPE_WIDE, IT_ADDR_MODE_ABSOLUTE);
TEST_ROW(rmr_link, wide_and_relative, opens_a_part, IT_RMR_TYPE_WIDE, IT_ADDR_MODE_RELATIVE);

/* Windows on a relative region count from their own start. */
Test(rmr_link, on_a_relative_region, .init = bed_open, .fini = bed_close)
{
    struct fx_buf region = fx_buf_make_as(bed.pair.b.pz, 256, IT_PRIV_LOCAL, IT_ADDR_MODE_RELATIVE);
    struct fx_part part = {&region, 100, 50, IT_ADDR_MODE_RELATIVE, IT_PRIV_REMOTE};
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = link_it(rmr, &part);

    writes(10, key, 40);
    CHECK(fx_is_byte(region.data, 110, 0));
    CHECK(fx_is_byte(region.data + 110, 40, 0x44));
    CHECK(fx_is_byte(region.data + 150, 106, 0));
    write_refused(11, key, 40);
    CHECK_OK(it_rmr_free(rmr));
    fx_buf_free(&region);
}

/* The window's rights count, not the region's. */
Test(rmr_link, rights, .init = bed_open, .fini = bed_close)
{
    struct fx_buf open = fx_buf_make(&bed.pair.b, 64);
    struct fx_part part = {&open, 0, 64, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE_READ};
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    it_rmr_context_t key = link_it(rmr, &part);

    reads(fx_part_addr(&part, 0), key, 8);
    write_refused(fx_part_addr(&part, 0), key, 8);
    part.privs = IT_PRIV_REMOTE_WRITE;
    key = link_it(rmr, &part);
    memset(bed.local.data, 0x44, 8);
    writes(fx_part_addr(&part, 0), key, 8);
    CHECK(fx_is_byte(open.data, 8, 0x44));
    read_refused(fx_part_addr(&part, 0), key, 8);
    CHECK_OK(it_rmr_free(rmr));
    fx_buf_free(&open);
}

/* ---- Scope ---------------------------------------------------------------------------------- */

/* Makes a second connection between the same zones. */
static void join_second(it_ep_handle_t *a_ep, it_ep_handle_t *b_ep)
{
    *a_ep = fx_ep(&bed.pair.a, NULL);
    *b_ep = fx_ep(&bed.pair.b, NULL);
    fx_join(&bed.pair.a, *a_ep, &bed.pair.b, *b_ep);
}

Test(rmr_link, narrow_is_for_one_endpoint, .init = bed_open, .fini = bed_close)
{
    it_lmr_triplet_t segment;
    it_rmr_handle_t rmr;
    it_rmr_context_t key;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    struct fx_part part = fx_whole(&bed.region);

    join_second(&a_ep, &b_ep);
    rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);
    key = link_it(rmr, &part);
    segment = fx_seg(&bed.local, 0, 8);
    CHECK_OK(it_post_rdma_read(a_ep, &segment, 1, 1, FX_SIGNAL, fx_part_addr(&part, 0), key));
    fx_done(bed.pair.a.request_evd, a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, IT_DTO_ERR_REMOTE_ACCESS);
    fx_conn(bed.pair.a.conn_evd, a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(bed.pair.b.conn_evd, b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    reads(fx_part_addr(&part, 0), key, 8);
    CHECK_OK(it_ep_free(a_ep));
    CHECK_OK(it_ep_free(b_ep));
    CHECK_OK(it_rmr_free(rmr));
}

Test(rmr_link, wide_is_for_the_zone)
{
    struct fx_part part;
    it_lmr_triplet_t segment;
    it_rmr_handle_t rmr;
    it_rmr_context_t key;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;

    bed_open();
    part = fx_whole(&bed.region);
    join_second(&a_ep, &b_ep);
    rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    key = link_it(rmr, &part);
    reads(fx_part_addr(&part, 0), key, 8);
    segment = fx_seg(&bed.local, 0, 8);
    CHECK_OK(it_post_rdma_read(a_ep, &segment, 1, 1, FX_SIGNAL, fx_part_addr(&part, 0), key));
    fx_done_len(bed.pair.a.request_evd, a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 8);
    /* The window outlives the endpoint over which it was linked. */
    CHECK_OK(it_ep_free(bed.pair.b_ep));
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_post_rdma_read(a_ep, &segment, 1, 2, FX_SIGNAL, fx_part_addr(&part, 0), key));
    fx_done_len(bed.pair.a.request_evd, a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 8);
    CHECK_OK(it_rmr_free(rmr));
    CHECK_OK(it_ep_free(a_ep));
    CHECK_OK(it_ep_free(b_ep));
    fx_buf_free(&bed.local);
    fx_buf_free(&bed.region);
    fx_node_close(&bed.pair.a);
    fx_node_close(&bed.pair.b);
}

/* A narrow window belongs to the connection: the endpoint's next peer cannot use it. */
Test(rmr_link, narrow_ends_with_the_connection, .init = bed_open, .fini = bed_close)
{
    struct fx_part part = fx_whole(&bed.region);
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = link_it(rmr, &part);

    reads(fx_part_addr(&part, 0), key, 8);
    CHECK_OK(it_ep_disconnect(bed.pair.a_ep, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_pair_rejoin(&bed.pair);
    read_refused(fx_part_addr(&part, 0), key, 8);
    key = link_it(rmr, &part);
    reads(fx_part_addr(&part, 0), key, 8);
    CHECK_OK(it_rmr_free(rmr));
}

/* ---- Moving and closing --------------------------------------------------------------------- */

Test(rmr_link, a_new_link_kills_the_old_key, .init = bed_open, .fini = bed_close)
{
    it_rmr_context_t key;
    struct fx_part part = {&bed.region, 0, 100, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE_READ};
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    it_rmr_context_t old = link_it(rmr, &part);

    part.offset = 2000;
    key = link_it(rmr, &part);
    CHECK(old != key);
    reads(fx_part_addr(&part, 0), key, 100);
    part.offset = 0;
    read_refused(fx_part_addr(&part, 0), key, 100);
    read_refused(fx_part_addr(&part, 0), old, 100);
    CHECK_OK(it_rmr_free(rmr));
}

Test(rmr_link, unlink_kills_the_key, .init = bed_open, .fini = bed_close)
{
    struct fx_part part = fx_whole(&bed.region);
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    it_rmr_context_t key = link_it(rmr, &part);

    unlink_it(rmr);
    CHECK(!fx_is_linked(rmr));
    read_refused(fx_part_addr(&part, 0), key, 8);
    write_refused(fx_part_addr(&part, 0), key, 8);
    /* A peer may have unlinked it first, so a second unlink is no error, nor is one more. */
    unlink_it(rmr);
    unlink_it(rmr);
    CHECK_OK(it_rmr_free(rmr));
}

/* Any endpoint of the zone may unlink a narrow window. */
Test(rmr_link, unlink_on_another_endpoint, .init = bed_open, .fini = bed_close)
{
    it_rmr_handle_t rmr;
    it_rmr_context_t key;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    struct fx_part part = fx_whole(&bed.region);

    join_second(&a_ep, &b_ep);
    rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);
    key = fx_linked(bed.pair.b.request_evd, b_ep, rmr, &part);
    CHECK_STATUS(IT_ERR_EP_BUSY, it_ep_free(b_ep));
    unlink_it(rmr);
    CHECK_OK(it_ep_free(b_ep));
    CHECK_OK(it_ep_free(a_ep));
    fx_drain(bed.pair.a.conn_evd);
    read_refused(fx_part_addr(&part, 0), key, 8);
    CHECK_OK(it_rmr_free(rmr));
}

Test(rmr_link, free_closes_the_window, .init = bed_open, .fini = bed_close)
{
    it_rmr_handle_t rmr;
    it_rmr_context_t key;
    struct fx_part part = fx_whole(&bed.region);

    for (unsigned i = 0; i < 3; i++) {
        rmr = fx_rmr(bed.pair.b.pz, i % 2 ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW);
        key = link_it(rmr, &part);
        reads(fx_part_addr(&part, 0), key, 8);
        CHECK_OK(it_rmr_free(rmr));
        CHECK_STATUS(IT_ERR_INVALID_RMR, it_rmr_free(rmr));
        read_refused(fx_part_addr(&part, 0), key, 8);
    }
}

/* After thousands of links of one window no earlier key works. */
Test(rmr_link, no_key_comes_back, .init = bed_open, .fini = bed_close)
{
    static it_rmr_context_t keys[2000];
    struct fx_part part = fx_whole(&bed.region);
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);

    for (unsigned i = 0; i < 2000; i++) {
        keys[i] = link_it(rmr, &part);
        for (unsigned k = 0; k < i; k++)
            CHECK(keys[k] != keys[i]);
    }
    reads(fx_part_addr(&part, 0), keys[1999], 8);
    for (unsigned i = 0; i < 1999; i += 128)
        read_refused(fx_part_addr(&part, 0), keys[i], 8);
    reads(fx_part_addr(&part, 0), keys[1999], 8);
    CHECK_OK(it_rmr_free(rmr));
}

/* ---- Busy ----------------------------------------------------------------------------------- */

Test(rmr_link, what_is_busy)
{
    it_lmr_param_t change = {.privs = IT_PRIV_LOCAL};
    struct fx_part part;
    it_rmr_handle_t one;
    it_rmr_handle_t two;

    bed_open();
    part = fx_whole(&bed.region);
    one = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);
    two = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    (void)link_it(one, &part);
    (void)link_it(two, &part);
    (void)link_it(one, &part); /* linked again: still one link */
    CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(bed.region.lmr));
    CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_modify(bed.region.lmr, IT_LMR_PARAM_MEM_PRIV, &change));
    CHECK_STATUS(IT_ERR_EP_BUSY, it_ep_free(bed.pair.b_ep));
    CHECK_STATUS(IT_ERR_PZ_BUSY, it_pz_free(bed.pair.b.pz));
    unlink_it(one);
    CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(bed.region.lmr));
    CHECK_OK(it_rmr_free(two));
    CHECK_OK(it_lmr_modify(bed.region.lmr, IT_LMR_PARAM_MEM_PRIV, &change));
    CHECK_OK(it_lmr_free(bed.region.lmr));
    bed.region.lmr = NULL;
    CHECK_OK(it_ep_free(bed.pair.b_ep));
    CHECK_STATUS(IT_ERR_PZ_BUSY, it_pz_free(bed.pair.b.pz));
    CHECK_OK(it_rmr_free(one));
    CHECK_OK(it_pz_free(bed.pair.b.pz));
    fx_buf_free(&bed.local);
    fx_buf_free(&bed.region);
    fx_node_close(&bed.pair.a);
    fx_node_close(&bed.pair.b);
}

/* A window that moves releases its earlier region. */
Test(rmr_link, moving_to_another_region, .init = bed_open, .fini = bed_close)
{
    it_rmr_context_t key;
    struct fx_buf other = fx_buf_make(&bed.pair.b, 128);
    struct fx_part part = fx_whole(&bed.region);
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);

    (void)link_it(rmr, &part);
    part = fx_whole(&other);
    key = link_it(rmr, &part);
    CHECK_OK(it_lmr_free(bed.region.lmr));
    bed.region.lmr = NULL;
    CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(other.lmr));
    reads(fx_part_addr(&part, 0), key, 128);
    CHECK_OK(it_rmr_free(rmr));
    fx_buf_free(&other);
}

/* it_ia_free closes all linked windows. */
Test(rmr_link, ia_free_with_windows)
{
    struct fx_part part;

    bed_open();
    part = fx_whole(&bed.region);
    for (unsigned i = 0; i < 10; i++) {
        it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, i % 2 ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW);

        (void)link_it(rmr, &part);
    }
    fx_node_close(&bed.pair.b);
    bed.region.lmr = NULL;
    fx_buf_free(&bed.region);
    fx_buf_free(&bed.local);
    fx_node_close(&bed.pair.a);
}

/* ---- Query ---------------------------------------------------------------------------------- */

Test(rmr_link, query, .init = bed_open, .fini = bed_close)
{
    struct fx_part part;
    it_rmr_param_t params;
    it_rmr_param_t untouched;
    it_rmr_handle_t rmr = NULL;
    it_rmr_context_t key;

    CHECK_OK(it_rmr_create10(bed.pair.b.pz, &rmr));
    memset(&untouched, 0xa5, sizeof(untouched));
    params = untouched;
    CHECK_OK(it_rmr_query(rmr, (it_rmr_param_mask_t)0, &params));
    CHECK(memcmp(&params, &untouched, sizeof(params)) == 0);
    CHECK_OK(it_rmr_query(rmr, IT_RMR_PARAM_ALL, &params));
    EXPECT(params.ia == bed.pair.b.ia && params.pz == bed.pair.b.pz);
    EXPECT_EQ(IT_FALSE, params.bound);
    EXPECT(params.lmr == NULL && params.addr == NULL);
    EXPECT_EQ(0, params.length);
    EXPECT_EQ(0, params.rmr_context);
    EXPECT_EQ(IT_RMR_TYPE_NARROW, params.type);
    part = (struct fx_part){&bed.region, 5, 77, IT_ADDR_MODE_RELATIVE, IT_PRIV_REMOTE_WRITE};
    key = link_it(rmr, &part);
    CHECK_OK(it_rmr_query(rmr, IT_RMR_PARAM_ALL, &params));
    EXPECT_EQ(IT_TRUE, params.bound);
    EXPECT(params.lmr == bed.region.lmr && params.addr == bed.region.data + 5);
    EXPECT_EQ(77, params.length);
    EXPECT_EQ(IT_PRIV_REMOTE_WRITE, params.privs);
    EXPECT_EQ(key, params.rmr_context);
    EXPECT_EQ(IT_ADDR_MODE_RELATIVE, params.addr_mode);
    for (unsigned bit = IT_RMR_PARAM_IA; bit <= IT_RMR_PARAM_ADDR_MODE; bit <<= 1) {
        params = untouched;
        CHECK_OK(it_rmr_query(rmr, (it_rmr_param_mask_t)bit, &params));
        EXPECT(memcmp(&params, &untouched, sizeof(params)) != 0);
    }
    unlink_it(rmr);
    CHECK_OK(it_rmr_query(rmr, IT_RMR_PARAM_ALL, &params));
    EXPECT_EQ(IT_FALSE, params.bound);
    EXPECT(params.lmr == NULL);
    CHECK_OK(it_rmr_free(rmr));
    check_done();
}
