/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends, Writes and Reads of all sizes, in both directions; segments; fences. Every octet is
 * checked.
 */
#include "suite/suite_layout.h"

#include <string.h>

/* ---- All sizes ------------------------------------------------------------------------------- */

static void send_one_way(struct suite_side *side, it_ep_handle_t ep, bool send, uint32_t seed)
{
    struct layout layout = layout_make();
    struct fx_buf buf = layout_buf(side, &layout);

    for (size_t i = 0; !send && i < LAYOUT_PIECES; i++)
        fx_recv(ep, &buf, layout.piece[i].offset, layout.piece[i].length, i);
    suite_meet(side, "receives are posted");
    if (send) {
        layout_fill(&layout, &buf, seed);
        for (size_t i = 0; i < LAYOUT_PIECES; i++)
            fx_send(ep, &buf, layout.piece[i].offset, layout.piece[i].length, i, FX_SIGNAL);
    }
    for (size_t i = 0; i < LAYOUT_PIECES; i++) {
        fx_done_len(send ? side->node.request_evd : side->node.recv_evd, ep,
                    send ? IT_DTO_SEND_CMPL_EVENT : IT_DTO_RC_RECV_CMPL_EVENT, i,
                    layout.piece[i].length);
    }
    layout_check(&layout, &buf, seed);
    suite_meet(side, "sent");
    fx_buf_free(&buf);
}

static void sends(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);

    send_one_way(side, ep, side->near, 100);
    send_one_way(side, ep, !side->near, 200);
    suite_part(side, ep);
}

/* Messages shorter than the receive, as long as it, and without octets. */
static void short_sends(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = fx_buf_make(&side->node, 256);

    if (side->near) {
        fx_fill(buf.data, buf.size, 6);
        suite_meet(side, "posted");
        fx_send(ep, &buf, 0, 10, 0, FX_SIGNAL);
        fx_send(ep, &buf, 0, 0, 1, FX_SIGNAL);
        CHECK_OK(it_post_send(ep, NULL, 0, 2, FX_SIGNAL));
        CHECK_OK(it_post_send(ep, NULL, 0, 3, FX_SIGNAL));
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 0, 10);
        for (unsigned i = 1; i < 4; i++)
            fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, i, 0);
    } else {
        fx_recv(ep, &buf, 0, 100, 0);
        fx_recv(ep, &buf, 100, 100, 1);
        fx_recv(ep, &buf, 200, 0, 2);
        CHECK_OK(it_post_recv(ep, NULL, 0, 3, FX_SIGNAL));
        suite_meet(side, "posted");
        fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 0, 10);
        for (unsigned i = 1; i < 4; i++)
            fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
        CHECK(fx_is_filled(buf.data, 10, 6));
        CHECK(fx_is_byte(buf.data + 10, buf.size - 10, 0));
    }
    suite_part(side, ep);
}

/* A Send follows the Writes: when it is received, they are in place. */
static void write_one_way(struct suite_side *side, it_ep_handle_t ep, bool write, uint32_t seed)
{
    struct layout layout = layout_make();
    struct fx_buf buf = layout_buf(side, &layout);

    if (write) {
        struct suite_region region = suite_hear_region(side);

        layout_fill(&layout, &buf, seed);
        for (size_t i = 0; i < LAYOUT_PIECES; i++)
            suite_write(ep, &buf, layout.piece[i].offset, layout.piece[i].length, &region,
                        layout.piece[i].offset, i, FX_SIGNAL);
        CHECK_OK(it_post_send(ep, NULL, 0, 1000, FX_SIGNAL));
        for (size_t i = 0; i < LAYOUT_PIECES; i++)
            fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i,
                        layout.piece[i].length);
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 1000, 0);
    } else {
        CHECK_OK(it_post_recv(ep, NULL, 0, 1001, FX_SIGNAL));
        suite_tell_region(side, &buf);
        fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1001, 0);
        layout_check(&layout, &buf, seed);
    }
    suite_meet(side, "written");
    fx_buf_free(&buf);
}

static void writes(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);

    write_one_way(side, ep, side->near, 300);
    write_one_way(side, ep, !side->near, 400);
    suite_part(side, ep);
}

/* All Reads are posted at once, many more than may be open. */
static void read_one_way(struct suite_side *side, it_ep_handle_t ep, bool read, uint32_t seed)
{
    struct layout layout = layout_make();
    struct fx_buf buf = layout_buf(side, &layout);

    if (read) {
        struct suite_region region = suite_hear_region(side);

        for (size_t i = 0; i < LAYOUT_PIECES; i++)
            suite_read(ep, &buf, layout.piece[i].offset, layout.piece[i].length, &region,
                       layout.piece[i].offset, i, FX_SIGNAL);
        for (size_t i = 0; i < LAYOUT_PIECES; i++)
            fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, i,
                        layout.piece[i].length);
    } else {
        layout_fill(&layout, &buf, seed);
        suite_tell_region(side, &buf);
    }
    suite_meet(side, "read");
    layout_check(&layout, &buf, seed);
    fx_buf_free(&buf);
}

static void reads(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);

    read_one_way(side, ep, side->near, 500);
    read_one_way(side, ep, !side->near, 600);
    suite_part(side, ep);
}

/* Posts Writes or Reads of no octets between Reads of some octets. */
static void nothing(struct suite_side *side, bool reads)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = fx_buf_make(&side->node, 4096);
    unsigned char want[4096];

    fx_fill(buf.data, buf.size, side->near);
    if (side->near) {
        struct suite_region region = suite_hear_region(side);
        it_event_type_t number = reads ? IT_DTO_RDMA_READ_CMPL_EVENT : IT_DTO_RDMA_WRITE_CMPL_EVENT;

        suite_read(ep, &buf, 0, 100, &region, 0, 0, FX_SIGNAL);
        if (reads) {
            suite_read(ep, &buf, 1000, 0, &region, 50, 1, FX_SIGNAL);
            CHECK_OK(it_post_rdma_read(ep, NULL, 0, 2, FX_SIGNAL, region.address, region.key));
        } else {
            suite_write(ep, &buf, 2000, 0, &region, 50, 1, FX_SIGNAL);
            CHECK_OK(it_post_rdma_write(ep, NULL, 0, 2, FX_SIGNAL, region.address, region.key));
        }
        suite_read(ep, &buf, 100, 100, &region, 100, 3, FX_SIGNAL);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 0, 100);
        fx_done_len(side->node.request_evd, ep, number, 1, 0);
        fx_done_len(side->node.request_evd, ep, number, 2, 0);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 3, 100);
        fx_fill(want, sizeof(want), 1);
        fx_fill(want, 200, 0);
        fx_check_same(want, buf.data, sizeof(want));
    } else {
        suite_tell_region(side, &buf);
    }
    suite_part(side, ep);
    CHECK(side->near || fx_is_filled(buf.data, buf.size, 0));
}

static void write_nothing(struct suite_side *side)
{
    nothing(side, false);
}

static void read_nothing(struct suite_side *side)
{
    nothing(side, true);
}

/* Transfers one large message of each kind. */
static void large(struct suite_side *side)
{
    enum {
        LARGE = 1u << 20
    };
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf out = fx_buf_make(&side->node, LARGE);
    struct fx_buf in = fx_buf_make(&side->node, LARGE);
    struct suite_region theirs;

    fx_fill(out.data, LARGE, side->near);
    suite_tell_region(side, side->near ? &out : &in);
    theirs = suite_hear_region(side);
    if (side->near) {
        suite_write(ep, &out, 0, LARGE, &theirs, 0, 1, FX_SIGNAL);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, LARGE);
        fx_recv(ep, &in, 0, LARGE, 2);
        suite_meet(side, "written");
        fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, LARGE);
        CHECK(fx_is_filled(in.data, LARGE, 0));
    } else {
        suite_meet(side, "written");
        fx_send(ep, &out, 0, LARGE, 3, FX_SIGNAL);
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 3, LARGE);
        suite_read(ep, &out, 0, LARGE, &theirs, 0, 4, FX_SIGNAL);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 4, LARGE);
        CHECK(fx_is_filled(out.data, LARGE, 1));
        CHECK(fx_is_filled(in.data, LARGE, 1));
    }
    suite_meet(side, "done");
    suite_part(side, ep);
}

/* ---- Both directions at once ----------------------------------------------------------------- */

#define CROSSINGS      150u
#define CROSSING_AHEAD 8u
#define CROSSING_SIZE  8000u
#define CROSSING_READ  100u

struct crossing {
    struct suite_side *side;
    it_ep_handle_t ep;
    struct fx_buf out, in, back;
    struct suite_region theirs; /* .in of the other side; octets from CROSSING_SIZE on are read */
    unsigned sent, done, arrived;
};

static bool crossing_next(it_evd_handle_t evd, it_event_type_t number, it_dto_cookie_t cookie)
{
    it_event_t event;

    if (it_evd_dequeue(evd, &event) != IT_SUCCESS)
        return false;
    CHECK_EQ(number, event.event_number);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK_EQ(cookie, event.dto_cmpl.cookie);
    return true;
}

static void crossing_step(struct crossing *c)
{
    while (crossing_next(c->side->node.request_evd, IT_DTO_RDMA_READ_CMPL_EVENT, c->done))
        c->done++;
    while (crossing_next(c->side->node.recv_evd, IT_DTO_RC_RECV_CMPL_EVENT, c->arrived)) {
        c->arrived++;
        CHECK_OK(it_post_recv(c->ep, NULL, 0, c->arrived + 2 * CROSSING_AHEAD - 1, FX_SIGNAL));
    }
    while (c->sent < CROSSINGS && c->sent < c->arrived + CROSSING_AHEAD &&
           c->sent < c->done + CROSSING_AHEAD) {
        suite_write(c->ep, &c->out, 0, CROSSING_SIZE, &c->theirs, 0, c->sent, FX_QUIET);
        CHECK_OK(it_post_send(c->ep, NULL, 0, c->sent, FX_QUIET));
        suite_read(c->ep, &c->back, 0, CROSSING_READ, &c->theirs, CROSSING_SIZE, c->sent,
                   FX_SIGNAL);
        c->sent++;
    }
}

/* Each side writes, sends and reads while the other side does the same to it. */
static void both_ways(struct suite_side *side)
{
    struct fx_patience patience = fx_patience_start("traffic in both directions");
    struct crossing c = {.side = side, .ep = suite_joined(side)};

    c.out = fx_buf_make(&side->node, CROSSING_SIZE);
    c.in = fx_buf_make(&side->node, CROSSING_SIZE + CROSSING_READ);
    c.back = fx_buf_make(&side->node, CROSSING_READ);
    fx_fill(c.out.data, CROSSING_SIZE, side->near);
    fx_fill(c.in.data + CROSSING_SIZE, CROSSING_READ, 2 + side->near);
    for (it_dto_cookie_t i = 0; i < 2 * CROSSING_AHEAD; i++)
        CHECK_OK(it_post_recv(c.ep, NULL, 0, i, FX_SIGNAL));
    suite_tell_region(side, &c.in);
    c.theirs = suite_hear_region(side);
    while (c.done < CROSSINGS || c.arrived < CROSSINGS) {
        crossing_step(&c);
        fx_patience_check(&patience);
    }
    suite_meet(side, "done");
    CHECK(fx_is_filled(c.in.data, CROSSING_SIZE, !side->near));
    CHECK(fx_is_filled(c.back.data, CROSSING_READ, 2 + !side->near));
    suite_part(side, c.ep);
}

/* ---- Segments -------------------------------------------------------------------------------- */

#define SEGMENTS 8
#define MESSAGE  9000

/* Makes an endpoint with as many segments of each kind as the Interface allows, up to 8. */
static it_ep_handle_t segments_ep(struct suite_side *side, it_ep_attributes_t *attr)
{
    it_ep_handle_t ep = NULL;
    it_status_t status;

    *attr = suite_attr();
    attr->max_send_segments = SEGMENTS;
    attr->max_recv_segments = SEGMENTS;
    attr->srv.rc.max_rdma_read_segments = SEGMENTS;
    attr->srv.rc.max_rdma_write_segments = SEGMENTS;
    for (;;) {
        size_t *less = NULL;

        status = it_ep_rc_create(side->node.pz, side->node.request_evd, side->node.recv_evd,
                                 side->node.conn_evd, IT_EP_NO_FLAG, attr, &ep);
        if (status == IT_SUCCESS)
            return ep;
        if (status == IT_ERR_RESOURCE_SSEG)
            less = &attr->max_send_segments;
        else if (status == IT_ERR_RESOURCE_RSEG)
            less = &attr->max_recv_segments;
        else if (status == IT_ERR_RESOURCE_RRSEG)
            less = &attr->srv.rc.max_rdma_read_segments;
        else if (status == IT_ERR_RESOURCE_RWSEG)
            less = &attr->srv.rc.max_rdma_write_segments;
        else
            CHECK_OK(status);
        CHECK(less != NULL && *less > 1);
        --*less;
    }
}

/* Splits MESSAGE octets into so many uneven pieces. The last ones come first in the buffer. */
static size_t split(const struct fx_buf *buf, size_t count, it_lmr_triplet_t *segments)
{
    size_t left = MESSAGE;

    for (size_t i = 0; i < count; i++) {
        size_t length = i + 1 == count ? left : left / (count - i) - 7 * i - 1;

        left -= length;
        segments[i] = fx_seg(buf, left + (count - i) * 16, length);
    }
    CHECK_EQ(0, left);
    return count;
}

/* Copies the content of the pieces, in the order of the message. */
static void copy(bool out, const it_lmr_triplet_t *segments, size_t count, unsigned char *message)
{
    for (size_t i = 0; i < count; i++) {
        if (out)
            memcpy(message, segments[i].addr.abs, segments[i].length);
        else
            memcpy(segments[i].addr.abs, message, segments[i].length);
        message += segments[i].length;
    }
}

static void segments_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, MESSAGE + 16 * SEGMENTS);
    unsigned char message[MESSAGE];
    it_lmr_triplet_t segments[SEGMENTS];
    struct suite_region region;
    it_ep_attributes_t attr;
    it_ep_handle_t ep = segments_ep(side, &attr);
    size_t count;

    suite_join(side, ep);
    region = suite_hear_region(side);
    fx_fill(message, MESSAGE, 1);
    count = split(&buf, attr.max_send_segments, segments);
    copy(false, segments, count, message);
    CHECK_OK(it_post_send(ep, segments, count, 1, FX_SIGNAL));
    fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 1, MESSAGE);
    CHECK_STATUS(IT_ERR_INVALID_NUM_SEGMENTS,
                 it_post_send(ep, segments, attr.max_send_segments + 1, 1, FX_SIGNAL));

    fx_fill(message, MESSAGE, 2);
    count = split(&buf, attr.srv.rc.max_rdma_write_segments, segments);
    copy(false, segments, count, message);
    CHECK_OK(it_post_rdma_write(ep, segments, count, 2, FX_SIGNAL, region.address + 3, region.key));
    fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, MESSAGE);

    memset(buf.data, 0, buf.size);
    count = split(&buf, attr.srv.rc.max_rdma_read_segments, segments);
    CHECK_OK(it_post_rdma_read(ep, segments, count, 3, FX_SIGNAL, region.address + 3, region.key));
    fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 3, MESSAGE);
    copy(true, segments, count, message);
    CHECK(fx_is_filled(message, MESSAGE, 2));
    suite_part(side, ep);
}

static void segments_far(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, MESSAGE + 16 * SEGMENTS);
    struct fx_buf written = fx_buf_make(&side->node, MESSAGE + 10);
    unsigned char message[MESSAGE];
    it_lmr_triplet_t segments[SEGMENTS];
    it_ep_attributes_t attr;
    it_ep_handle_t ep = segments_ep(side, &attr);
    size_t count = split(&buf, attr.max_recv_segments, segments);

    suite_join(side, ep);
    CHECK_OK(it_post_recv(ep, segments, count, 1, FX_SIGNAL));
    suite_tell_region(side, &written);
    fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, MESSAGE);
    copy(true, segments, count, message);
    CHECK(fx_is_filled(message, MESSAGE, 1));
    suite_part(side, ep);
    CHECK(fx_is_filled(written.data + 3, MESSAGE, 2));
    CHECK(fx_is_byte(written.data, 3, 0) && fx_is_byte(written.data + 3 + MESSAGE, 7, 0));
}

/* ---- Segments of nothing --------------------------------------------------------------------- */

#define HOLES 3u
#define PIECE 700u

/*
 * One of three segments is empty, or all but one are. The data is short enough to go with the
 * request, or not.
 */
static size_t with_holes(const struct fx_buf *buf, unsigned round, it_lmr_triplet_t *segments)
{
    size_t piece = round % 2 == 0 ? PIECE / 20 : PIECE;
    unsigned odd = round / 2 % HOLES;
    bool many = round / 2 / HOLES > 0;
    size_t length = 0;

    for (unsigned i = 0; i < HOLES; i++) {
        segments[i] = fx_seg(buf, i * PIECE, (i == odd) == many ? piece : 0);
        length += segments[i].length;
    }
    return length;
}

static void holes(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, HOLES * PIECE);
    unsigned char message[HOLES * PIECE];
    it_lmr_triplet_t segments[SEGMENTS];
    it_ep_attributes_t attr;
    it_ep_handle_t ep = segments_ep(side, &attr);

    suite_join(side, ep);
    for (unsigned round = 0; round < 4 * HOLES; round++) {
        size_t length = with_holes(&buf, round, segments);
        struct fx_buf to = fx_buf_make(&side->node, HOLES * PIECE);
        struct suite_region region;

        if (side->near) {
            region = suite_hear_region(side);
            fx_fill(message, length, round);
            copy(false, segments, HOLES, message);
            CHECK_OK(
                it_post_rdma_write(ep, segments, HOLES, 1, FX_SIGNAL, region.address, region.key));
            CHECK_OK(it_post_send(ep, segments, HOLES, 2, FX_SIGNAL));
            fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, length);
            fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 2, length);
        } else {
            CHECK_OK(it_post_recv(ep, segments, HOLES, 3, FX_SIGNAL));
            suite_tell_region(side, &to);
            fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 3, length);
            copy(true, segments, HOLES, message);
            CHECK(fx_is_filled(message, length, round));
            CHECK(fx_is_filled(to.data, length, round));
            CHECK(fx_is_byte(to.data + length, to.size - length, 0));
        }
        fx_buf_free(&to);
    }
    suite_part(side, ep);
    fx_buf_free(&buf);
}

/* ---- Addresses from zero --------------------------------------------------------------------- */

static void relative(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = fx_buf_make_as(side->node.pz, 4096, FX_PRIVS_ALL, IT_ADDR_MODE_RELATIVE);

    if (side->near) {
        struct suite_region region = suite_hear_region(side);

        CHECK_EQ(0, region.address);
        fx_fill(buf.data, 1000, 1);
        suite_write(ep, &buf, 0, 1000, &region, 500, 1, FX_SIGNAL);
        suite_read(ep, &buf, 2000, 1000, &region, 500, 2, FX_SIGNAL);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 1000);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 1000);
        CHECK(fx_is_filled(buf.data + 2000, 1000, 1));
    } else {
        suite_tell_region(side, &buf);
    }
    suite_part(side, ep);
    if (!side->near)
        CHECK(fx_is_filled(buf.data + 500, 1000, 1));
}

/* ---- Fences ---------------------------------------------------------------------------------- */

#define FENCED 5000
#define ROUNDS 8
#define FENCE  ((it_dto_flags_t)(FX_SIGNAL | IT_BARRIER_FENCE_FLAG))

/* Sends and writes data that was just read: the fence delays both until the Read has completed. */
static void fences_near(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = fx_buf_make(&side->node, FENCED);
    struct suite_region from = suite_hear_region(side);
    struct suite_region to = suite_hear_region(side);

    for (unsigned i = 0; i < ROUNDS; i++) {
        suite_read(ep, &buf, 0, FENCED, &from, (size_t)i * FENCED, 1, FX_SIGNAL);
        suite_write(ep, &buf, 0, FENCED, &to, (size_t)i * FENCED, 2, FENCE);
        fx_send(ep, &buf, 0, FENCED, 3, FENCE);
        suite_read(ep, &buf, 0, 10, &from, 0, 4, FENCE);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, FENCED);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, FENCED);
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 3, FENCED);
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 4, 10);
    }
    suite_part(side, ep);
}

static void fences_far(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf from = fx_buf_make(&side->node, (size_t)FENCED * ROUNDS);
    struct fx_buf to = fx_buf_make(&side->node, (size_t)FENCED * ROUNDS);
    struct fx_buf in = fx_buf_make(&side->node, (size_t)FENCED * ROUNDS);

    fx_fill(from.data, from.size, 1);
    for (unsigned i = 0; i < ROUNDS; i++)
        fx_recv(ep, &in, (size_t)i * FENCED, FENCED, i);
    suite_tell_region(side, &from);
    suite_tell_region(side, &to);
    for (unsigned i = 0; i < ROUNDS; i++)
        fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, FENCED);
    CHECK(fx_is_filled(to.data, to.size, 1));
    CHECK(fx_is_filled(in.data, in.size, 1));
    suite_part(side, ep);
}

const struct suite_case suite_transfer_cases[] = {
    {.name = "transfer_sends", .near = sends, .far = sends},
    {.name = "transfer_short_sends", .near = short_sends, .far = short_sends},
    {.name = "transfer_writes", .near = writes, .far = writes},
    {.name = "transfer_reads", .near = reads, .far = reads},
    {.name = "transfer_write_nothing", .near = write_nothing, .far = write_nothing},
    {.name = "transfer_read_nothing",
     .near = read_nothing,
     .far = read_nothing,
     .far_needs = SUITE_READ_NOTHING},
    {.name = "transfer_large", .near = large, .far = large},
    {.name = "transfer_both_ways", .near = both_ways, .far = both_ways},
    {.name = "transfer_segments", .near = segments_near, .far = segments_far},
    {.name = "transfer_empty_segments", .near = holes, .far = holes},
    {.name = "transfer_relative", .near = relative, .far = relative, .needs = SUITE_RELATIVE},
    {.name = "transfer_fences", .near = fences_near, .far = fences_far},
    {0},
};
