/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows (RMRs) of the far side, used by the near side; Send with Invalidate. */
#include "suite/suite.h"
#include "support/it_window.h"

#include <string.h>

#define SIZE   4096
#define AT     100
#define LENGTH 1000

static struct fx_part part_of(const struct fx_buf *buf, it_mem_priv_t privs)
{
    return (struct fx_part){buf, AT, LENGTH, IT_ADDR_MODE_ABSOLUTE, privs};
}

static void tell_window(struct suite_side *side, const struct fx_part *part, it_rmr_context_t key)
{
    struct suite_region region;

    memset(&region, 0, sizeof(region));
    region.address = fx_part_addr(part, 0);
    region.key = key;
    region.size = part->length;
    suite_tell(side, &region, sizeof(region));
}

/* ---- Opened and closed ----------------------------------------------------------------------- */

static void use_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, LENGTH);
    it_ep_handle_t ep = suite_joined(side);

    for (unsigned round = 0; round < 3; round++) {
        struct suite_region window = suite_hear_region(side);

        fx_fill(buf.data, 200, round);
        suite_write(ep, &buf, 0, 200, &window, LENGTH - 200, 1, FX_SIGNAL);
        suite_read(ep, &buf, 500, 200, &window, LENGTH - 200, 2, FX_SIGNAL);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 200);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 200);
        CHECK(fx_is_filled(buf.data + 500, 200, round));
        suite_meet(side, "used");
    }
    suite_part(side, ep);
}

static void use_far(struct suite_side *side, it_rmr_type_t type)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct fx_part part = part_of(&buf, IT_PRIV_REMOTE);
    it_rmr_handle_t rmr = fx_rmr(side->node.pz, type);
    it_ep_handle_t ep = suite_joined(side);
    it_rmr_context_t last = 0;

    for (unsigned round = 0; round < 3; round++) {
        it_rmr_context_t key = fx_linked(side->node.request_evd, ep, rmr, &part);

        CHECK(key != last && key != buf.key);
        last = key;
        CHECK(fx_is_linked(rmr));
        CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(buf.lmr));
        tell_window(side, &part, key);
        suite_meet(side, "used");
        CHECK(fx_is_filled(buf.data + AT + LENGTH - 200, 200, round));
        CHECK(fx_is_byte(buf.data, AT + LENGTH - 200, 0));
        CHECK(fx_is_byte(buf.data + AT + LENGTH, SIZE - AT - LENGTH, 0));
        fx_unlinked(side->node.request_evd, ep, rmr);
        CHECK(!fx_is_linked(rmr));
    }
    suite_part(side, ep);
    CHECK_OK(it_rmr_free(rmr));
    CHECK_OK(it_ep_free(ep));
    fx_buf_free(&buf);
}

static void narrow_far(struct suite_side *side)
{
    use_far(side, IT_RMR_TYPE_NARROW);
}

static void wide_far(struct suite_side *side)
{
    use_far(side, IT_RMR_TYPE_WIDE);
}

/* ---- Wide: of no connection ------------------------------------------------------------------ */

static void between_use(struct suite_side *side, it_ep_handle_t ep, struct fx_buf *buf,
                        unsigned seed)
{
    struct suite_region window = suite_hear_region(side);

    fx_fill(buf->data, LENGTH, seed);
    suite_write(ep, buf, 0, LENGTH, &window, 0, 1, FX_SIGNAL);
    fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, LENGTH);
    suite_read(ep, buf, 0, 8, &window, 0, 2, FX_SIGNAL); /* the Write is in place */
    fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 8);
    suite_meet(side, "used");
}

static void between_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, LENGTH);
    it_ep_handle_t first = suite_joined(side);
    it_ep_handle_t second = suite_joined(side);
    struct suite_region window;
    it_event_t event;

    between_use(side, second, &buf, 1);
    between_use(side, first, &buf, 2);
    window = suite_hear_region(side);
    suite_read(second, &buf, 0, 8, &window, 0, 3, FX_SIGNAL);
    event = fx_next(side->node.request_evd);
    suite_failed(&event, 3, IT_DTO_ERR_REMOTE_ACCESS);
    suite_ended(side, second);
    suite_part(side, first);
}

/* The connection has ended, so the request is flushed. */
static void link_in_vain(struct suite_side *side, it_ep_handle_t ep, it_rmr_handle_t rmr,
                         const struct fx_part *part)
{
    it_event_t event;

    (void)fx_link(ep, rmr, part, 8, FX_SIGNAL);
    event = fx_next(side->node.request_evd);
    CHECK_EQ(IT_RMR_LINK_CMPL_EVENT, event.event_number);
    CHECK_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
}

/*
 * Each window is linked on one endpoint and used over the other, moved by the other, unlinked by
 * the first.
 */
static void between_far(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct fx_part part = part_of(&buf, IT_PRIV_REMOTE);
    it_rmr_handle_t rmr = fx_rmr(side->node.pz, IT_RMR_TYPE_WIDE);
    it_ep_handle_t first = suite_joined(side);
    it_ep_handle_t second = suite_joined(side);
    it_rmr_context_t key, moved;

    key = fx_linked(side->node.request_evd, first, rmr, &part);
    tell_window(side, &part, key);
    suite_meet(side, "used");
    CHECK(fx_is_filled(buf.data + AT, LENGTH, 1));
    moved = fx_linked(side->node.request_evd, second, rmr, &part);
    CHECK(moved != key);
    tell_window(side, &part, moved);
    suite_meet(side, "used");
    CHECK(fx_is_filled(buf.data + AT, LENGTH, 2));
    fx_unlinked(side->node.request_evd, first, rmr);
    tell_window(side, &part, moved);
    suite_ended(side, second);
    CHECK(!fx_is_linked(rmr));
    link_in_vain(side, second, rmr, &part);
    CHECK(!fx_is_linked(rmr));
    (void)fx_linked(side->node.request_evd, first, rmr, &part);
    suite_part(side, first);
    CHECK_OK(it_ep_free(first));
    CHECK_OK(it_ep_free(second));
    CHECK(fx_is_linked(rmr));
    CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(buf.lmr));
    CHECK_OK(it_rmr_free(rmr));
    fx_buf_free(&buf);
}

/* ---- Refused --------------------------------------------------------------------------------- */

enum misuse {
    UNLINKED, /* the window is unlinked again */
    NO_RIGHT, /* a Write through a window for reading */
    BEYOND,   /* beyond the window, but inside the LMR */
    MISUSES,
};

static const char *const misuses[MISUSES] = {"unlinked", "no right", "beyond"};

static void misuse_near(struct suite_side *side, enum misuse misuse)
{
    struct fx_buf buf = fx_buf_make(&side->node, LENGTH);
    it_ep_handle_t ep = suite_joined(side);
    struct suite_region window = suite_hear_region(side);
    it_event_t event;

    check_context(misuses[misuse]);
    if (misuse == NO_RIGHT)
        suite_write(ep, &buf, 0, 8, &window, 0, 1, FX_SIGNAL);
    else
        suite_read(ep, &buf, 0, 8, &window, misuse == BEYOND ? LENGTH - 7 : 0, 1, FX_SIGNAL);
    event = fx_next(side->node.request_evd);
    if (misuse != NO_RIGHT || event.dto_cmpl.dto_status != IT_DTO_SUCCESS)
        suite_failed(&event, 1, IT_DTO_ERR_REMOTE_ACCESS);
    suite_ended(side, ep);
    CHECK_OK(it_ep_reset(ep));
    suite_join(side, ep);
    suite_part(side, ep);
    CHECK_OK(it_ep_free(ep));
}

static void misuse_far(struct suite_side *side, enum misuse misuse, it_rmr_type_t type)
{
    it_rmr_handle_t rmr = fx_rmr(side->node.pz, type);
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct fx_part part = part_of(&buf, misuse == NO_RIGHT ? IT_PRIV_REMOTE_READ : IT_PRIV_REMOTE);
    it_ep_handle_t ep = suite_joined(side);
    it_rmr_context_t key = fx_linked(side->node.request_evd, ep, rmr, &part);

    check_context(misuses[misuse]);
    if (misuse == UNLINKED)
        fx_unlinked(side->node.request_evd, ep, rmr);
    tell_window(side, &part, key);
    suite_ended(side, ep);
    CHECK(fx_is_byte(buf.data, SIZE, 0));
    CHECK_OK(it_ep_reset(ep));
    suite_join(side, ep);
    suite_part(side, ep);
    CHECK_OK(it_rmr_free(rmr));
    CHECK_OK(it_ep_free(ep));
}

static void refused_near(struct suite_side *side)
{
    misuse_near(side, UNLINKED);
    misuse_near(side, NO_RIGHT);
}

static void refused_far(struct suite_side *side)
{
    misuse_far(side, UNLINKED, IT_RMR_TYPE_NARROW);
    misuse_far(side, NO_RIGHT, IT_RMR_TYPE_NARROW);
}

static void wide_refused_far(struct suite_side *side)
{
    misuse_far(side, UNLINKED, IT_RMR_TYPE_WIDE);
    misuse_far(side, NO_RIGHT, IT_RMR_TYPE_WIDE);
}

static void beyond_near(struct suite_side *side)
{
    misuse_near(side, BEYOND);
}

static void beyond_far(struct suite_side *side)
{
    misuse_far(side, BEYOND, IT_RMR_TYPE_NARROW);
}

/* ---- Send with Invalidate -------------------------------------------------------------------- */

/* The invalidated key gives no access. */
static void send_unlink_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, LENGTH);
    it_ep_handle_t ep = suite_joined(side);
    struct suite_region region = suite_hear_region(side);
    it_lmr_triplet_t segment = fx_seg(&buf, 0, LENGTH);
    it_event_t event;

    fx_fill(buf.data, LENGTH, 7);
    suite_write(ep, &buf, 0, LENGTH, &region, 0, 1, FX_QUIET);
    CHECK_OK(it_post_send_and_unlink(ep, &segment, 1, 2, FX_SIGNAL, region.key));
    fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 2, LENGTH);
    suite_read(ep, &buf, 0, 8, &region, 0, 9, FX_SIGNAL);
    event = fx_next(side->node.request_evd);
    suite_failed(&event, 9, IT_DTO_ERR_REMOTE_ACCESS);
    suite_ended(side, ep);
    CHECK_OK(it_ep_reset(ep));
    suite_join(side, ep);
    suite_part(side, ep);
}

static void send_unlink_far(struct suite_side *side, bool window)
{
    bool narrow = (side->has & SUITE_NARROW) != 0;
    struct fx_buf memory = fx_buf_make(&side->node, SIZE);
    struct fx_buf in = fx_buf_make(&side->node, LENGTH);
    struct fx_part part = part_of(&memory, IT_PRIV_REMOTE);
    it_ep_handle_t ep = suite_joined(side);
    it_rmr_handle_t rmr = NULL;

    fx_recv(ep, &in, 0, LENGTH, 5);
    if (window) {
        rmr = fx_rmr(side->node.pz, narrow ? IT_RMR_TYPE_NARROW : IT_RMR_TYPE_WIDE);
        tell_window(side, &part, fx_linked(side->node.request_evd, ep, rmr, &part));
    } else {
        suite_tell_region(side, &memory);
    }
    fx_done_unlinked(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 5,
                     window ? (it_handle_t)rmr : memory.lmr);
    CHECK(fx_is_filled(in.data, LENGTH, 7));
    CHECK(fx_is_filled(window ? memory.data + AT : memory.data, LENGTH, 7));
    CHECK(!(window ? fx_is_linked(rmr) : fx_lmr_is_linked(memory.lmr)));
    suite_ended(side, ep);
    CHECK_OK(it_ep_reset(ep));
    suite_join(side, ep);
    suite_part(side, ep);
}

static void rmr_unlink_far(struct suite_side *side)
{
    send_unlink_far(side, true);
}

static void lmr_unlink_far(struct suite_side *side)
{
    send_unlink_far(side, false);
}

/* ---- Reads into windows ---------------------------------------------------------------------- */

static void read_to_rmr_near(struct suite_side *side)
{
    bool narrow = (side->has & SUITE_NARROW) != 0;
    it_rmr_handle_t rmr = fx_rmr(side->node.pz, narrow ? IT_RMR_TYPE_NARROW : IT_RMR_TYPE_WIDE);
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct fx_part part = part_of(&buf, IT_PRIV_REMOTE_WRITE);
    it_ep_handle_t ep = suite_joined(side);
    struct suite_region region = suite_hear_region(side);
    it_rmr_triplet_t segment;

    (void)fx_linked(side->node.request_evd, ep, rmr, &part);
    segment = fx_rmr_seg(rmr, &part, 10, 500);
    CHECK_OK(it_post_rdma_read_to_rmr(ep, &segment, 1, 1, FX_SIGNAL, region.address, region.key));
    fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 500);
    CHECK(fx_is_filled(buf.data + AT + 10, 500, 3));
    CHECK(fx_is_byte(buf.data, AT + 10, 0));
    CHECK(fx_is_byte(buf.data + AT + 510, SIZE - AT - 510, 0));
    CHECK_OK(it_post_rdma_read_to_rmr(ep, &segment, 1, 2, FX_SIGNAL | IT_UNLINK_LOCAL_SINK,
                                      region.address, region.key));
    fx_done_unlinked(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, rmr);
    CHECK(!fx_is_linked(rmr));
    suite_part(side, ep);
}

static void read_to_rmr_far(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    it_ep_handle_t ep = suite_joined(side);

    fx_fill(buf.data, SIZE, 3);
    suite_tell_region(side, &buf);
    suite_part(side, ep);
}

const struct suite_case suite_window_cases[] = {
    {.name = "window_narrow", .near = use_near, .far = narrow_far, .far_needs = SUITE_NARROW},
    {.name = "window_wide", .near = use_near, .far = wide_far, .far_needs = SUITE_WIDE},
    {.name = "window_wide_between",
     .near = between_near,
     .far = between_far,
     .far_needs = SUITE_WIDE},
    {.name = "window_refused", .near = refused_near, .far = refused_far, .far_needs = SUITE_NARROW},
    {.name = "window_wide_refused",
     .near = refused_near,
     .far = wide_refused_far,
     .far_needs = SUITE_WIDE},
    {.name = "window_beyond",
     .near = beyond_near,
     .far = beyond_far,
     .far_needs = SUITE_NARROW | SUITE_WINDOW_BOUNDS},
    {.name = "window_send_unlink",
     .near = send_unlink_near,
     .far = rmr_unlink_far,
     .needs = SUITE_SEND_UNLINK,
     .far_needs = SUITE_NARROW},
    {.name = "window_send_unlink_lmr",
     .near = send_unlink_near,
     .far = lmr_unlink_far,
     .near_needs = SUITE_SEND_UNLINK,
     .far_needs = SUITE_LMR_UNLINK},
    {.name = "window_read_to_rmr",
     .near = read_to_rmr_near,
     .far = read_to_rmr_far,
     .near_needs = SUITE_READ_EXTENSIONS},
    {0},
};
