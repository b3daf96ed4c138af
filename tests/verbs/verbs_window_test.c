/* SPDX-License-Identifier: BSD-2-Clause */
/* RMRs on memory windows: what opens and closes them, and the state after a failed request. */
#include "support/it_window.h"
#include "support/test_row.h"
#include "verbs/fixture_stub.h"

#include <criterion/criterion.h>
#include <errno.h>

#define AT     100
#define LENGTH 1000

static void start(void)
{
    stub_start();
    stub.has_windows = true;
}

TestSuite(verbs_window, .init = start);

/* Two pairs of endpoints. The left endpoints open the windows. */
static struct {
    struct stub_node n; /* n.a, n.b: the first pair */
    it_ep_handle_t left, right;
    struct fx_buf memory; /* the memory of the windows */
    struct fx_part part;
    it_rmr_handle_t rmr;
} bed;

static void bed_open(it_rmr_type_t type)
{
    stub_node_pair(&bed.n, &usual);
    bed.left = stub_node_ep(&bed.n, &usual);
    bed.right = stub_node_ep(&bed.n, &usual);
    stub_connect(bed.left, bed.right);
    bed.memory = fx_buf_make(&bed.n.fx, 4096);
    bed.part = (struct fx_part){&bed.memory, AT, LENGTH, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE};
    bed.rmr = fx_rmr(bed.n.fx.pz, type);
}

/* Frees the memory: nothing must hold it although the endpoints exist. */
static void bed_close(void)
{
    CHECK_OK(it_rmr_free(bed.rmr));
    fx_buf_free(&bed.memory);
    stub_node_close(&bed.n);
}

static void expect_read(it_ep_handle_t ep, it_rmr_context_t key, it_dto_status_t status)
{
    it_lmr_triplet_t to = fx_seg(&bed.n.buf, 0, 8);

    CHECK_OK(it_post_rdma_read(ep, &to, 1, 77, FX_SIGNAL, fx_part_addr(&bed.part, 0), key));
    fx_done(bed.n.fx.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 77, status);
}

static it_rmr_context_t bed_linked(it_ep_handle_t ep)
{
    return fx_linked(bed.n.fx.request_evd, ep, bed.rmr, &bed.part);
}

static void bed_fails(it_ep_handle_t ep, it_dto_cookie_t cookie, it_dto_status_t status)
{
    fx_done(bed.n.fx.request_evd, ep, IT_RMR_LINK_CMPL_EVENT, cookie, status);
}

static void opens_and_closes(it_rmr_type_t type)
{
    it_rmr_context_t key, next;

    bed_open(type);
    key = bed_linked(bed.n.a);
    CHECK(fx_is_linked(bed.rmr));
    CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(bed.memory.lmr));
    expect_read(bed.n.b, key, IT_DTO_SUCCESS);
    next = bed_linked(bed.n.a); /* links while the window is open */
    CHECK(next != key);
    expect_read(bed.n.b, next, IT_DTO_SUCCESS);
    fx_unlinked(bed.n.fx.request_evd, bed.n.a, bed.rmr);
    CHECK(!fx_is_linked(bed.rmr));
    expect_read(bed.n.b, next, IT_DTO_ERR_REMOTE_ACCESS);
    bed_close();
}

TEST_ROW(verbs_window, a_narrow_one_opens_and_closes, opens_and_closes, IT_RMR_TYPE_NARROW);
TEST_ROW(verbs_window, a_wide_one_opens_and_closes, opens_and_closes, IT_RMR_TYPE_WIDE);

/* A narrow window serves the connection on which it was opened, and later another one. */
Test(verbs_window, a_narrow_one_moves, .fini = bed_close)
{
    it_rmr_context_t key, moved;

    bed_open(IT_RMR_TYPE_NARROW);
    key = bed_linked(bed.n.a);
    moved = bed_linked(bed.left);
    expect_read(bed.right, moved, IT_DTO_SUCCESS);
    expect_read(bed.n.b, key, IT_DTO_ERR_REMOTE_ACCESS);
    expect_read(bed.right, moved, IT_DTO_SUCCESS);
    CHECK_STATUS(IT_ERR_EP_BUSY, it_ep_free(bed.left));
    CHECK_OK(it_ep_free(bed.n.a));
}

Test(verbs_window, a_wide_one_serves_all_connections, .fini = bed_close)
{
    it_rmr_context_t key, moved;

    bed_open(IT_RMR_TYPE_WIDE);
    key = bed_linked(bed.n.a);
    expect_read(bed.n.b, key, IT_DTO_SUCCESS);
    expect_read(bed.right, key, IT_DTO_SUCCESS);
    moved = bed_linked(bed.left);
    expect_read(bed.n.b, moved, IT_DTO_SUCCESS);
    expect_read(bed.right, key, IT_DTO_ERR_REMOTE_ACCESS);
}

/* ---- Requests that fail ---------------------------------------------------------------------- */

/*
 * The device refuses to execute the request, and the connection ends. The window works on the other
 * connection.
 */
static void link_fails(it_rmr_type_t type, bool unlinks)
{
    it_rmr_context_t lost, key;

    bed_open(type);
    stub_fail_next(stub_qp(bed.n.a), IBV_WC_MW_BIND_ERR);
    lost = fx_link(bed.n.a, bed.rmr, &bed.part, 5, FX_SIGNAL);
    bed_fails(bed.n.a, 5, IT_RMR_OPERATION_FAILED);
    CHECK(!fx_is_linked(bed.rmr));
    if (unlinks)
        fx_unlinked(bed.n.fx.request_evd, bed.left, bed.rmr);
    key = bed_linked(bed.left);
    CHECK(key != lost);
    CHECK(fx_is_linked(bed.rmr));
    expect_read(bed.right, key, IT_DTO_SUCCESS);
    fx_unlinked(bed.n.fx.request_evd, bed.left, bed.rmr);
    expect_read(bed.right, key, IT_DTO_ERR_REMOTE_ACCESS);
    bed_close();
}

Test(verbs_window, a_narrow_link_fails)
{
    link_fails(IT_RMR_TYPE_NARROW, false);
    link_fails(IT_RMR_TYPE_NARROW, true);
}

Test(verbs_window, a_wide_link_fails)
{
    link_fails(IT_RMR_TYPE_WIDE, false);
    link_fails(IT_RMR_TYPE_WIDE, true);
}

/* The device flushes the requests, so the library does not know the window's key. */
static void requests_are_flushed(it_rmr_type_t type)
{
    it_rmr_context_t key;

    bed_open(type);
    stub_hold(stub_qp(bed.n.a), true);
    (void)fx_link(bed.n.a, bed.rmr, &bed.part, 1, FX_SIGNAL);
    CHECK_OK(it_rmr_unlink(bed.rmr, bed.n.a, 2, FX_SIGNAL));
    (void)fx_link(bed.n.a, bed.rmr, &bed.part, 3, FX_SIGNAL);
    stub_disconnected(bed.n.a);
    for (it_dto_cookie_t cookie = 1; cookie <= 3; cookie++)
        bed_fails(bed.n.a, cookie, IT_DTO_ERR_FLUSHED);
    CHECK(!fx_is_linked(bed.rmr));
    key = bed_linked(bed.left);
    expect_read(bed.right, key, IT_DTO_SUCCESS);
    fx_unlinked(bed.n.fx.request_evd, bed.left, bed.rmr);
    bed_close();
}

TEST_ROW(verbs_window, narrow_requests_are_flushed, requests_are_flushed, IT_RMR_TYPE_NARROW);
TEST_ROW(verbs_window, wide_requests_are_flushed, requests_are_flushed, IT_RMR_TYPE_WIDE);

static it_rmr_context_t open_what_unlink_fails(it_rmr_type_t type)
{
    it_rmr_context_t key;

    bed_open(type);
    key = bed_linked(bed.n.a);
    stub_fail_next(stub_qp(bed.n.a), IBV_WC_MW_BIND_ERR);
    CHECK_OK(it_rmr_unlink(bed.rmr, bed.n.a, 4, FX_SIGNAL));
    bed_fails(bed.n.a, 4, IT_RMR_OPERATION_FAILED);
    CHECK(fx_is_linked(bed.rmr));
    CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(bed.memory.lmr));
    return key;
}

/* A failed unlink leaves the window open. The next unlink, over any connection, closes it. */
static void unlink_fails(it_rmr_type_t type)
{
    it_rmr_context_t key;

    key = open_what_unlink_fails(type);
    fx_unlinked(bed.n.fx.request_evd, bed.left, bed.rmr);
    CHECK(!fx_is_linked(bed.rmr));
    expect_read(bed.right, key, IT_DTO_ERR_REMOTE_ACCESS);
    bed_close();
}

TEST_ROW(verbs_window, a_narrow_unlink_fails, unlink_fails, IT_RMR_TYPE_NARROW);
TEST_ROW(verbs_window, a_wide_unlink_fails, unlink_fails, IT_RMR_TYPE_WIDE);

/* The next link closes it, too, and so does freeing the endpoint. */
static void unlink_fails_before_a_link(it_rmr_type_t type)
{
    it_rmr_context_t key, next;

    key = open_what_unlink_fails(type);
    next = bed_linked(bed.left);
    CHECK(next != key);
    expect_read(bed.right, next, IT_DTO_SUCCESS);
    CHECK_OK(it_ep_free(bed.n.a));
    expect_read(bed.right, next, IT_DTO_SUCCESS);
    expect_read(bed.right, key, IT_DTO_ERR_REMOTE_ACCESS);
    bed_close();
}

TEST_ROW(verbs_window, a_narrow_unlink_fails_before_a_link, unlink_fails_before_a_link,
         IT_RMR_TYPE_NARROW);
TEST_ROW(verbs_window, a_wide_unlink_fails_before_a_link, unlink_fails_before_a_link,
         IT_RMR_TYPE_WIDE);

/*
 * The unlink goes with the QP on which it was posted. The device does not destroy a QP with an open
 * window.
 */
Test(verbs_window, an_unlink_goes_with_its_qp, .fini = bed_close)
{
    bed_open(IT_RMR_TYPE_NARROW);
    (void)bed_linked(bed.n.a);
    stub_hold(stub_qp(bed.n.a), true);
    CHECK_OK(it_rmr_unlink(bed.rmr, bed.n.a, 4, FX_SIGNAL));
    stub_disconnected(bed.n.a);
    CHECK_OK(it_ep_reset(bed.n.a));
    bed_fails(bed.n.a, 4, IT_DTO_ERR_FLUSHED);
    fx_unlinked(bed.n.fx.request_evd, bed.left, bed.rmr);
}

/* The failure is reported after the window was replaced. It does not affect the new window. */
static void failure_is_heard_of_late(it_rmr_type_t type)
{
    bed_open(type);
    stub_hold(stub_qp(bed.n.a), true);
    stub_hold(stub_qp(bed.right), true);
    (void)fx_link(bed.n.a, bed.rmr, &bed.part, 1, FX_SIGNAL);
    (void)fx_link(bed.right, bed.rmr, &bed.part, 2, FX_SIGNAL);
    stub_disconnected(bed.n.a);
    bed_fails(bed.n.a, 1, IT_DTO_ERR_FLUSHED);
    (void)bed_linked(bed.left);
    stub_disconnected(bed.right);
    bed_fails(bed.right, 2, IT_DTO_ERR_FLUSHED);
    stub.refuse_window = true; /* no other window is needed */
    (void)bed_linked(bed.left);
    fx_unlinked(bed.n.fx.request_evd, bed.left, bed.rmr);
    bed_close();
}

TEST_ROW(verbs_window, a_narrow_failure_is_heard_of_late, failure_is_heard_of_late,
         IT_RMR_TYPE_NARROW);
TEST_ROW(verbs_window, a_wide_failure_is_heard_of_late, failure_is_heard_of_late, IT_RMR_TYPE_WIDE);

/* ---- Requests that are not posted ------------------------------------------------------------ */

static it_status_t try_link(it_ep_handle_t ep)
{
    it_rmr_context_t key = 0;

    return it_rmr_link(bed.rmr, bed.memory.lmr, bed.memory.data + AT, LENGTH, IT_ADDR_MODE_ABSOLUTE,
                       IT_PRIV_REMOTE, ep, 6, FX_SIGNAL, &key);
}

/* The device's queue is full: nothing changes, and nothing is held. */
static void device_is_full(it_rmr_type_t type)
{
    it_rmr_context_t key;

    bed_open(type);
    stub.refuse_bind = ENOMEM;
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, try_link(bed.left));
    stub.refuse_bind = 0;
    fx_empty(bed.n.fx.request_evd);
    CHECK(!fx_is_linked(bed.rmr));
    key = bed_linked(bed.n.a);
    stub.refuse_bind = ENOMEM;
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, try_link(bed.n.a));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, try_link(bed.left));
    stub.refuse_bind = 0;
    CHECK(fx_is_linked(bed.rmr));
    expect_read(bed.n.b, key, IT_DTO_SUCCESS);
    fx_unlinked(bed.n.fx.request_evd, bed.n.a, bed.rmr);
    CHECK_OK(it_ep_free(bed.n.a));
    CHECK_OK(it_ep_free(bed.left));
    bed_close();
}

/*
 * There was room for the request that closes the window, but not for the one that opens it again.
 */
Test(verbs_window, a_narrow_link_finds_room_for_half, .fini = bed_close)
{
    it_rmr_context_t key;

    bed_open(IT_RMR_TYPE_NARROW);
    (void)bed_linked(bed.n.a);
    stub.refuse_bind = ENOMEM;
    stub.takes_half = true;
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, try_link(bed.n.a));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, try_link(bed.n.a));
    stub.refuse_bind = 0;
    stub.takes_half = false;
    key = bed_linked(bed.n.a);
    expect_read(bed.n.b, key, IT_DTO_SUCCESS);
    fx_unlinked(bed.n.fx.request_evd, bed.n.a, bed.rmr);
    CHECK_OK(it_ep_free(bed.n.a));
    CHECK_OK(it_ep_free(bed.left));
}

TEST_ROW(verbs_window, a_narrow_link_finds_the_device_full, device_is_full, IT_RMR_TYPE_NARROW);
TEST_ROW(verbs_window, a_wide_link_finds_the_device_full, device_is_full, IT_RMR_TYPE_WIDE);

/* Any other error ends the connection with an ordinary completion. */
static void device_refuses(it_rmr_type_t type)
{
    it_rmr_context_t key;

    bed_open(type);
    stub.refuse_bind = EINVAL;
    CHECK_OK(try_link(bed.n.a));
    stub.refuse_bind = 0;
    bed_fails(bed.n.a, 6, IT_DTO_ERR_FLUSHED);
    CHECK(!fx_is_linked(bed.rmr));
    key = bed_linked(bed.left);
    expect_read(bed.right, key, IT_DTO_SUCCESS);
    fx_unlinked(bed.n.fx.request_evd, bed.left, bed.rmr);
    bed_close();
}

TEST_ROW(verbs_window, the_device_refuses_a_narrow_link, device_refuses, IT_RMR_TYPE_NARROW);
TEST_ROW(verbs_window, the_device_refuses_a_wide_link, device_refuses, IT_RMR_TYPE_WIDE);

/* ---- No window ------------------------------------------------------------------------------- */

Test(verbs_window, no_window_no_rmr, .fini = bed_close)
{
    it_rmr_handle_t rmr = NULL;
    size_t before;

    bed_open(IT_RMR_TYPE_WIDE);
    before = stub_objects();
    stub.refuse_window = true;
    CHECK_STATUS(IT_ERR_RESOURCES, it_rmr_create20(bed.n.fx.pz, IT_RMR_TYPE_WIDE, &rmr));
    CHECK_STATUS(IT_ERR_RESOURCES, it_rmr_create20(bed.n.fx.pz, IT_RMR_TYPE_NARROW, &rmr));
    CHECK_EQ(before, stub_objects());
}

/* The window must be replaced and there is no other one: the link is refused and can be retried. */
static void no_other_window(it_rmr_type_t type)
{
    it_rmr_context_t key;

    bed_open(type);
    (void)bed_linked(bed.n.a);
    stub_fail_next(stub_qp(bed.n.a), IBV_WC_MW_BIND_ERR);
    (void)fx_link(bed.n.a, bed.rmr, &bed.part, 5, FX_SIGNAL);
    bed_fails(bed.n.a, 5, IT_RMR_OPERATION_FAILED);
    stub.refuse_window = true;
    CHECK_STATUS(IT_ERR_RESOURCES, try_link(bed.left));
    CHECK(fx_is_linked(bed.rmr));
    fx_empty(bed.n.fx.request_evd);
    stub.refuse_window = false;
    key = bed_linked(bed.left);
    expect_read(bed.right, key, IT_DTO_SUCCESS);
    fx_unlinked(bed.n.fx.request_evd, bed.left, bed.rmr);
    bed_close();
}

TEST_ROW(verbs_window, no_other_narrow_window, no_other_window, IT_RMR_TYPE_NARROW);
TEST_ROW(verbs_window, no_other_wide_window, no_other_window, IT_RMR_TYPE_WIDE);
