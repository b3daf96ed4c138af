/* SPDX-License-Identifier: BSD-2-Clause */
/* Work queues: full queues, unsignalled requests, order, both directions at once. */
#include "suite/suite.h"

#include <string.h>

#define SIZE 48

static size_t depth(it_ep_handle_t ep, bool receives)
{
    it_ep_param_t param;

    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_MAX_REQ_DTO | IT_EP_PARAM_MAX_RECV_DTO, &param));
    return receives ? param.attr.max_recv_dtos : param.attr.max_request_dtos;
}

/* ---- Full ------------------------------------------------------------------------------------ */

/*
 * Posts as many receives as the depth allows, and not one more. They are filled in the order of
 * posting.
 */
static void full(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);
    size_t count = depth(ep, true);
    struct fx_buf buf;
    size_t theirs = 0;

    suite_tell(side, &count, sizeof(count));
    suite_hear(side, &theirs, sizeof(theirs));
    if (side->near)
        count = theirs;
    buf = fx_buf_make(&side->node, count * SIZE);
    if (side->near) {
        size_t room = depth(ep, false);

        CHECK(room >= suite_attr().max_request_dtos);
        fx_fill(buf.data, buf.size, 1);
        suite_join_quietly(side, ep);
        for (size_t done = 0; done < count;) {
            size_t batch = count - done < room ? count - done : room;

            for (size_t i = 0; i < batch; i++)
                fx_send(ep, &buf, (done + i) * SIZE, SIZE, done + i, FX_SIGNAL);
            for (size_t i = 0; i < batch; i++, done++)
                fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, done, SIZE);
        }
    } else {
        it_lmr_triplet_t segment = fx_seg(&buf, 0, SIZE);

        CHECK(count >= suite_attr().max_recv_dtos);
        for (size_t i = 0; i < count; i++)
            fx_recv(ep, &buf, i * SIZE, SIZE, i);
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(ep, &segment, 1, 0, FX_SIGNAL));
        suite_join_quietly(side, ep);
        for (size_t i = 0; i < count; i++) {
            fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, SIZE);
            fx_recv(ep, &buf, i * SIZE, SIZE, count + i); /* there is room again */
            CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(ep, &segment, 1, 0, FX_SIGNAL));
        }
        CHECK(fx_is_filled(buf.data, buf.size, 1));
    }
    suite_part(side, ep);
}

/* ---- Silent ---------------------------------------------------------------------------------- */

#define BATCH   32
#define BATCHES 8

/* Each batch of all kinds has one completion, and there are many more requests than slots. */
static void silent_near(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = fx_buf_make(&side->node, (size_t)BATCH * SIZE);
    struct fx_buf in = fx_buf_make(&side->node, SIZE);
    struct suite_region region = suite_hear_region(side);

    for (unsigned batch = 0; batch < BATCHES; batch++) {
        it_dto_flags_t more = batch % 2 ? IT_COALESCE_WR_FLAG : FX_QUIET;

        fx_fill(buf.data, buf.size, batch);
        suite_meet(side, "posted");
        for (unsigned i = 0; i < BATCH; i++) {
            size_t at = (size_t)i * SIZE;

            if (i % 8 == 5)
                suite_read(ep, &in, 0, SIZE, &region, 0, 98, more);
            else if (i % 4 == 2)
                suite_write(ep, &buf, at, SIZE, &region, at, 99, more);
            else
                fx_send(ep, &buf, at, SIZE, batch, i + 1 == BATCH ? FX_SIGNAL : more);
        }
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, batch, SIZE);
        fx_empty(side->node.request_evd);
        suite_meet(side, "received");
    }
    suite_part(side, ep);
}

static void silent_far(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = fx_buf_make(&side->node, (size_t)BATCH * SIZE);

    suite_tell_region(side, &buf);
    for (unsigned batch = 0; batch < BATCHES; batch++) {
        unsigned sends = 0;

        for (unsigned i = 0; i < BATCH; i++) {
            if (i % 8 != 5 && i % 4 != 2) {
                fx_recv(ep, &buf, (size_t)i * SIZE, SIZE, i);
                sends++;
            }
        }
        suite_meet(side, "posted");
        for (unsigned i = 0; i < BATCH; i++) {
            if (i % 8 != 5 && i % 4 != 2)
                fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, SIZE);
        }
        CHECK(sends > 0);
        for (unsigned i = 0; i < BATCH; i++) {
            unsigned char want[(size_t)BATCH * SIZE];
            size_t at = (size_t)i * SIZE;

            fx_fill(want, sizeof(want), batch);
            if (i % 8 != 5)
                fx_check_same(want + at, buf.data + at, SIZE);
        }
        suite_meet(side, "received");
    }
    suite_part(side, ep);
}

/* ---- Both directions at once ----------------------------------------------------------------- */

#define WORKS 400
#define SPOTS 32
#define SPOT  3000

struct busy {
    struct suite_side *side;
    it_ep_handle_t ep;
    struct fx_buf out;   /* the peer also reads it */
    struct fx_buf in;    /* for receives */
    struct fx_buf inbox; /* the peer writes to it */
    struct fx_buf sink;  /* for Reads */
    struct suite_region their_out;
    struct suite_region their_inbox;
    unsigned posted;
    unsigned done;
    unsigned received;
};

/* Both sides know the kind of the other side's request i. */
static unsigned kind(unsigned i)
{
    return (i * 7 + i / 5) % 3;
}

static unsigned sends_before(unsigned i)
{
    unsigned sends = 0;

    while (i-- > 0)
        sends += kind(i) == 0;
    return sends;
}

static size_t length_of(unsigned i)
{
    return 1 + (size_t)i * 37 % (SPOT - 1);
}

static size_t spot_of(unsigned i)
{
    return (size_t)(i % SPOTS) * SPOT;
}

static void busy_post(struct busy *busy)
{
    unsigned i = busy->posted++;
    size_t at = spot_of(i);

    if (kind(i) == 0)
        fx_send(busy->ep, &busy->out, at, length_of(i), i, FX_SIGNAL);
    else if (kind(i) == 1)
        suite_write(busy->ep, &busy->out, at, length_of(i), &busy->their_inbox, at, i, FX_SIGNAL);
    else
        suite_read(busy->ep, &busy->sink, at, length_of(i), &busy->their_out, at, i, FX_SIGNAL);
}

static void busy_done(struct busy *busy)
{
    static const it_event_type_t numbers[] = {IT_DTO_SEND_CMPL_EVENT, IT_DTO_RDMA_WRITE_CMPL_EVENT,
                                              IT_DTO_RDMA_READ_CMPL_EVENT};
    unsigned i = busy->done++;
    size_t at = spot_of(i);

    fx_done_len(busy->side->node.request_evd, busy->ep, numbers[kind(i)], i, length_of(i));
    if (kind(i) == 2) {
        unsigned char want[SPOT];

        fx_fill(want, SPOT, (uint32_t)(i % SPOTS) + 100u * !busy->side->near);
        fx_check_same(want, busy->sink.data + at, length_of(i));
    }
}

/* The other side's Sends arrive in order. Request i is the n-th of them. */
static void busy_receive(struct busy *busy, unsigned i)
{
    unsigned char want[SPOT];
    size_t at = spot_of(busy->received);

    fx_done_len(busy->side->node.recv_evd, busy->ep, IT_DTO_RC_RECV_CMPL_EVENT, busy->received,
                length_of(i));
    fx_fill(want, SPOT, (uint32_t)(i % SPOTS) + 100u * !busy->side->near);
    fx_check_same(want, busy->in.data + at, length_of(i));
    busy->received++;
}

static void busy_open(struct busy *busy, struct suite_side *side)
{
    memset(busy, 0, sizeof(*busy));
    busy->side = side;
    busy->ep = suite_joined(side);
    busy->out = fx_buf_make(&side->node, (size_t)SPOTS * SPOT);
    busy->in = fx_buf_make(&side->node, (size_t)SPOTS * SPOT);
    busy->inbox = fx_buf_make(&side->node, (size_t)SPOTS * SPOT);
    busy->sink = fx_buf_make(&side->node, (size_t)SPOTS * SPOT);
    for (unsigned i = 0; i < SPOTS; i++)
        fx_fill(busy->out.data + spot_of(i), SPOT, i + 100u * side->near);
    suite_tell_region(side, &busy->out);
    suite_tell_region(side, &busy->inbox);
    busy->their_out = suite_hear_region(side);
    busy->their_inbox = suite_hear_region(side);
}

/*
 * Posts requests of all kinds in both directions, in rounds. Each side posts as many as the other
 * side has receives for.
 */
static void busy_run(struct suite_side *side)
{
    struct busy busy;

    busy_open(&busy, side);
    while (busy.posted < WORKS) {
        unsigned first = busy.posted;
        unsigned last = first + SPOTS;

        for (unsigned i = sends_before(first); i < sends_before(last); i++)
            fx_recv(busy.ep, &busy.in, spot_of(i), SPOT, i);
        suite_meet(side, "round");
        while (busy.posted < last)
            busy_post(&busy);
        for (unsigned i = first; i < last; i++) {
            if (kind(i) == 0)
                busy_receive(&busy, i);
        }
        while (busy.done < last)
            busy_done(&busy);
    }
    suite_meet(side, "all is there");
    for (unsigned i = WORKS - SPOTS; i < busy.posted; i++) {
        unsigned char want[SPOT];

        fx_fill(want, SPOT, (uint32_t)(i % SPOTS) + 100u * !side->near);
        if (kind(i) == 1)
            fx_check_same(want, busy.inbox.data + spot_of(i), length_of(i));
    }
    suite_part(side, busy.ep);
}

const struct suite_case suite_queue_cases[] = {
    {.name = "queue_full", .near = full, .far = full},
    {.name = "queue_silent", .near = silent_near, .far = silent_far},
    {.name = "queue_busy", .near = busy_run, .far = busy_run},
    {0},
};
