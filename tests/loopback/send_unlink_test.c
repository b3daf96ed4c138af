/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_post_send_and_unlink: what the peer's receive reports, what is closed then, what is refused.
 */
#include <criterion/criterion.h>

#include "support/it_window.h"
#include "support/fixture_pair.h"

/* a unlinks b's memory. */
static struct {
    struct fx_pair pair;
    struct fx_buf out;    /* a's */
    struct fx_buf in;     /* b's */
    struct fx_buf region; /* b's */
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.out = fx_node_buf(&bed.pair.a, 200000);
    bed.in = fx_node_buf(&bed.pair.b, 200000);
    bed.region = fx_node_buf(&bed.pair.b, 4096);
    fx_fill(bed.out.data, bed.out.size, 6);
}

static void bed_close(void)
{
    fx_pair_close(&bed.pair);
}

static void drain(void)
{
    const it_evd_handle_t evds[] = {bed.pair.a.aff_evd, bed.pair.b.aff_evd, bed.pair.a.request_evd,
                                    bed.pair.b.recv_evd};

    for (size_t i = 0; i < sizeof(evds) / sizeof(evds[0]); i++) {
        fx_drain(evds[i]);
    }
}

static void mend(void)
{
    fx_pair_mend(&bed.pair);
    drain();
}

static void send_unlink(size_t length, it_rmr_context_t key, it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(&bed.out, 0, length);

    CHECK_OK(it_post_send_and_unlink(bed.pair.a_ep, &segment, 1, 5, flags, key));
}

/* The message arrives, and the completion names the unlinked region. */
static void unlinks(size_t length, it_rmr_context_t key, it_handle_t region)
{
    fx_recv(bed.pair.b_ep, &bed.in, 0, bed.in.size, 6);
    send_unlink(length, key, FX_SIGNAL);
    fx_done_unlinked(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 6, region);
    CHECK(fx_is_filled(bed.in.data, length, 6));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 5, length);
}

/* The receive does not succeed, both sides break, and the region is unchanged. */
static void refused(it_rmr_context_t key)
{
    it_event_t event;

    fx_recv(bed.pair.b_ep, &bed.in, 0, bed.in.size, 6);
    send_unlink(100, key, FX_QUIET);
    fx_done(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 6, IT_DTO_ERR_FLUSHED);
    event = fx_next(bed.pair.b.aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION, event.event_number);
    mend();
}

static void read_refused(it_rdma_addr_t address, it_rmr_context_t key)
{
    it_lmr_triplet_t segment = fx_seg(&bed.out, 0, 8);

    CHECK_OK(it_post_rdma_read(bed.pair.a_ep, &segment, 1, 7, FX_SIGNAL, address, key));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 7,
            IT_DTO_ERR_REMOTE_ACCESS);
    mend();
}

static void read_granted(it_rdma_addr_t address, it_rmr_context_t key)
{
    it_lmr_triplet_t segment = fx_seg(&bed.out, 150000, 8);

    CHECK_OK(it_post_rdma_read(bed.pair.a_ep, &segment, 1, 7, FX_SIGNAL, address, key));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 7, 8);
}

Test(send_unlink, windows, .init = bed_open, .fini = bed_close)
{
    static const size_t lengths[] = {0, 1, 500, 3000, 150000};
    struct fx_part part = fx_whole(&bed.region);

    for (unsigned i = 0; i < 10; i++) {
        it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, i % 2 ? IT_RMR_TYPE_NARROW : IT_RMR_TYPE_WIDE);
        it_rmr_context_t key = fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr, &part);

        unlinks(lengths[i % 5], key, rmr);
        CHECK(!fx_is_linked(rmr));
        if (i < 2) {
            read_refused(fx_part_addr(&part, 0), key);
            refused(key); /* it is not linked any more */
        }
        /* Nothing is busy, and the window can be linked again. */
        (void)fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr, &part);
        fx_unlinked(bed.pair.b.request_evd, bed.pair.b_ep, rmr);
        CHECK_OK(it_rmr_free(rmr));
    }
}

/* The peer may unlink the region itself if no other endpoint of the zone could use its key. */
Test(send_unlink, region, .init = bed_open, .fini = bed_close)
{
    struct fx_buf other = fx_node_buf(&bed.pair.b, 64);

    read_granted(fx_addr(&bed.region, 0), bed.region.key);
    unlinks(100, bed.region.key, bed.region.lmr);
    CHECK(!fx_lmr_is_linked(bed.region.lmr));
    read_refused(fx_addr(&bed.region, 0), bed.region.key);
    refused(bed.region.key);
    /* The peer's unlink takes only its own access: the region can still receive. */
    unlinks(100, bed.in.key, bed.in.lmr);
    unlinks(100, other.key, other.lmr);
}

/* A peer cannot unlink what others may use. It loses its connection, and they lose nothing. */
Test(send_unlink, shared, .init = bed_open, .fini = bed_close)
{
    it_ep_handle_t other = fx_ep(&bed.pair.b, NULL);
    struct fx_part part = fx_whole(&bed.region);
    it_rmr_handle_t wide = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    it_rmr_context_t key = fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, wide, &part);

    refused(key);
    refused(bed.in.key);
    CHECK(fx_is_linked(wide) && fx_lmr_is_linked(bed.in.lmr));
    read_granted(fx_part_addr(&part, 0), key);
    read_granted(fx_addr(&bed.in, 0), bed.in.key);
    CHECK_OK(it_ep_free(other));
    unlinks(100, key, wide);
    CHECK_OK(it_rmr_free(wide));
}

/* A narrow window of another connection, an unknown key, a region without remote rights. */
Test(send_unlink, not_the_peers, .init = bed_open, .fini = bed_close)
{
    struct fx_part part;
    it_rmr_handle_t narrow;
    it_rmr_context_t key;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    struct fx_buf closed = fx_buf_make_as(bed.pair.b.pz, 64, IT_PRIV_LOCAL, IT_ADDR_MODE_ABSOLUTE);

    refused(bed.region.key ^ 0x10u);
    refused(0);
    refused(closed.key);
    a_ep = fx_ep(&bed.pair.a, NULL);
    b_ep = fx_ep(&bed.pair.b, NULL);
    fx_join(&bed.pair.a, a_ep, &bed.pair.b, b_ep);
    part = fx_whole(&bed.region);
    narrow = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);
    key = fx_linked(bed.pair.b.request_evd, b_ep, narrow, &part);
    refused(key);
    CHECK(fx_is_linked(narrow));
    /* The peer to which it belongs may unlink it. */
    fx_recv(b_ep, &bed.in, 0, 8, 1);
    CHECK_OK(it_post_send_and_unlink(a_ep, NULL, 0, 2, FX_SIGNAL, key));
    fx_done_unlinked(bed.pair.b.recv_evd, b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, narrow);
    CHECK_OK(it_rmr_free(narrow));
    CHECK_OK(it_ep_free(a_ep));
    CHECK_OK(it_ep_free(b_ep));
    fx_drain(bed.pair.b.conn_evd);
    fx_buf_free(&closed);
}

/* A region with windows on it stays unchanged. */
Test(send_unlink, region_with_a_window, .init = bed_open, .fini = bed_close)
{
    struct fx_part part = fx_whole(&bed.region);
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    it_rmr_context_t key = fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr, &part);

    refused(bed.region.key);
    CHECK(fx_lmr_is_linked(bed.region.lmr));
    unlinks(10, key, rmr);
    unlinks(10, bed.region.key, bed.region.lmr);
    CHECK_OK(it_rmr_free(rmr));
}

/* The consumer links the window again at the same moment. The unlink names one of the two keys. */
Test(send_unlink, old_key_of_a_moved_window, .init = bed_open, .fini = bed_close)
{
    struct fx_part part = fx_whole(&bed.region);
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    it_rmr_context_t old = fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr, &part);
    it_rmr_context_t key = fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr, &part);

    refused(old);
    CHECK(fx_is_linked(rmr));
    read_granted(fx_part_addr(&part, 0), key);
    unlinks(10, key, rmr);
    CHECK_OK(it_rmr_free(rmr));
}

/* A solicited receive wakes a waiter although it was posted without IT_NOTIFY_FLAG. */
Test(send_unlink, solicited, .init = bed_open, .fini = bed_close)
{
    it_event_t event;
    struct fx_part part = fx_whole(&bed.region);
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr, &part);
    it_lmr_triplet_t segment = fx_seg(&bed.in, 0, 100);

    CHECK_OK(it_post_recv(bed.pair.b_ep, &segment, 1, 1, IT_COMPLETION_FLAG));
    send_unlink(50, key, FX_SIGNAL | IT_SOLICITED_WAIT_FLAG);
    event = fx_wait(bed.pair.b.recv_evd);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK(event.dto_cmpl.unlinked_mr_handle == rmr);
    CHECK_OK(it_rmr_free(rmr));
}

/* Among plain Sends each receive reports its own message. */
Test(send_unlink, among_others, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf region;
    struct fx_part part;
    it_rmr_handle_t rmr;

    region = fx_node_buf(&pair.b, 64);
    part = fx_whole(&region);
    rmr = fx_rmr(pair.b.pz, IT_RMR_TYPE_NARROW);
    for (unsigned round = 0; round < 20; round++) {
        it_rmr_context_t key = fx_linked(pair.b.request_evd, pair.b_ep, rmr, &part);

        for (uint64_t i = 0; i < 9; i++)
            CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
        for (uint64_t i = 0; i < 9; i++) {
            if (i == round % 9)
                CHECK_OK(it_post_send_and_unlink(pair.a_ep, NULL, 0, i, FX_QUIET, key));
            else
                CHECK_OK(it_post_send(pair.a_ep, NULL, 0, i, FX_QUIET));
        }
        for (uint64_t i = 0; i < 9; i++)
            fx_done_unlinked(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i,
                             i == round % 9 ? rmr : NULL);
    }
    CHECK_OK(it_rmr_free(rmr));
}
