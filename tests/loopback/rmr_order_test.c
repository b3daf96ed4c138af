/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links and unlinks among other requests: order of execution and completion, fences, unsignalled
 * requests, slots, flushed requests, and links while the socket is full.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_window.h"
#include "support/raw_peer.h"
#include "support/test_row.h"

static struct {
    struct fx_pair pair;
    struct fx_buf local;  /* a's */
    struct fx_buf region; /* a's, with the window */
    struct fx_buf remote; /* b's */
    it_rmr_handle_t rmr;
    struct fx_part part;
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.local = fx_buf_make(&bed.pair.a, 2u << 20);
    bed.region = fx_buf_make(&bed.pair.a, 4096);
    bed.remote = fx_buf_make(&bed.pair.b, 2u << 20);
    bed.rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_NARROW);
    bed.part = fx_whole(&bed.region);
}

static void bed_close(void)
{
    CHECK_OK(it_rmr_free(bed.rmr));
    fx_buf_free(&bed.local);
    fx_buf_free(&bed.region);
    fx_buf_free(&bed.remote);
    fx_pair_close(&bed.pair);
}

static void done(it_event_type_t number, it_dto_cookie_t cookie)
{
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, number, cookie, IT_DTO_SUCCESS);
}

/* Requests posted behind the link may use its key at once. */
Test(rmr_order, key_in_the_next_message, .init = bed_open, .fini = bed_close)
{
    struct fx_buf in = fx_buf_make(&bed.pair.b, 64);
    struct fx_buf out = fx_buf_make(&bed.pair.a, 64);

    for (uint64_t i = 0; i < 300; i++) {
        it_lmr_triplet_t sink = fx_seg(&bed.remote, 0, 16);
        it_rmr_context_t key;
        it_rmr_context_t told;

        fx_recv(bed.pair.b_ep, &in, 0, 64, i);
        bed.part.offset = (size_t)i * 8;
        bed.part.length = 16;
        fx_fill(bed.region.data + bed.part.offset, 16, (uint32_t)i);
        key = fx_link(bed.pair.a_ep, bed.rmr, &bed.part, i, FX_QUIET);
        memcpy(out.data, &key, sizeof(key));
        fx_send(bed.pair.a_ep, &out, 0, sizeof(key), i, FX_SIGNAL);
        fx_done(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_SUCCESS);
        memcpy(&told, in.data, sizeof(told));
        CHECK_OK(it_post_rdma_read(bed.pair.b_ep, &sink, 1, i, FX_SIGNAL,
                                   fx_part_addr(&bed.part, 0), told));
        fx_done_len(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, 16);
        CHECK(memcmp(bed.remote.data, bed.region.data + bed.part.offset, 16) == 0);
        done(IT_DTO_SEND_CMPL_EVENT, i);
    }
    fx_empty(bed.pair.a.request_evd);
    fx_buf_free(&in);
    fx_buf_free(&out);
}

/* All requests complete in the order of posting, links and unlinks included. */
Test(rmr_order, completions_in_posting_order, .init = bed_open, .fini = bed_close)
{
    static const it_event_type_t kinds[] = {IT_DTO_RDMA_READ_CMPL_EVENT, IT_RMR_LINK_CMPL_EVENT,
                                            IT_DTO_RDMA_WRITE_CMPL_EVENT, IT_RMR_LINK_CMPL_EVENT};

    for (unsigned round = 0; round < 50; round++) {
        for (uint64_t i = 0; i < 60; i++) {
            size_t at = (size_t)i * 1000;

            if (i % 4 == 0)
                fx_read(bed.pair.a_ep, &bed.local, at, 1000, &bed.remote, at, i, FX_SIGNAL);
            else if (i % 4 == 2)
                fx_write(bed.pair.a_ep, &bed.local, at, 1000, &bed.remote, at, i, FX_SIGNAL);
            else if (i % 4 == 1)
                (void)fx_link(bed.pair.a_ep, bed.rmr, &bed.part, i, FX_SIGNAL);
            else
                CHECK_OK(it_rmr_unlink(bed.rmr, bed.pair.a_ep, i, FX_SIGNAL));
        }
        for (uint64_t i = 0; i < 60; i++)
            done(kinds[i % 4], i);
        CHECK(!fx_is_linked(bed.rmr));
    }
}

/* Without IT_COMPLETION_FLAG there is no event. The next completion returns the slot. */
Test(rmr_order, silent, .init = bed_open, .fini = bed_close)
{
    for (uint64_t round = 0; round < 100; round++) {
        for (uint64_t i = 0; i < 31; i++) {
            (void)fx_link(bed.pair.a_ep, bed.rmr, &bed.part, i, IT_NOTIFY_FLAG);
            CHECK_OK(it_rmr_unlink(bed.rmr, bed.pair.a_ep, i, FX_QUIET));
        }
        CHECK_OK(it_rmr_unlink(bed.rmr, bed.pair.a_ep, round, FX_SIGNAL));
        done(IT_RMR_LINK_CMPL_EVENT, round);
        fx_empty(bed.pair.a.request_evd);
    }
}

/* Links use slots like other requests: signalled ones until their event is dequeued. */
Test(rmr_order, slots, .init = bed_open, .fini = bed_close)
{
    it_rmr_context_t key = 1;

    for (uint64_t i = 0; i < 64; i++)
        (void)fx_link(bed.pair.a_ep, bed.rmr, &bed.part, i, FX_SIGNAL);
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS,
                 it_rmr_link(bed.rmr, bed.region.lmr, bed.region.data, 1, IT_ADDR_MODE_ABSOLUTE,
                             IT_PRIV_REMOTE_READ, bed.pair.a_ep, 1, FX_SIGNAL, &key));
    CHECK_EQ(1, key);
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_rmr_unlink(bed.rmr, bed.pair.a_ep, 1, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_send(bed.pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    for (uint64_t i = 0; i < 64; i++)
        done(IT_RMR_LINK_CMPL_EVENT, i);
    fx_unlinked(bed.pair.a.request_evd, bed.pair.a_ep, bed.rmr);
}

/* ---- Fences --------------------------------------------------------------------------------- */

/*
 * With IT_UNLINK_FENCE_FLAG the Read into the window that was posted before first ends
 * successfully.
 */
static void fenced_unlink(it_dto_flags_t fence)
{
    struct fx_part part;
    struct fx_buf sink;
    it_rmr_triplet_t segment;

    bed_open();
    sink = fx_buf_make(&bed.pair.a, 1u << 20);
    fx_fill(bed.remote.data, sink.size, 9);
    part = fx_whole(&sink);
    segment = fx_rmr_seg(bed.rmr, &part, 0, sink.size);
    for (uint64_t i = 0; i < 20; i++) {
        (void)fx_link(bed.pair.a_ep, bed.rmr, &part, 1, FX_QUIET);
        CHECK_OK(it_post_rdma_read_to_rmr(bed.pair.a_ep, &segment, 1, 2, FX_SIGNAL,
                                          fx_addr(&bed.remote, 0), bed.remote.key));
        CHECK_OK(it_rmr_unlink(bed.rmr, bed.pair.a_ep, 3, FX_SIGNAL | fence));
        done(IT_DTO_RDMA_READ_CMPL_EVENT, 2);
        CHECK(fx_is_filled(sink.data, sink.size, 9));
        done(IT_RMR_LINK_CMPL_EVENT, 3);
        CHECK(!fx_is_linked(bed.rmr));
        memset(sink.data, 0, sink.size);
    }
    fx_buf_free(&sink);
    bed_close();
}

TEST_ROW(rmr_order, unlink_fence, fenced_unlink, IT_UNLINK_FENCE_FLAG);
TEST_ROW(rmr_order, barrier_fence, fenced_unlink, IT_BARRIER_FENCE_FLAG);

/* Fence follows fence, and all are posted before the first can run. Each releases the next. */
Test(rmr_order, fences_in_a_row, .init = bed_open, .fini = bed_close)
{
    const it_dto_flags_t fence = IT_UNLINK_FENCE_FLAG | IT_COALESCE_WR_FLAG;

    for (unsigned round = 0; round < 30; round++) {
        fx_write(bed.pair.a_ep, &bed.local, 0, 100000, &bed.remote, 0, 1, IT_COALESCE_WR_FLAG);
        for (uint64_t i = 0; i < 5; i++) {
            (void)fx_link(bed.pair.a_ep, bed.rmr, &bed.part, i, IT_COALESCE_WR_FLAG);
            CHECK_OK(it_rmr_unlink(bed.rmr, bed.pair.a_ep, i, fence));
            CHECK_OK(it_rmr_unlink(bed.rmr, bed.pair.a_ep, i, fence));
        }
        fx_write(bed.pair.a_ep, &bed.local, 0, 8, &bed.remote, 0, 2, FX_SIGNAL);
        done(IT_DTO_RDMA_WRITE_CMPL_EVENT, 2);
    }
}

/* The same works if nobody calls the library any more: the end of the Read runs all of them. */
Test(rmr_order, fences_end_with_the_read, .init = bed_open, .fini = bed_close)
{
    static struct raw_segment request;
    struct raw_peer peer;
    RAW_BYTES(ulpdu);
    it_ep_handle_t ep;
    int fd = -1;

    raw_socket_pair(&peer, &fd);
    peer.crc = true;
    ep = fx_ep(&bed.pair.a, NULL);
    CHECK_OK(it_socket_convert(fd, ep, IT_SC_NO_REQ_REP, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_read(ep, &bed.local, 0, 4, &bed.remote, 0, 1, FX_SIGNAL);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&peer, &request));
    fx_write(ep, &bed.local, 0, 100, &bed.remote, 0, 2, IT_BARRIER_FENCE_FLAG);
    CHECK_OK(it_rmr_unlink(bed.rmr, ep, 3, IT_UNLINK_FENCE_FLAG));
    CHECK_OK(it_rmr_unlink(bed.rmr, ep, 4, IT_UNLINK_FENCE_FLAG));
    fx_write(ep, &bed.local, 0, 200, &bed.remote, 0, 5, FX_SIGNAL);
    raw_tagged(&ulpdu, RAW_READ_RESPONSE, raw_be32(request.payload), raw_be64(request.payload + 4),
               "four", 4, true);
    CHECK(raw_send_ulpdu(&peer, &ulpdu));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&peer, &request));
    CHECK_EQ(100, request.len);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&peer, &request));
    CHECK_EQ(200, request.len);
    fx_done_len(bed.pair.a.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 4);
    fx_done_len(bed.pair.a.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 5, 200);
    CHECK_OK(it_ep_free(ep));
    raw_close(&peer);
}

/* A waiting fence delays later requests, but not answers to the peer. */
Test(rmr_order, a_fence_lets_answers_pass, .init = bed_open, .fini = bed_close)
{
    struct fx_buf theirs = fx_buf_make(&bed.pair.b, 2u << 20);

    fx_fill(bed.local.data, theirs.size, 4);
    for (uint64_t i = 0; i < 10; i++) {
        fx_read(bed.pair.a_ep, &bed.local, 0, 1, &bed.remote, 0, 1, FX_SIGNAL);
        fx_fill(bed.local.data, theirs.size, 4);
        CHECK_OK(it_rmr_unlink(bed.rmr, bed.pair.a_ep, 2, FX_SIGNAL | IT_UNLINK_FENCE_FLAG));
        fx_write(bed.pair.a_ep, &bed.region, 0, 8, &bed.remote, 0, 3, FX_SIGNAL);
        fx_read(bed.pair.b_ep, &theirs, 1, theirs.size - 1, &bed.local, 1, 4, FX_SIGNAL);
        fx_done(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 4,
                IT_DTO_SUCCESS);
        CHECK(memcmp(theirs.data + 1, bed.local.data + 1, theirs.size - 1) == 0);
        done(IT_DTO_RDMA_READ_CMPL_EVENT, 1);
        done(IT_RMR_LINK_CMPL_EVENT, 2);
        done(IT_DTO_RDMA_WRITE_CMPL_EVENT, 3);
    }
    fx_buf_free(&theirs);
}

/* ---- Connections that are not there --------------------------------------------------------- */

/* Behind a failed request a link is flushed and not executed, and leaves nothing busy. */
Test(rmr_order, flushed, .init = bed_open, .fini = bed_close)
{
    it_lmr_triplet_t bad;

    (void)fx_linked(bed.pair.a.request_evd, bed.pair.a_ep, bed.rmr, &bed.part);
    for (unsigned round = 0; round < 3; round++) {
        bad = fx_seg(&bed.local, 0, 4);
        bad.addr.abs = bed.local.data - 8;
        fx_read(bed.pair.a_ep, &bed.local, 0, 1u << 20, &bed.remote, 0, 1, FX_QUIET);
        CHECK_OK(it_post_send(bed.pair.a_ep, &bad, 1, 2, IT_COALESCE_WR_FLAG));
        CHECK_OK(
            it_rmr_unlink(bed.rmr, bed.pair.a_ep, 3, IT_COALESCE_WR_FLAG | IT_UNLINK_FENCE_FLAG));
        (void)fx_link(bed.pair.a_ep, bed.rmr, &bed.part, 4, FX_QUIET);
        fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
        for (it_event_t event = fx_next(bed.pair.a.request_evd); event.dto_cmpl.cookie != 4;
             event = fx_next(bed.pair.a.request_evd))
            CHECK(event.dto_cmpl.dto_status != IT_DTO_SUCCESS);
        fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
        /* In NONOPERATIONAL the link is accepted and flushed at once. */
        (void)fx_link(bed.pair.a_ep, bed.rmr, &bed.part, 5, FX_QUIET);
        fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_RMR_LINK_CMPL_EVENT, 5,
                IT_DTO_ERR_FLUSHED);
        CHECK_OK(it_rmr_unlink(bed.rmr, bed.pair.a_ep, 6, FX_QUIET));
        fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_RMR_LINK_CMPL_EVENT, 6,
                IT_DTO_ERR_FLUSHED);
        CHECK(fx_is_linked(bed.rmr));
        fx_pair_rejoin(&bed.pair);
        (void)fx_linked(bed.pair.a.request_evd, bed.pair.a_ep, bed.rmr, &bed.part);
    }
    fx_unlinked(bed.pair.a.request_evd, bed.pair.a_ep, bed.rmr);
    CHECK_OK(it_lmr_free(bed.region.lmr));
    bed.region.lmr = NULL;
}

/* Freeing an endpoint with queued links releases the objects that they name. */
Test(rmr_order, endpoint_freed_with_links_posted, .init = bed_open, .fini = bed_close)
{
    struct raw_peer peer;
    it_ep_handle_t ep;
    int fd = -1;
    it_rmr_handle_t wide = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_WIDE);

    for (unsigned i = 0; i < 5; i++) {
        raw_socket_pair(&peer, &fd);
        ep = fx_ep(&bed.pair.a, NULL);
        CHECK_OK(it_socket_convert(fd, ep, IT_SC_NO_REQ_REP, NULL, 0));
        fx_conn(bed.pair.a.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        /* The peer never answers, so the fence waits for ever. */
        fx_read(ep, &bed.local, 0, 8, &bed.remote, 0, 1, FX_QUIET);
        CHECK_OK(it_rmr_unlink(wide, ep, 2, IT_UNLINK_FENCE_FLAG));
        (void)fx_link(ep, wide, &bed.part, 3, FX_QUIET);
        CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(bed.region.lmr));
        CHECK(!fx_is_linked(wide));
        if (i == 2) { /* the window is freed before its link runs */
            CHECK_OK(it_rmr_free(wide));
            wide = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_WIDE);
        }
        CHECK_OK(it_ep_free(ep));
        raw_close(&peer);
    }
    CHECK_OK(it_lmr_free(bed.region.lmr));
    bed.region.lmr = NULL;
    CHECK_OK(it_rmr_free(wide));
}

/*
 * A window that is freed before its link runs is handled as if the link had run before. The
 * connection continues.
 */
Test(rmr_order, window_freed_before_its_link, .init = bed_open, .fini = bed_close)
{
    static struct raw_segment request;
    struct raw_peer peer;
    RAW_BYTES(ulpdu);
    it_ep_handle_t ep;
    it_rmr_handle_t rmr;
    int fd = -1;

    raw_socket_pair(&peer, &fd);
    peer.crc = true;
    ep = fx_ep(&bed.pair.a, NULL);
    rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_NARROW);
    CHECK_OK(it_socket_convert(fd, ep, IT_SC_NO_REQ_REP, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_read(ep, &bed.local, 0, 4, &bed.remote, 0, 1, FX_SIGNAL);
    CHECK_OK(it_rmr_unlink(rmr, ep, 2, FX_SIGNAL | IT_BARRIER_FENCE_FLAG));
    (void)fx_link(ep, rmr, &bed.part, 3, FX_SIGNAL);
    CHECK_OK(it_rmr_unlink(rmr, ep, 4, FX_SIGNAL));
    CHECK_OK(it_rmr_free(rmr));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&peer, &request));
    raw_tagged(&ulpdu, RAW_READ_RESPONSE, raw_be32(request.payload), raw_be64(request.payload + 4),
               "four", 4, true);
    CHECK(raw_send_ulpdu(&peer, &ulpdu));
    fx_done_len(bed.pair.a.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 4);
    for (uint64_t cookie = 2; cookie <= 4; cookie++)
        fx_done_len(bed.pair.a.request_evd, ep, IT_RMR_LINK_CMPL_EVENT, cookie, 0);
    CHECK_OK(it_lmr_free(bed.region.lmr));
    bed.region.lmr = NULL;
    fx_read(ep, &bed.local, 0, 4, &bed.remote, 0, 5, FX_QUIET);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&peer, &request));
    CHECK_OK(it_ep_free(ep));
    raw_close(&peer);
}

/* it_ia_free with waiting requests raises no events. */
Test(rmr_order, ia_freed_with_links_posted)
{
    struct raw_peer peer;
    it_ep_handle_t ep;
    int fd = -1;

    bed_open();
    raw_socket_pair(&peer, &fd);
    peer.crc = true;
    ep = fx_ep(&bed.pair.a, NULL);
    CHECK_OK(it_socket_convert(fd, ep, IT_SC_NO_REQ_REP, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_read(ep, &bed.local, 0, 4, &bed.remote, 0, 1, FX_SIGNAL);
    (void)fx_link(ep, bed.rmr, &bed.part, 2, IT_BARRIER_FENCE_FLAG);
    bed.local.lmr = bed.region.lmr = NULL;
    fx_node_close(&bed.pair.a);
    /* The peer gets the Read Request and then the end, without a Terminate. */
    CHECK(raw_drain(&peer) != RAW_TIMEOUT);
    raw_close(&peer);
    fx_buf_free(&bed.local);
    fx_buf_free(&bed.region);
    fx_buf_free(&bed.remote);
    fx_node_close(&bed.pair.b);
}

/* A responder may not send before its peer. Links do not wait for that. */
Test(rmr_order, a_responder_links_at_once, .init = bed_open, .fini = bed_close)
{
    struct raw_peer peer;
    RAW_BYTES(bytes);
    struct raw_mpa_frame frame;
    it_ep_handle_t ep;
    it_rmr_handle_t rmr;
    int fd = -1;

    raw_socket_pair(&peer, &fd);
    ep = fx_ep(&bed.pair.a, NULL);
    rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_NARROW);
    CHECK_OK(it_socket_convert(fd, ep, ITX_SC_RESPONDER, NULL, 0));
    raw_mpa1(&bytes, false, RAW_MPA_C);
    CHECK(raw_send(&peer, &bytes));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &frame));
    fx_conn(bed.pair.a.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    (void)fx_linked(bed.pair.a.request_evd, ep, rmr, &bed.part);
    CHECK_OK(it_rmr_unlink(rmr, ep, 7, IT_COALESCE_WR_FLAG));
    CHECK_OK(it_rmr_unlink(rmr, ep, 8, IT_UNLINK_FENCE_FLAG | IT_COALESCE_WR_FLAG));
    CHECK_OK(it_rmr_unlink(rmr, ep, 9, IT_UNLINK_FENCE_FLAG | FX_SIGNAL));
    fx_done_len(bed.pair.a.request_evd, ep, IT_RMR_LINK_CMPL_EVENT, 9, 0);
    (void)fx_linked(bed.pair.a.request_evd, ep, rmr, &bed.part);
    CHECK_OK(it_post_send(ep, NULL, 0, 1, FX_SIGNAL));
    /* The unlink is behind the Send, which waits. */
    CHECK_OK(it_rmr_unlink(rmr, ep, 2, FX_SIGNAL));
    fx_pair_ping(&bed.pair);
    fx_empty(bed.pair.a.request_evd);
    CHECK(fx_is_linked(rmr));
    peer.crc = true;
    raw_tagged(&bytes, RAW_WRITE, 1, 0, NULL, 0, true);
    CHECK(raw_send_ulpdu(&peer, &bytes));
    fx_done_len(bed.pair.a.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 1, 0);
    fx_done_len(bed.pair.a.request_evd, ep, IT_RMR_LINK_CMPL_EVENT, 2, 0);
    CHECK_OK(it_rmr_free(rmr));
    CHECK_OK(it_ep_free(ep));
    raw_close(&peer);
}

/*
 * The peer stops reading: the unlink behind the Write waits, but an unlink on another endpoint does
 * not.
 */
Test(rmr_order, a_stuck_endpoint_does_not_keep_a_window, .init = bed_open, .fini = bed_close)
{
    struct raw_peer peer;
    it_ep_handle_t ep;
    it_rmr_handle_t rmr;
    uint64_t written = 0;
    int fd = -1;

    raw_socket_pair(&peer, &fd);
    ep = fx_ep(&bed.pair.a, NULL);
    rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_WIDE);
    CHECK_OK(it_socket_convert(fd, ep, IT_SC_NO_REQ_REP, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    (void)fx_linked(bed.pair.a.request_evd, ep, rmr, &bed.part);
    /*
     * Post Writes until the socket is full. The last one is cut and continues when there is room.
     */
    for (;;) {
        it_event_t event;
        uint64_t until = fx_now_us() + 200000;
        it_status_t status;
        bool over;

        fx_write(ep, &bed.local, 0, 512u << 10, &bed.remote, 0, written, FX_SIGNAL);
        do { /* the last poll comes after the time is over */
            over = fx_now_us() >= until;
            status = it_evd_dequeue(bed.pair.a.request_evd, &event);
        } while (status == IT_ERR_QUEUE_EMPTY && !over);
        if (status == IT_ERR_QUEUE_EMPTY)
            break;
        CHECK_OK(status);
        written++;
    }
    /* Another endpoint runs the unlink: that of the stuck endpoint is behind the Write. */
    CHECK_OK(it_rmr_unlink(rmr, ep, 1000, FX_SIGNAL));
    fx_unlinked(bed.pair.a.request_evd, bed.pair.a_ep, rmr);
    CHECK(!fx_is_linked(rmr));
    CHECK_OK(it_ep_free(ep));
    CHECK_OK(it_rmr_free(rmr));
    raw_close(&peer);
}

/* The requests wait for the last one, which releases them all. */
Test(rmr_order, coalesced, .init = bed_open, .fini = bed_close)
{
    for (uint64_t round = 0; round < 30; round++) {
        for (uint64_t i = 0; i < 20; i += 2) {
            (void)fx_link(bed.pair.a_ep, bed.rmr, &bed.part, i, FX_SIGNAL | IT_COALESCE_WR_FLAG);
            fx_write(bed.pair.a_ep, &bed.local, 0, 64, &bed.remote, 0, i + 1,
                     FX_SIGNAL | IT_COALESCE_WR_FLAG);
        }
        CHECK_OK(it_rmr_unlink(bed.rmr, bed.pair.a_ep, 20, FX_SIGNAL));
        for (uint64_t i = 0; i < 20; i += 2) {
            done(IT_RMR_LINK_CMPL_EVENT, i);
            done(IT_DTO_RDMA_WRITE_CMPL_EVENT, i + 1);
        }
        done(IT_RMR_LINK_CMPL_EVENT, 20);
    }
}
