/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads into windows, and sinks that are unlinked when the Read completes. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_window.h"
#include "support/test_row.h"

static struct {
    struct fx_pair pair;
    struct fx_buf memory; /* a's: the sinks */
    struct fx_buf source; /* b's */
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.memory = fx_buf_make(&bed.pair.a, 1u << 20);
    bed.source = fx_node_buf(&bed.pair.b, 1u << 20);
    fx_fill(bed.source.data, bed.source.size, 5);
}

static void bed_close(void)
{
    fx_buf_free(&bed.memory);
    fx_pair_close(&bed.pair);
}

static it_status_t read_into(const it_rmr_triplet_t *segments, size_t count, it_dto_cookie_t cookie,
                             it_dto_flags_t flags)
{
    return it_post_rdma_read_to_rmr(bed.pair.a_ep, segments, count, cookie, flags,
                                    fx_addr(&bed.source, 0), bed.source.key);
}

static void mend(void)
{
    fx_pair_mend(&bed.pair);
    while (it_evd_dequeue(bed.pair.a.aff_evd, &(it_event_t){0}) == IT_SUCCESS ||
           it_evd_dequeue(bed.pair.b.aff_evd, &(it_event_t){0}) == IT_SUCCESS)
        continue;
    fx_drain(bed.pair.a.request_evd);
}

static it_rmr_context_t link_it(it_rmr_handle_t rmr, const struct fx_part *part)
{
    return fx_linked(bed.pair.a.request_evd, bed.pair.a_ep, rmr, part);
}

/* ---- Reads into windows --------------------------------------------------------------------- */

static void read_one(it_rmr_type_t type, it_addr_mode_t mode)
{
    struct fx_part part;
    it_rmr_triplet_t segment;
    it_rmr_handle_t rmr;

    bed_open();
    rmr = fx_rmr(bed.pair.a.pz, type);
    part = (struct fx_part){&bed.memory, 100, 300000, mode, IT_PRIV_REMOTE_WRITE};
    (void)link_it(rmr, &part);
    segment = fx_rmr_seg(rmr, &part, 17, 250000);
    CHECK_OK(read_into(&segment, 1, 1, FX_SIGNAL));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 250000);
    CHECK(fx_is_filled(bed.memory.data + 117, 250000, 5));
    CHECK(fx_is_byte(bed.memory.data, 117, 0));
    CHECK(fx_is_byte(bed.memory.data + 250117, bed.memory.size - 250117, 0));
    CHECK(fx_is_linked(rmr));
    CHECK_OK(it_rmr_free(rmr));
    bed_close();
}

/* No peer has a source key with more bits than an STag. */
Test(rmr_read, from_a_wide_key, .init = bed_open, .fini = bed_close)
{
    it_rmr_triplet_t segment;
    it_rmr_handle_t rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_NARROW);
    struct fx_part part = {&bed.memory, 0, 4096, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE_WRITE};

    (void)link_it(rmr, &part);
    segment = fx_rmr_seg(rmr, &part, 0, 64);
    bed.source.key |= 1ull << 32;
    CHECK_OK(read_into(&segment, 1, 1, FX_SIGNAL));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1,
            IT_DTO_ERR_REMOTE_ACCESS);
    CHECK(fx_is_byte(bed.memory.data, bed.memory.size, 0));
    mend();
    CHECK_OK(it_rmr_free(rmr));
}

TEST_ROW(rmr_read, narrow, read_one, IT_RMR_TYPE_NARROW, IT_ADDR_MODE_ABSOLUTE);
TEST_ROW(rmr_read, wide_and_relative, read_one, IT_RMR_TYPE_WIDE, IT_ADDR_MODE_RELATIVE);

/* The Read scatters to several windows, one of them twice, which are linked just before it. */
Test(rmr_read, scattered, .init = bed_open, .fini = bed_close)
{
    struct fx_part parts[3];
    it_rmr_triplet_t segments[4];
    it_rmr_handle_t rmrs[3];

    for (unsigned i = 0; i < 3; i++) {
        parts[i] =
            (struct fx_part){&bed.memory, i * 1000u, 500,
                             i % 2 ? IT_ADDR_MODE_RELATIVE : IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE};
        rmrs[i] = fx_rmr(bed.pair.a.pz, i % 2 ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW);
        (void)fx_link(bed.pair.a_ep, rmrs[i], &parts[i], i, FX_QUIET);
        segments[i] = fx_rmr_seg(rmrs[i], &parts[i], 50, 100);
    }
    segments[3] = fx_rmr_seg(rmrs[0], &parts[0], 150, 50);
    CHECK_OK(read_into(segments, 4, 9, FX_SIGNAL));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 9, 350);
    for (unsigned i = 0; i < 3; i++)
        CHECK(memcmp(bed.memory.data + i * 1000u + 50, bed.source.data + i * 100u, 100) == 0);
    CHECK(memcmp(bed.memory.data + 150, bed.source.data + 300, 50) == 0);
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(it_rmr_free(rmrs[i]));
}

/*
 * A window that is not linked is refused at once. A link that was posted but has not run suffices.
 */
Test(rmr_read, not_linked, .init = bed_open, .fini = bed_close)
{
    it_rmr_handle_t rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_NARROW);
    struct fx_part part = fx_whole(&bed.memory);
    it_rmr_triplet_t segment = fx_rmr_seg(rmr, &part, 0, 8);

    CHECK_STATUS(IT_ERR_INVALID_RMR, read_into(&segment, 1, 1, FX_SIGNAL));
    fx_read(bed.pair.a_ep, &bed.memory, 0, 1000, &bed.source, 0, 1, FX_QUIET);
    (void)fx_link(bed.pair.a_ep, rmr, &part, 2, IT_BARRIER_FENCE_FLAG);
    CHECK_OK(read_into(&segment, 1, 3, FX_SIGNAL));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 3, 8);
    CHECK_OK(it_rmr_unlink(rmr, bed.pair.a_ep, 4, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_INVALID_RMR, read_into(&segment, 1, 5, FX_SIGNAL));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_RMR_LINK_CMPL_EVENT, 4, 0);
    CHECK_STATUS(IT_ERR_INVALID_RMR, read_into(&segment, 1, 6, FX_SIGNAL));
    CHECK_OK(it_rmr_free(rmr));
}

static void refused_locally(const it_rmr_triplet_t *segment)
{
    CHECK_OK(read_into(segment, 1, 8, FX_SIGNAL));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 8,
            IT_DTO_ERR_LOCAL_PROTECTION);
    CHECK(fx_is_byte(bed.memory.data, bed.memory.size, 0));
    mend();
}

/* A flushed unlink leaves the window as it was. */
Test(rmr_read, after_an_unlink_that_was_flushed, .init = bed_open, .fini = bed_close)
{
    it_rmr_triplet_t segment;
    it_ep_handle_t dead;
    it_ep_handle_t peer;
    it_rmr_handle_t rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_WIDE);
    struct fx_part part = fx_whole(&bed.memory);

    (void)link_it(rmr, &part);
    dead = fx_ep(&bed.pair.a, NULL);
    peer = fx_ep(&bed.pair.b, NULL);
    fx_join(&bed.pair.a, dead, &bed.pair.b, peer);
    CHECK_OK(it_ep_disconnect(dead, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, dead, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_rmr_unlink(rmr, dead, 1, FX_SIGNAL));
    fx_done(bed.pair.a.request_evd, dead, IT_RMR_LINK_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    CHECK(fx_is_linked(rmr));
    segment = fx_rmr_seg(rmr, &part, 0, 3000);
    CHECK_OK(read_into(&segment, 1, 2, FX_SIGNAL));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 3000);
    fx_check_same(bed.source.data, bed.memory.data, 3000);
    CHECK_OK(it_rmr_free(rmr));
}

/*
 * Errors found when the Read runs: outside the window, no right to write, another endpoint's
 * window, another zone.
 */
Test(rmr_read, local_protection, .init = bed_open, .fini = bed_close)
{
    struct fx_buf foreign;
    it_rmr_triplet_t segment;
    it_pz_handle_t pz = NULL;
    it_ep_handle_t one;
    it_ep_handle_t two;
    it_rmr_handle_t rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_NARROW);
    struct fx_part part = {&bed.memory, 100, 50, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE};

    (void)link_it(rmr, &part);
    segment = fx_rmr_seg(rmr, &part, 40, 11);
    refused_locally(&segment);
    /* The window was linked over an earlier connection. */
    segment = fx_rmr_seg(rmr, &part, 0, 8);
    refused_locally(&segment);
    part.mode = IT_ADDR_MODE_RELATIVE;
    (void)link_it(rmr, &part);
    segment = fx_rmr_seg(rmr, &part, 0, 51);
    refused_locally(&segment);
    (void)link_it(rmr, &part);
    segment.addr.rel = UINT64_MAX;
    segment.length = 2;
    refused_locally(&segment);
    part.privs = IT_PRIV_REMOTE_READ;
    (void)link_it(rmr, &part);
    segment = fx_rmr_seg(rmr, &part, 0, 8);
    refused_locally(&segment);
    /* The window is linked on another endpoint of the same zone. */
    part.privs = IT_PRIV_REMOTE;
    one = fx_ep(&bed.pair.a, NULL);
    two = fx_ep(&bed.pair.b, NULL);
    fx_join(&bed.pair.a, one, &bed.pair.b, two);
    (void)fx_linked(bed.pair.a.request_evd, one, rmr, &part);
    refused_locally(&segment);
    CHECK_OK(it_rmr_free(rmr));
    CHECK_OK(it_ep_free(one));
    /* Another zone. */
    CHECK_OK(it_pz_create(bed.pair.a.ia, &pz));
    (void)fx_next(bed.pair.b.conn_evd);
    CHECK_OK(it_ep_free(two));
    foreign = fx_buf_make_as(pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
    {
        struct fx_node elsewhere = bed.pair.a;

        elsewhere.pz = pz;
        one = fx_ep(&elsewhere, NULL);
        two = fx_ep(&bed.pair.b, NULL);
        fx_join(&bed.pair.a, one, &bed.pair.b, two);
        rmr = fx_rmr(pz, IT_RMR_TYPE_WIDE);
        part = fx_whole(&foreign);
        (void)fx_linked(bed.pair.a.request_evd, one, rmr, &part);
        segment = fx_rmr_seg(rmr, &part, 0, 8);
        refused_locally(&segment);
        CHECK(fx_is_byte(foreign.data, foreign.size, 0));
    }
    CHECK_OK(it_rmr_free(rmr));
    CHECK_OK(it_ep_free(one));
    CHECK_OK(it_ep_free(two));
    fx_drain(bed.pair.b.conn_evd);
    fx_buf_free(&foreign);
    CHECK_OK(it_pz_free(pz));
}

/* Without octets to read only the handle is checked. */
Test(rmr_read, no_octets, .init = bed_open, .fini = bed_close)
{
    it_rmr_triplet_t segment;
    it_rmr_handle_t rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_NARROW);
    struct fx_part part = {&bed.memory, 100, 50, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE_READ};

    (void)link_it(rmr, &part);
    segment = fx_rmr_seg(rmr, &part, 1000, 0);
    CHECK_OK(read_into(&segment, 1, 1, FX_SIGNAL));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 0);
    CHECK_OK(read_into(NULL, 0, 2, FX_SIGNAL));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 0);
    /* With the flag the window is still unlinked. */
    CHECK_OK(read_into(&segment, 1, 3, FX_SIGNAL | IT_UNLINK_LOCAL_SINK));
    fx_done_unlinked(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 3, rmr);
    CHECK(!fx_is_linked(rmr));
    CHECK_OK(it_rmr_free(rmr));
}

/* ---- IT_UNLINK_LOCAL_SINK ------------------------------------------------------------------- */

/* b uses a key that it knew, and a's side refuses it. */
static void peer_is_refused(it_rdma_addr_t address, it_rmr_context_t key)
{
    it_lmr_triplet_t segment = fx_seg(&bed.source, 0, 8);

    CHECK_OK(it_post_rdma_write(bed.pair.b_ep, &segment, 1, 1, FX_QUIET, address, key));
    mend();
    fx_drain(bed.pair.b.request_evd);
}

Test(rmr_read, sink_window_is_unlinked, .init = bed_open, .fini = bed_close)
{
    it_rmr_handle_t rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_NARROW);
    struct fx_part part = fx_whole(&bed.memory);
    it_rmr_context_t key = link_it(rmr, &part);
    it_rmr_triplet_t segment = fx_rmr_seg(rmr, &part, 0, 200000);

    CHECK_OK(read_into(&segment, 1, 1, FX_SIGNAL | IT_UNLINK_LOCAL_SINK));
    fx_done_unlinked(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, rmr);
    CHECK(fx_is_filled(bed.memory.data, 200000, 5));
    CHECK(!fx_is_linked(rmr));
    CHECK_STATUS(IT_ERR_INVALID_RMR, read_into(&segment, 1, 1, FX_SIGNAL));
    peer_is_refused(fx_part_addr(&part, 0), key);
    CHECK(fx_is_filled(bed.memory.data, 200000, 5));
    CHECK_OK(it_lmr_free(bed.memory.lmr));
    bed.memory.lmr = NULL;
    CHECK_OK(it_rmr_free(rmr));
}

/*
 * The region's key becomes invalid, but local requests can still use its memory. it_lmr_modify
 * makes a new key.
 */
Test(rmr_read, sink_region_is_unlinked, .init = bed_open, .fini = bed_close)
{
    it_lmr_param_t params = {.privs = FX_PRIVS_ALL};
    it_rmr_context_t key = 1;
    it_rmr_handle_t rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_NARROW);
    it_lmr_triplet_t segment = fx_seg(&bed.memory, 0, 1000);

    CHECK(fx_lmr_is_linked(bed.memory.lmr));
    for (unsigned i = 0; i < 2; i++) {
        CHECK_OK(it_post_rdma_read(bed.pair.a_ep, &segment, 1, 1, FX_SIGNAL | IT_UNLINK_LOCAL_SINK,
                                   fx_addr(&bed.source, 0), bed.source.key));
        fx_done_unlinked(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1,
                         bed.memory.lmr);
        CHECK(!fx_lmr_is_linked(bed.memory.lmr));
    }
    CHECK_STATUS(IT_ERR_INVALID_LMR,
                 it_rmr_link(rmr, bed.memory.lmr, bed.memory.data, 8, IT_ADDR_MODE_ABSOLUTE,
                             IT_PRIV_REMOTE, bed.pair.a_ep, 1, FX_SIGNAL, &key));
    peer_is_refused(fx_addr(&bed.memory, 0), bed.memory.key);
    CHECK(fx_is_filled(bed.memory.data, 1000, 5));
    fx_read(bed.pair.a_ep, &bed.memory, 1000, 1000, &bed.source, 0, 2, FX_SIGNAL);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 1000);
    CHECK_OK(it_lmr_modify(bed.memory.lmr, IT_LMR_PARAM_MEM_PRIV, &params));
    CHECK_OK(it_lmr_query(bed.memory.lmr, IT_LMR_PARAM_ALL, &params));
    CHECK_EQ(IT_TRUE, params.linked);
    CHECK(params.rmr_context != bed.memory.key);
    bed.memory.key = params.rmr_context;
    fx_write(bed.pair.b_ep, &bed.source, 0, 8, &bed.memory, 5000, 3, FX_QUIET);
    fx_pair_ping(&bed.pair);
    CHECK(memcmp(bed.memory.data + 5000, bed.source.data, 8) == 0);
    CHECK_OK(it_rmr_free(rmr));
}

/* A region stays linked while windows are on it, so the Read fails. */
Test(rmr_read, sink_region_with_a_window, .init = bed_open, .fini = bed_close)
{
    it_lmr_triplet_t segment;
    it_rmr_handle_t rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_WIDE);
    struct fx_part part = {&bed.memory, 0, 8, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE};

    (void)link_it(rmr, &part);
    segment = fx_seg(&bed.memory, 0, 1000);
    CHECK_OK(it_post_rdma_read(bed.pair.a_ep, &segment, 1, 1, FX_QUIET | IT_UNLINK_LOCAL_SINK,
                               fx_addr(&bed.source, 0), bed.source.key));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1,
            IT_DTO_ERR_LOCAL_MM_OPERATION);
    mend();
    CHECK(fx_lmr_is_linked(bed.memory.lmr));
    CHECK(fx_is_byte(bed.memory.data, 1000, 0));
    CHECK_OK(it_rmr_free(rmr));
}

/* A failed Read unlinks nothing. */
Test(rmr_read, failed_read_unlinks_nothing, .init = bed_open, .fini = bed_close)
{
    it_lmr_triplet_t segment = fx_seg(&bed.memory, 0, 1000);

    CHECK_OK(it_post_rdma_read(bed.pair.a_ep, &segment, 1, 1, FX_SIGNAL | IT_UNLINK_LOCAL_SINK,
                               fx_addr(&bed.source, 0), bed.source.key ^ 1u));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1,
            IT_DTO_ERR_REMOTE_ACCESS);
    mend();
    CHECK(fx_lmr_is_linked(bed.memory.lmr));
}
