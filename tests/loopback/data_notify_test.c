/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which completions wake a thread in it_evd_wait: IT_NOTIFY_FLAG, IT_SOLICITED_WAIT_FLAG, failures,
 * and the threshold.
 */
#include <criterion/criterion.h>

#include "support/waiter.h"

/* How long the test waits for an event that must not happen. */
#define GRACE_US 30000u

static void waiter_stays(struct waiter *waiter)
{
    struct fx_patience patience = fx_patience_start("grace");
    uint64_t end = fx_now_us() + GRACE_US;

    while (fx_now_us() < end) {
        if (atomic_load(&waiter->woken))
            CHECK_FAIL("woken without cause: %s", itx_status_string(waiter->status));
        fx_patience_check(&patience);
    }
}

static struct {
    struct fx_node a;
    struct fx_node b;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    it_evd_handle_t recv_evd; /* of b */
    struct fx_buf source;     /* on b, to be read by a */
    struct fx_buf sink;
} bed;

/* A pair in which b's receives go to an EVD with this threshold. */
static void bed_open(size_t threshold)
{
    it_ep_attributes_t attr = fx_ep_attr();

    fx_node_open(&bed.a);
    fx_node_open(&bed.b);
    bed.recv_evd = fx_evd(&bed.b, IT_DTO_EVENT_STREAM, 100, threshold);
    bed.a_ep = fx_ep(&bed.a, NULL);
    CHECK_OK(it_ep_rc_create(bed.b.pz, bed.b.request_evd, bed.recv_evd, bed.b.conn_evd,
                             IT_EP_NO_FLAG, &attr, &bed.b_ep));
    fx_join(&bed.a, bed.a_ep, &bed.b, bed.b_ep);
    bed.source = fx_node_buf(&bed.b, 8);
    bed.sink = fx_node_buf(&bed.a, 8);
}

static void bed_close(void)
{
    fx_node_close(&bed.a);
    fx_node_close(&bed.b);
}

static void post_receives(unsigned count, it_dto_flags_t flags)
{
    for (uint64_t i = 0; i < count; i++)
        CHECK_OK(it_post_recv(bed.b_ep, NULL, 0, i, flags));
}

/* Sends a message and returns when it was delivered: a later Read has been answered. */
static void deliver(it_dto_flags_t flags)
{
    CHECK_OK(it_post_send(bed.a_ep, NULL, 0, 0, flags));
    fx_read(bed.a_ep, &bed.sink, 0, 8, &bed.source, 0, 1, FX_SIGNAL);
    fx_done_len(bed.a.request_evd, bed.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 8);
}

/*
 * Receives without IT_NOTIFY_FLAG are queued and wake nobody. A solicited one makes the waiter
 * return the first.
 */
Test(data_notify, plain_receives_wake_nobody, .fini = bed_close)
{
    struct waiter waiter;

    bed_open(IT_THRESHOLD_DISABLE);
    post_receives(3, IT_COMPLETION_FLAG);
    waiter_start(&waiter, bed.recv_evd);
    deliver(FX_QUIET);
    deliver(FX_QUIET);
    waiter_stays(&waiter);
    deliver(IT_SOLICITED_WAIT_FLAG);
    waiter_returns(&waiter, 0, 2);
    fx_done_len(bed.recv_evd, bed.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    fx_done_len(bed.recv_evd, bed.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, 0);
    fx_empty(bed.recv_evd);
}

/* Of a Send with an immediate value only the value wakes, and only if it is solicited. */
Test(data_notify, immediate_values, .fini = bed_close)
{
    struct waiter waiter;
    it_lmr_triplet_t segment;

    bed_open(IT_THRESHOLD_DISABLE);
    CHECK_OK(itx_ep_enable_immediate(bed.a_ep, IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(bed.b_ep, IT_TRUE));
    segment = fx_seg(&bed.source, 0, 8);
    for (uint64_t i = 0; i < 5; i++)
        CHECK_OK(it_post_recv(bed.b_ep, &segment, 1, i, FX_QUIET));
    segment = fx_seg(&bed.sink, 0, 8);
    waiter_start(&waiter, bed.recv_evd);
    CHECK_OK(itx_post_send_imm(bed.a_ep, &segment, 1, 0, FX_QUIET, 1));
    deliver(FX_QUIET);
    waiter_stays(&waiter);
    CHECK_OK(itx_post_send_imm(bed.a_ep, &segment, 1, 0, IT_SOLICITED_WAIT_FLAG, 2));
    waiter_returns(&waiter, 0, 4);
    for (uint64_t i = 1; i < 5; i++) {
        it_event_t event = fx_next(bed.recv_evd);
        uint64_t value = 0;

        CHECK_EQ(i, event.dto_cmpl.cookie);
        CHECK_EQ(i == 1 ? 1 : i == 4 ? 2 : 0, itx_event_immediate(&event, &value) ? value : 0);
    }
}

/* At entry a wait takes a queued event, whether it is a notification event or not. */
Test(data_notify, entry_takes_what_is_there, .fini = bed_close)
{
    it_event_t event;
    size_t nmore = 99;

    bed_open(IT_THRESHOLD_DISABLE);
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(bed.recv_evd, 0, &event, &nmore));
    CHECK_EQ(99, nmore);
    post_receives(2, FX_QUIET);
    deliver(FX_QUIET);
    deliver(FX_QUIET);
    CHECK_OK(it_evd_wait(bed.recv_evd, 0, &event, &nmore));
    CHECK_EQ(0, event.dto_cmpl.cookie);
    CHECK_EQ(1, nmore);
    CHECK_OK(it_evd_wait(bed.recv_evd, 0, &event, NULL));
    CHECK_EQ(1, event.dto_cmpl.cookie);
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(bed.recv_evd, 1000, &event, &nmore));
}

Test(data_notify, threshold, .fini = bed_close)
{
    struct waiter waiter;

    bed_open(3);
    post_receives(4, FX_SIGNAL);
    waiter_start(&waiter, bed.recv_evd);
    deliver(FX_QUIET);
    deliver(FX_QUIET);
    waiter_stays(&waiter);
    deliver(FX_QUIET);
    waiter_returns(&waiter, 0, 2);
    for (uint64_t i = 1; i < 3; i++)
        fx_done_len(bed.recv_evd, bed.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
}

/* The threshold is reached, but none of the events is a notification event. */
Test(data_notify, threshold_needs_a_notification, .fini = bed_close)
{
    struct waiter waiter;

    bed_open(2);
    post_receives(4, FX_QUIET);
    waiter_start(&waiter, bed.recv_evd);
    for (unsigned i = 0; i < 3; i++)
        deliver(FX_QUIET);
    waiter_stays(&waiter);
    deliver(IT_SOLICITED_WAIT_FLAG);
    waiter_returns(&waiter, 0, 3);
}

/* Below the threshold the wait times out. it_evd_dequeue still gets the events. */
Test(data_notify, threshold_and_timeout, .fini = bed_close)
{
    it_event_t event;
    uint64_t start;

    bed_open(3);
    post_receives(2, FX_SIGNAL);
    deliver(FX_QUIET);
    deliver(FX_QUIET);
    start = fx_now_us();
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(bed.recv_evd, 20000, &event, NULL));
    CHECK(fx_now_us() - start >= 19000);
    CHECK_OK(it_evd_dequeue(bed.recv_evd, &event));
    CHECK_EQ(0, event.dto_cmpl.cookie);
    CHECK_OK(it_evd_dequeue(bed.recv_evd, &event));
    CHECK_EQ(1, event.dto_cmpl.cookie);
    fx_empty(bed.recv_evd);
}

/*
 * The same rules hold for requests: with COMPLETION they are queued, with COMPLETION and NOTIFY
 * they wake.
 */
Test(data_notify, requests, .fini = bed_close)
{
    struct waiter waiter;

    bed_open(IT_THRESHOLD_DISABLE);
    waiter_start(&waiter, bed.a.request_evd);
    fx_read(bed.a_ep, &bed.sink, 0, 8, &bed.source, 0, 10, IT_COMPLETION_FLAG);
    fx_read(bed.a_ep, &bed.sink, 0, 8, &bed.source, 0, 11, IT_NOTIFY_FLAG);
    waiter_stays(&waiter);
    fx_read(bed.a_ep, &bed.sink, 0, 8, &bed.source, 0, 12, FX_SIGNAL);
    waiter_returns(&waiter, 10, 1);
    fx_done_len(bed.a.request_evd, bed.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 12, 8);
    fx_empty(bed.a.request_evd);
}

/* SOLICITED_WAIT makes no difference at the sender. */
Test(data_notify, solicited_is_not_for_the_sender, .fini = bed_close)
{
    struct waiter waiter;

    bed_open(IT_THRESHOLD_DISABLE);
    post_receives(2, FX_QUIET);
    waiter_start(&waiter, bed.a.request_evd);
    CHECK_OK(it_post_send(bed.a_ep, NULL, 0, 7,
                          (it_dto_flags_t)(IT_COMPLETION_FLAG | IT_SOLICITED_WAIT_FLAG)));
    fx_done_len(bed.recv_evd, bed.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 0, 0);
    waiter_stays(&waiter);
    CHECK_OK(it_post_send(bed.a_ep, NULL, 0, 8, FX_SIGNAL));
    waiter_returns(&waiter, 7, 1);
}

/* Several waiters on one EVD each get an event of their own. */
Test(data_notify, two_waiters, .fini = bed_close)
{
    struct waiter one;
    struct waiter two;

    bed_open(IT_THRESHOLD_DISABLE);
    post_receives(2, FX_SIGNAL);
    waiter_start(&one, bed.recv_evd);
    waiter_begin(&two, bed.recv_evd);
    deliver(FX_QUIET);
    deliver(FX_QUIET);
    waiter_ends(&one, IT_SUCCESS);
    CHECK(pthread_join(two.thread, NULL) == 0);
    /* The IA may allow one waiter only. */
    if (two.status == IT_SUCCESS)
        CHECK_EQ(1, one.event.dto_cmpl.cookie + two.event.dto_cmpl.cookie);
    else
        CHECK_STATUS(IT_ERR_WAITER_LIMIT, two.status);
}
