/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages draw receives of an S-RQ, without a stream. */
#include "vp/uiwarp/queue/uiw_rq.h"
#include "vp/uiwarp/queue/uiw_srq.h"

#include <criterion/criterion.h>

#include "uiw_bed.h"

#define DEPTH 4u
#define SOFT  2u
#define HARD  3u

static struct uiw_bed bed; /* an EP with watermarks */
static struct uiw_bed other;
static it_srq_handle_t srq;
static unsigned posted, drawn;

static void setup(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    fx_node_open(&bed.node);
    srq = fx_srq(&bed.node, 1, DEPTH);
    other.node = bed.node;
    uiw_bed_use(&other, fx_srq_ep(&bed.node, srq, NULL));
    attr.srv.rc.soft_hi_watermark = SOFT;
    attr.srv.rc.hard_hi_watermark = HARD;
    uiw_bed_use(&bed, fx_srq_ep(&bed.node, srq, &attr));
    uiw_bed_begin_at(&bed.ep->rq, UINT32_MAX);
}

static void teardown(void)
{
    uiw_bed_close(&bed);
}

TestSuite(uiw_srq, .init = setup, .fini = teardown);

static void post(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CHECK_OK(it_post_recv(srq, NULL, 0, posted++, FX_SIGNAL));
}

/* Handles a whole message: draws the oldest receive and completes it. */
static bool message(struct uiw_bed *to)
{
    bool got = uiw_srq_draw(to->ep);

    if (got)
        uiw_rq_complete(to->ep, 0, false, NULL);
    to->ep->rx.has_drawn = false;
    uiw_srq_tell(to->ep);
    return got;
}

static void dequeue(const struct uiw_bed *of)
{
    fx_done_len(bed.node.recv_evd, of->handle, IT_DTO_RC_RECV_CMPL_EVENT, drawn++, 0);
}

static it_status_t resize(size_t depth, size_t low)
{
    it_srq_param_t params = {.max_recv_dtos = depth, .low_watermark = low};

    return it_srq_modify(
        srq, (it_srq_param_mask_t)(IT_SRQ_PARAM_MAX_RECV_DTO | IT_SRQ_PARAM_LOW_WATERMARK),
        &params);
}

static void raised(it_event_type_t number)
{
    cr_assert_eq(fx_next(bed.node.aff_evd).event_number, number);
}

/*
 * Receives are drawn in the order of posting, whichever EP draws, also across the end of the ring.
 */
Test(uiw_srq, the_oldest_is_drawn)
{
    cr_assert_not(message(&other));
    for (unsigned round = 0; round < 5; round++) {
        post(DEPTH);
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(srq, NULL, 0, 0, FX_SIGNAL));
        for (unsigned i = 0; i < DEPTH; i++) {
            struct uiw_bed *to = i % 2 ? &bed : &other;

            cr_assert(message(to));
            dequeue(to);
        }
        cr_assert_not(message(&other));
    }
}

/* An EP holds a receive until its event is dequeued, not only until the message is complete. */
Test(uiw_srq, the_hard_watermark)
{
    post(DEPTH);
    for (unsigned i = 0; i < HARD; i++)
        cr_assert(message(&bed));
    cr_assert_not(message(&bed));
    cr_assert_eq(uiw_queue_in_use(&bed.ep->rq), HARD);
    dequeue(&bed);
    cr_assert(message(&bed));
    cr_assert_not(message(&bed));
    post(1);
    cr_assert(message(&other));
}

Test(uiw_srq, the_soft_watermark_is_told_once)
{
    post(DEPTH);
    for (unsigned i = 0; i < SOFT; i++)
        cr_assert(message(&bed));
    fx_empty(bed.node.aff_evd);
    cr_assert(message(&bed));
    raised(IT_ASYNC_AFF_EP_SOFT_HI_WATERMARK);
    dequeue(&bed);
    cr_assert(message(&bed));
    fx_empty(bed.node.aff_evd);
    /* The watermark is set below the number of held receives. */
    atomic_store(&bed.ep->limits.soft, 1);
    uiw_srq_check_high(bed.ep);
    raised(IT_ASYNC_AFF_EP_SOFT_HI_WATERMARK);
    uiw_srq_check_high(bed.ep);
    fx_empty(bed.node.aff_evd);
}

Test(uiw_srq, the_low_watermark_is_told_once)
{
    post(3);
    CHECK_OK(resize(DEPTH, 2));
    cr_assert(message(&other));
    fx_empty(bed.node.aff_evd);
    cr_assert(message(&other));
    raised(IT_ASYNC_AFF_SRQ_LOW_WATERMARK);
    cr_assert(message(&other));
    fx_empty(bed.node.aff_evd);
    CHECK_OK(resize(DEPTH, 1));
    raised(IT_ASYNC_AFF_SRQ_LOW_WATERMARK);
}

Test(uiw_srq, a_ring_that_is_exchanged)
{
    static const size_t depths[] = {100, DEPTH, 3, 64};

    post(3);
    cr_assert(message(&other));
    dequeue(&other);
    post(1);
    for (unsigned i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        CHECK_OK(resize(depths[i], 0));
        cr_assert(message(&other));
        dequeue(&other);
        post(1);
    }
    CHECK_STATUS(IT_ERR_INVALID_SRQ_SIZE, resize(2, 0));
    CHECK_STATUS(IT_ERR_SRQ_LOW_WATERMARK, resize(3, 4));
    for (unsigned i = 0; i < 3; i++) {
        cr_assert(message(&other));
        dequeue(&other);
    }
}

/* A message in pieces is watched; one that arrives whole is not. */
Test(uiw_srq, a_message_in_pieces_is_watched)
{
    post(2);
    cr_assert(uiw_srq_draw(other.ep));
    uiw_rq_complete(other.ep, 0, false, NULL);
    uiw_srq_tell(other.ep);
    cr_assert_not(other.ep->rx.drawn.watched);
    cr_assert(uiw_srq_draw(other.ep));
    cr_assert(uiw_srq_is_unfinished(other.ep));
    uiw_srq_tell(other.ep);
    cr_assert(other.ep->rx.drawn.watched);
    cr_assert_neq(atomic_load(&other.ep->later.drawn.state), 0);
}
