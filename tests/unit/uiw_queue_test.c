/* SPDX-License-Identifier: BSD-2-Clause */
/* Work queues without a stream: slots, order, flushing, held posts; rings, counters, tokens. */
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/queue/uiw_rings.h"
#include "vp/uiwarp/queue/uiw_rq.h"
#include "vp/uiwarp/queue/uiw_token.h"

#include <criterion/criterion.h>

#include "uiw_bed.h"

#define DEPTH 8u
/* The indexes wrap soon. */
#define BEGIN (UINT32_MAX - 2)

static struct uiw_bed bed;
static struct uiw_ep *ep;

static void setup(void)
{
    uiw_bed_open(&bed, DEPTH);
    ep = bed.ep;
    uiw_bed_begin_at(&ep->sq, BEGIN);
    uiw_bed_begin_at(&ep->rq, BEGIN);
}

static void teardown(void)
{
    uiw_bed_close(&bed);
}

TestSuite(uiw_queue, .init = setup, .fini = teardown);

static void done(it_event_type_t number, it_dto_cookie_t cookie, uint64_t length)
{
    fx_done_len(bed.node.request_evd, bed.handle, number, cookie, length);
}

static void flushed(it_evd_handle_t evd, it_event_type_t number, it_dto_cookie_t cookie,
                    it_dto_status_t status)
{
    (void)fx_done(evd, bed.handle, number, cookie, status);
}

/* ---------------------------------------------------------------- send queue */

Test(uiw_queue, requests_complete_in_order)
{
    struct uiw_sqe *sqes[DEPTH];

    for (unsigned i = 0; i < DEPTH; i++)
        sqes[i] = uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, i);
    for (unsigned i = DEPTH - 1; i > 0; i--) {
        sqes[i]->done = true;
        uiw_bed_complete(&bed);
        fx_empty(bed.node.request_evd);
    }
    sqes[0]->done = true;
    uiw_bed_complete(&bed);
    cr_assert_eq(uiw_queue_in_use(&ep->sq), DEPTH, "events that nobody has taken keep the slots");
    for (unsigned i = 0; i < DEPTH; i++) {
        done(IT_DTO_SEND_CMPL_EVENT, i, 10 * i);
        cr_assert_eq(uiw_queue_in_use(&ep->sq), DEPTH - 1 - i);
    }
}

Test(uiw_queue, an_event_of_each_kind)
{
    static const struct {
        enum vp_opcode opcode;
        it_event_type_t number;
    } kinds[] = {
        {VP_SEND, IT_DTO_SEND_CMPL_EVENT},
        {VP_SEND_UNLINK, IT_DTO_SEND_CMPL_EVENT},
        {VP_RDMA_WRITE, IT_DTO_RDMA_WRITE_CMPL_EVENT},
        {VP_RDMA_READ, IT_DTO_RDMA_READ_CMPL_EVENT},
        {VP_RDMA_READ_TO_RMR, IT_DTO_RDMA_READ_CMPL_EVENT},
        {VP_FETCH_ADD, IT_DTO_FETCH_ADD_CMPL_EVENT},
        {VP_CMP_SWAP, IT_DTO_CMP_SWAP_CMPL_EVENT},
        {VP_SWAP, IT_DTO_CMP_SWAP_CMPL_EVENT},
    };

    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        uiw_bed_post(&bed, kinds[i].opcode, FX_SIGNAL, i)->done = true;
        uiw_bed_complete(&bed);
        done(kinds[i].number, i, 10 * i);
    }
}

Test(uiw_queue, unsignaled_requests_leave_no_event)
{
    uiw_bed_post(&bed, VP_SEND, FX_QUIET, 1)->done = true;
    uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 2)->done = true;
    uiw_bed_post(&bed, VP_SEND, FX_QUIET, 3)->done = true;
    uiw_bed_complete(&bed);
    cr_assert_eq(uiw_queue_in_use(&ep->sq), 1);
    done(IT_DTO_SEND_CMPL_EVENT, 2, 20);
    fx_empty(bed.node.request_evd);
}

/*
 * Requests complete in the order of posting: the finished ones, then the rest, signaled or not, as
 * flushed, the failed one with its status.
 */
Test(uiw_queue, requests_are_flushed)
{
    const it_event_type_t number = IT_DTO_SEND_CMPL_EVENT;

    uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 0)->done = true;
    for (unsigned i = 1; i < 5; i++)
        (void)uiw_bed_post(&bed, VP_SEND, i % 2 ? FX_QUIET : FX_SIGNAL, i);
    base_lock_take(&bed.ual->lock);
    (void)uiw_sq_flush_locked(ep, true, BEGIN + 3, IT_DTO_ERR_REMOTE_ACCESS);
    base_lock_drop(&bed.ual->lock);
    done(number, 0, 0);
    for (unsigned i = 1; i < 5; i++)
        flushed(bed.node.request_evd, number, i,
                i == 3 ? IT_DTO_ERR_REMOTE_ACCESS : IT_DTO_ERR_FLUSHED);
    fx_empty(bed.node.request_evd);
    cr_assert_eq(uiw_queue_in_use(&ep->sq), 0);
}

/* A request that is already complete cannot fail. */
Test(uiw_queue, a_failure_of_a_request_that_is_over)
{
    uiw_bed_post(&bed, VP_SEND, FX_QUIET, 0)->done = true;
    (void)uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 1);
    base_lock_take(&bed.ual->lock);
    (void)uiw_sq_flush_locked(ep, true, BEGIN, IT_DTO_ERR_REMOTE_ACCESS);
    base_lock_drop(&bed.ual->lock);
    flushed(bed.node.request_evd, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    fx_empty(bed.node.request_evd);
}

Test(uiw_queue, an_event_that_is_lost_breaks_the_connection)
{
    for (unsigned i = 0; i < DEPTH; i++)
        uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, i)->done = true;
    uiw_bed_complete(&bed);
    cr_assert_not(ep->lost_event);
    uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 0)->done = true;
    uiw_bed_complete(&bed);
    cr_assert(ep->lost_event);
    cr_assert_eq(uiw_queue_in_use(&ep->sq), DEPTH, "an event that is lost keeps no slot");
}

Test(uiw_queue, held_requests_age)
{
    atomic_store(&bed.ual->state, IT_EP_STATE_CONNECTED);
    atomic_store(&ep->sq_ready, BEGIN);
    cr_assert_eq(uiw_sq_age_hold(bed.ual), UIW_HOLD_NONE);
    cr_assert_not(uiw_sq_let_go(bed.ual));
    (void)uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 0);
    cr_assert_eq(uiw_sq_age_hold(bed.ual), UIW_HOLD_YOUNG);
    cr_assert_eq(ep->sq_ready, BEGIN);
    cr_assert_eq(uiw_sq_age_hold(bed.ual), UIW_HOLD_OVER);
    cr_assert_eq(ep->sq_ready, BEGIN + 1);
    (void)uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 1);
    cr_assert(uiw_sq_let_go(bed.ual));
    cr_assert_eq(ep->sq_ready, BEGIN + 2);
    (void)uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 2);
    atomic_store(&bed.ual->state, IT_EP_STATE_NONOPERATIONAL);
    cr_assert_not(uiw_sq_let_go(bed.ual), "there is nobody to send it");
}

/* ---------------------------------------------------------------- receive queue */

static void receive(uint64_t cookie, it_dto_flags_t flags)
{
    CHECK_OK(it_post_recv(bed.handle, NULL, 0, cookie, flags));
}

Test(uiw_queue, receives_complete_in_order)
{
    const it_event_type_t number = IT_DTO_RC_RECV_CMPL_EVENT;

    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < DEPTH; i++)
            receive(i, FX_SIGNAL);
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(bed.handle, NULL, 0, 9, FX_SIGNAL));
        for (unsigned i = 0; i < DEPTH; i++)
            uiw_rq_complete(ep, i, false, NULL);
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(bed.handle, NULL, 0, 9, FX_SIGNAL));
        for (unsigned i = 0; i < DEPTH; i++)
            fx_done_len(bed.node.recv_evd, bed.handle, number, i, i);
    }
}

Test(uiw_queue, receives_are_flushed)
{
    const it_event_type_t number = IT_DTO_RC_RECV_CMPL_EVENT;

    for (unsigned i = 0; i < 3; i++)
        receive(i, FX_SIGNAL);
    base_lock_take(&bed.ual->lock);
    (void)uiw_rq_flush_locked(ep, IT_DTO_ERR_LOCAL_LENGTH);
    base_lock_drop(&bed.ual->lock);
    flushed(bed.node.recv_evd, number, 0, IT_DTO_ERR_LOCAL_LENGTH);
    flushed(bed.node.recv_evd, number, 1, IT_DTO_ERR_FLUSHED);
    flushed(bed.node.recv_evd, number, 2, IT_DTO_ERR_FLUSHED);
    /* Nobody reads the queue any more, so a later receive flushes itself. */
    atomic_store(&bed.ual->state, IT_EP_STATE_NONOPERATIONAL);
    receive(3, FX_SIGNAL);
    fx_empty(bed.node.recv_evd);
    ep->drained = true;
    receive(4, FX_SIGNAL);
    flushed(bed.node.recv_evd, number, 3, IT_DTO_ERR_FLUSHED);
    flushed(bed.node.recv_evd, number, 4, IT_DTO_ERR_FLUSHED);
}

/* ---------------------------------------------------------------- rings */

static void resize(size_t requests, size_t receives, uint32_t depth)
{
    struct uiw_ring_sizes sizes;

    uiw_rings_sizes_of(bed.ual, &bed.ual->attr, &sizes);
    sizes.requests = requests;
    sizes.receives = receives;
    sizes.ird = depth;
    sizes.ord = depth;
    cr_assert(uiw_rings_make(ep, &sizes));
    cr_assert_eq(ep->sq.depth, requests);
    cr_assert_eq(ep->rq.depth, receives);
}

/* In rings of any size each index leads to its entry. */
Test(uiw_queue, rings_take_their_content_along)
{
    static const size_t sizes[] = {DEPTH, 5, 1000, 6, 64};

    for (unsigned i = 0; i < 5; i++) {
        (void)uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, i);
        receive(100 + i, FX_SIGNAL);
    }
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        resize(sizes[i], sizes[i], 8);
        for (unsigned j = 0; j < 5; j++) {
            cr_assert_eq(uiw_sqe_at(ep, BEGIN + j)->cookie, j);
            cr_assert_eq(uiw_rqe_at(ep, BEGIN + j)->cookie, 100 + j);
        }
    }
}

Test(uiw_queue, rings_of_reads_do_not_shrink)
{
    struct uiw_reads *reads = &ep->reads;
    uint32_t mask;

    resize(DEPTH, DEPTH, 32);
    mask = reads->orq_mask;
    cr_assert_eq(mask, 31);
    cr_assert_eq(reads->irq_mask, 63);
    for (unsigned i = 0; i < 32; i++)
        reads->orq[i].length = i;
    atomic_store(&reads->orq_tail, 32);
    resize(DEPTH, DEPTH, 1);
    cr_assert_eq(reads->orq_mask, mask);
    resize(DEPTH, DEPTH, 100);
    cr_assert_eq(reads->orq_mask, 127);
    for (unsigned i = 0; i < 32; i++)
        cr_assert_eq(reads->orq[i].length, i);
    atomic_store(&reads->orq_tail, 0);
}

/* ---------------------------------------------------------------- counters */

Test(uiw_queue, counters)
{
    struct itx_ep_counters counters = {0};
    struct itx_counters sum = {0};

    for (unsigned i = 0; i < 3; i++) {
        uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, i)->done = true;
        receive(i, FX_SIGNAL);
    }
    uiw_bed_complete(&bed);
    uiw_rq_complete(ep, 0, false, NULL);
    done(IT_DTO_SEND_CMPL_EVENT, 0, 0);
    uiw_count(&ep->rx.octets_in, 7);
    uiw_count(&ep->tx.octets, 11);
    uiw_ep_counters(bed.ual, &counters);
    cr_assert_eq(counters.requests_posted, (uint32_t)(BEGIN + 3));
    cr_assert_eq(counters.requests_done, (uint32_t)(BEGIN + 1), "two events are not taken");
    cr_assert_eq(counters.receives_done, BEGIN);
    cr_assert_eq(counters.bytes_received, 7);
    cr_assert_eq(counters.bytes_sent, 11);
    /* The counters of an EP that is freed are counted once. */
    for (unsigned i = 0; i < 2; i++) {
        sum = (struct itx_counters){0};
        uiw_ia_counters(ep->ia->ual, &sum);
        cr_assert_eq(sum.bytes_received, 7);
        cr_assert_eq(sum.bytes_sent, 11);
        if (i == 0)
            uiw_ep_retire_counters(ep);
    }
}

/* ---------------------------------------------------------------- tokens */

Test(uiw_queue, the_send_token)
{
    cr_assert(uiw_token_try(ep));
    cr_assert_not(uiw_token_try(ep));
    cr_assert(uiw_token_drop_unless_marked(ep));
    cr_assert(uiw_token_try_or_mark(ep));
    cr_assert_not(uiw_token_try_or_mark(ep));
    cr_assert_not(uiw_token_try(ep), "trying leaves a mark where it is");
    cr_assert_not(uiw_token_drop_unless_marked(ep), "there is more to do");
    cr_assert(uiw_token_drop_unless_marked(ep));
    cr_assert(uiw_token_try(ep));
    cr_assert_not(uiw_token_try_or_mark(ep));
    uiw_token_drop(ep);
    uiw_token_wait(ep);
    cr_assert(uiw_token_drop_unless_marked(ep), "dropping takes the mark off");
}

Test(uiw_queue, the_reader_token)
{
    cr_assert(uiw_reader_try(ep));
    cr_assert_not(uiw_reader_try(ep));
    uiw_reader_drop(ep);
    uiw_reader_take(ep);
    uiw_reader_drop(ep);
}
