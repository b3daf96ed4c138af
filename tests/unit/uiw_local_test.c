/* SPDX-License-Identifier: BSD-2-Clause */
/* Links, unlinks and Reads into windows in the send queue: when they run and with what result. */
#include "vp/uiwarp/send/uiw_send.h"

#include "support/it_window.h"
#include "uiw_stream.h"

#include <criterion/criterion.h>

static struct uiw_stream stream;
static struct uiw_cursor cursor;
static struct fx_buf buf;
static struct fx_part part;
static it_rmr_handle_t rmr;

/* The test holds the token, so posted requests stay in the queue. */
static void setup(void)
{
    uiw_stream_open(&stream, true, 1460);
    buf = fx_buf_make(&stream.node, 64);
    part = fx_whole(&buf);
    rmr = fx_rmr(stream.node.pz, IT_RMR_TYPE_WIDE);
    cursor = (struct uiw_cursor){.sq = 0};
}

static void teardown(void)
{
    uiw_stream_close(&stream);
}

TestSuite(uiw_local, .init = setup, .fini = teardown);

static void post_link(it_dto_flags_t flags)
{
    (void)fx_link(stream.handle, rmr, &part, 1, flags);
}

static void post_unlink(it_dto_flags_t flags)
{
    CHECK_OK(it_rmr_unlink(rmr, stream.handle, 2, flags));
}

static void post_read(size_t length, it_dto_flags_t flags)
{
    it_rmr_triplet_t window = fx_rmr_seg(rmr, &part, 0, length);

    CHECK_OK(it_post_rdma_read_to_rmr(stream.handle, &window, 1, 3, flags, 0, 1));
}

static void check_run(uint32_t to)
{
    cr_assert(uiw_local_run(stream.ep, &cursor, true));
    cr_assert_eq(cursor.sq, to);
}

static void check_waits(void)
{
    uint32_t at = cursor.sq;

    cr_assert_not(uiw_local_run(stream.ep, &cursor, true));
    cr_assert_eq(cursor.sq, at);
    cr_assert_not(uiw_has_failed(stream.ep));
}

/* ---------------------------------------------------------------- links and unlinks */

Test(uiw_local, local_requests_in_a_row_are_executed)
{
    post_link(FX_SIGNAL);
    post_unlink(FX_SIGNAL);
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    post_link(FX_SIGNAL);
    check_run(2);
    cr_assert_not(fx_is_linked(rmr));
    check_waits();
    cursor.sq++; /* the sender handles the Send */
    check_run(4);
    cr_assert(fx_is_linked(rmr));
}

Test(uiw_local, the_turn_of_a_request)
{
    cr_assert_not(uiw_local_is_next(stream.ep, &cursor));
    post_link(FX_SIGNAL);
    cr_assert(uiw_local_is_next(stream.ep, &cursor));
    cursor.sq_offset = 1; /* inside the request before */
    cr_assert_not(uiw_local_is_next(stream.ep, &cursor));
    cursor.sq_offset = 0;
    atomic_store(&stream.ep->sq_ready, 0); /* the link is held back */
    cr_assert_not(uiw_local_is_next(stream.ep, &cursor));
}

/* The request waits until the Reads before it have their responses. */
Test(uiw_local, a_barrier_fence_waits)
{
    uiw_orq_enter(&stream.ep->reads, &(struct uiw_orq_entry){.rtr = false});
    post_link((it_dto_flags_t)(FX_SIGNAL | IT_BARRIER_FENCE_FLAG));
    check_waits();
    uiw_orq_leave(&stream.ep->reads);
    check_run(1);
}

/* The request waits until all requests before it are complete. */
Test(uiw_local, an_unlink_fence_waits)
{
    post_link(FX_SIGNAL);
    post_link(FX_SIGNAL);
    post_unlink((it_dto_flags_t)(FX_SIGNAL | IT_UNLINK_FENCE_FLAG));
    check_run(2);
    for (uint32_t complete = 0; complete < 2; complete++) {
        uiw_queue_advance(&stream.ep->sq, complete, 0);
        check_waits();
    }
    uiw_queue_advance(&stream.ep->sq, 2, 0);
    check_run(3);
    cr_assert_not(fx_is_linked(rmr));
}

/* The request is executed once, however often its turn comes. */
Test(uiw_local, a_request_that_was_executed_is_passed)
{
    post_link(FX_SIGNAL);
    check_run(1);
    CHECK_OK(it_rmr_free(rmr));
    cursor.sq = 0;
    check_run(1);
    cr_assert_not(uiw_has_failed(stream.ep));
}

Test(uiw_local, a_window_that_is_gone_is_passed)
{
    post_link(FX_SIGNAL);
    CHECK_OK(it_rmr_free(rmr));
    check_run(1);
    cr_assert_not(uiw_has_failed(stream.ep));
}

/* A caller that holds a pin does not wait for the window's token. */
Test(uiw_local, a_window_in_use_is_left_for_later)
{
    struct uiw_mr *window = uiw_rmr_of((struct ual_rmr *)(void *)rmr)->mr;

    post_link(FX_SIGNAL);
    uiw_mr_take(window);
    cr_assert_not(uiw_local_run(stream.ep, &cursor, false));
    cr_assert_not(uiw_has_failed(stream.ep));
    uiw_mr_drop(window);
    cr_assert(uiw_local_run(stream.ep, &cursor, false));
}

/* ---------------------------------------------------------------- Reads into windows */

static bool resolve_next(void)
{
    struct uiw_sqe *sqe = uiw_sqe_at(stream.ep, cursor.sq);
    bool resolved = uiw_local_resolve(stream.ep, sqe);

    cr_assert_eq(sqe->resolved, resolved);
    return resolved;
}

Test(uiw_local, a_window_is_resolved_as_it_is_when_the_read_starts)
{
    const struct uiw_segment *segment;

    post_link(FX_SIGNAL);
    post_read(64, FX_SIGNAL);
    check_run(1);
    cr_assert(resolve_next());
    segment = &uiw_sqe_at(stream.ep, 1)->segments[0];
    cr_assert_eq(segment->addr, buf.data);
    cr_assert_eq(segment->stag, atomic_load(&segment->mr->stag));
}

Test(uiw_local, a_window_that_is_not_linked_is_not_resolved)
{
    post_link(FX_SIGNAL);
    post_read(64, FX_SIGNAL);
    cr_assert_not(uiw_local_resolve(stream.ep, uiw_sqe_at(stream.ep, 1)));
}

Test(uiw_local, nothing_can_be_read_into_any_window)
{
    post_link(FX_SIGNAL);
    post_read(0, FX_SIGNAL);
    cursor.sq = 1;
    cr_assert(resolve_next());
    cr_assert_eq(uiw_sqe_at(stream.ep, 1)->segments[0].stag, 0);
}

static bool may_unlink(void)
{
    return uiw_local_may_unlink_sink(uiw_sqe_at(stream.ep, cursor.sq));
}

/* IT_UNLINK_LOCAL_SINK. */
Test(uiw_local, a_region_with_windows_on_it_stays_linked)
{
    it_lmr_triplet_t sink = fx_seg(&buf, 0, 8);

    CHECK_OK(it_post_rdma_read(stream.handle, &sink, 1, 3, FX_SIGNAL, 0, 1));
    cr_assert(may_unlink());
    post_link(FX_SIGNAL);
    cr_assert_not(may_unlink());
    post_unlink(FX_SIGNAL);
    cursor.sq = 1;
    check_run(3);
    cursor.sq = 0;
    cr_assert(may_unlink());
    CHECK_OK(it_rmr_free(rmr));
    fx_buf_free(&buf);
    cr_assert(may_unlink(), "that is found out soon");
}
