/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The low watermark of a shared receive queue, and the high watermarks of the endpoints that draw
 * from it.
 */
#include <criterion/criterion.h>

#include "support/it_fixture.h"

#define DEPTH 16u

static struct {
    struct fx_node a;
    struct fx_node b;
    it_srq_handle_t srq;
    it_ep_handle_t sender;
    it_ep_handle_t user;
    it_ep_handle_t other_sender;
    it_ep_handle_t other; /* draws from the queue, without watermarks */
} scene;

static void scene_open(size_t soft, size_t hard)
{
    it_ep_attributes_t attr = fx_ep_attr();

    fx_node_open(&scene.a);
    fx_node_open(&scene.b);
    scene.srq = fx_srq(&scene.b, 1, DEPTH);
    scene.sender = fx_ep(&scene.a, NULL);
    scene.other_sender = fx_ep(&scene.a, NULL);
    scene.other = fx_srq_ep(&scene.b, scene.srq, NULL);
    attr.srv.rc.soft_hi_watermark = soft;
    attr.srv.rc.hard_hi_watermark = hard;
    scene.user = fx_srq_ep(&scene.b, scene.srq, &attr);
    fx_join(&scene.a, scene.sender, &scene.b, scene.user);
    fx_join(&scene.a, scene.other_sender, &scene.b, scene.other);
}

static void scene_close(void)
{
    fx_node_close(&scene.a);
    fx_node_close(&scene.b);
}

TestSuite(data_srq_watermark, .fini = scene_close);

static void post(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CHECK_OK(it_post_recv(scene.srq, NULL, 0, i, FX_SIGNAL));
}

/* Sends one message. It has arrived when this returns: a later zero-length Read was answered. */
static void deliver(it_ep_handle_t sender)
{
    CHECK_OK(it_post_send(sender, NULL, 0, 1, FX_QUIET));
    CHECK_OK(it_post_rdma_read(sender, NULL, 0, 2, FX_SIGNAL, 0, 0));
    fx_done_len(scene.a.request_evd, sender, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 0);
}

static void dequeue(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        it_event_t event = fx_next(scene.b.recv_evd);

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    }
}

/* ---- Low ------------------------------------------------------------------------------------ */

static it_status_t arm_low(size_t low)
{
    it_srq_param_t param = {.low_watermark = low};

    return it_srq_modify(scene.srq, IT_SRQ_PARAM_LOW_WATERMARK, &param);
}

static size_t low(void)
{
    it_srq_param_t param = {0};

    CHECK_OK(it_srq_query(scene.srq, IT_SRQ_PARAM_LOW_WATERMARK, &param));
    return param.low_watermark;
}

static void told_low(void)
{
    it_event_t event = fx_next(scene.b.aff_evd);

    CHECK_EQ(IT_ASYNC_AFF_SRQ_LOW_WATERMARK, event.event_number);
    CHECK(event.aff_async.cause.srq == scene.srq);
    CHECK(event.aff_async.evd == scene.b.aff_evd);
    fx_empty(scene.b.aff_evd);
    CHECK_EQ(0, low());
}

Test(data_srq_watermark, low_is_told_once_when_crossed)
{
    scene_open(0, IT_HARD_HI_WATERMARK_DISABLE);
    post(8);
    CHECK_OK(arm_low(6));
    CHECK_EQ(6, low());
    deliver(scene.sender);       /* 7 left */
    deliver(scene.other_sender); /* 6 are left: not below */
    fx_empty(scene.b.aff_evd);
    deliver(scene.sender); /* 5 */
    told_low();
    deliver(scene.sender);
    post(8);
    for (unsigned i = 0; i < 10; i++) /* crossed again, but not armed */
        deliver(scene.other_sender);
    fx_empty(scene.b.aff_evd);
}

Test(data_srq_watermark, low_can_be_set_again)
{
    scene_open(0, IT_HARD_HI_WATERMARK_DISABLE);
    for (unsigned round = 0; round < 5; round++) {
        post(3);
        CHECK_OK(arm_low(3));
        deliver(scene.sender);
        told_low();
        deliver(scene.sender);
        deliver(scene.sender);
        dequeue(3);
    }
    post(3);
    CHECK_OK(arm_low(3));
    CHECK_OK(arm_low(0)); /* off again */
    deliver(scene.sender);
    fx_empty(scene.b.aff_evd);
}

/* If the watermark is already crossed when it is armed, the event comes at once. */
Test(data_srq_watermark, low_that_is_crossed_already)
{
    it_srq_param_t param = {.max_recv_dtos = 4, .low_watermark = 5};

    scene_open(0, IT_HARD_HI_WATERMARK_DISABLE);
    CHECK_OK(arm_low(1));
    told_low();
    post(4);
    CHECK_OK(arm_low(4));
    fx_empty(scene.b.aff_evd);
    CHECK_OK(arm_low(5));
    told_low();
    CHECK_STATUS(IT_ERR_SRQ_LOW_WATERMARK, arm_low(DEPTH + 1));
    CHECK_OK(arm_low(DEPTH));
    told_low();

    /* Sets depth and watermark together, then a watermark that does not fit the depth. */
    CHECK_STATUS(
        IT_ERR_SRQ_LOW_WATERMARK,
        it_srq_modify(scene.srq,
                      (it_srq_param_mask_t)(IT_SRQ_PARAM_MAX_RECV_DTO | IT_SRQ_PARAM_LOW_WATERMARK),
                      &param));
    CHECK_OK(it_srq_query(scene.srq, IT_SRQ_PARAM_ALL, &param));
    CHECK_EQ(DEPTH, param.max_recv_dtos);
    CHECK_OK(arm_low(4));
    param.max_recv_dtos = 3;
    CHECK_STATUS(IT_ERR_INVALID_SRQ_SIZE,
                 it_srq_modify(scene.srq, IT_SRQ_PARAM_MAX_RECV_DTO, &param));
    deliver(scene.sender);
    told_low();
    CHECK_OK(it_srq_modify(scene.srq, IT_SRQ_PARAM_MAX_RECV_DTO, &param));
    CHECK_STATUS(IT_ERR_SRQ_LOW_WATERMARK, arm_low(4));
    CHECK_OK(arm_low(3));
    fx_empty(scene.b.aff_evd);
}

/* ---- Soft high ------------------------------------------------------------------------------ */

static void told_high(void)
{
    it_event_t event = fx_next(scene.b.aff_evd);

    CHECK_EQ(IT_ASYNC_AFF_EP_SOFT_HI_WATERMARK, event.event_number);
    CHECK(event.aff_async.cause.ep == scene.user);
    fx_empty(scene.b.aff_evd);
}

static void arm_high(it_ep_param_mask_t mask, size_t value)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.soft_hi_watermark = value;
    attr.srv.rc.hard_hi_watermark = value;
    CHECK_OK(it_ep_modify(scene.user, mask, &attr));
}

Test(data_srq_watermark, soft_counts_what_the_program_has_not_dequeued)
{
    it_ep_param_t param;

    scene_open(2, IT_HARD_HI_WATERMARK_DISABLE);
    post(DEPTH);
    for (unsigned i = 0; i < 3; i++) { /* never more than two are held */
        deliver(scene.sender);
        deliver(scene.sender);
        dequeue(2);
    }
    deliver(scene.other_sender); /* another one's */
    deliver(scene.other_sender);
    deliver(scene.other_sender);
    fx_empty(scene.b.aff_evd);
    deliver(scene.sender);
    deliver(scene.sender);
    fx_empty(scene.b.aff_evd);
    deliver(scene.sender);
    told_high();
    deliver(scene.sender);
    fx_empty(scene.b.aff_evd);
    CHECK_OK(it_ep_query(scene.user, IT_EP_PARAM_SOFT_HI_WATERMARK, &param));
    CHECK_EQ(2, param.attr.srv.rc.soft_hi_watermark);
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(scene.user));
}

Test(data_srq_watermark, soft_can_be_set_again)
{
    scene_open(1, IT_HARD_HI_WATERMARK_DISABLE);
    post(DEPTH);
    deliver(scene.sender);
    deliver(scene.sender);
    told_high();
    arm_high(IT_EP_PARAM_SOFT_HI_WATERMARK, 2);
    fx_empty(scene.b.aff_evd);
    deliver(scene.sender);
    told_high();
    arm_high(IT_EP_PARAM_SOFT_HI_WATERMARK, 0); /* off */
    deliver(scene.sender);
    fx_empty(scene.b.aff_evd);
    arm_high(IT_EP_PARAM_SOFT_HI_WATERMARK, 3); /* four are held already */
    told_high();
    dequeue(1);
    arm_high(IT_EP_PARAM_SOFT_HI_WATERMARK, 3);
    fx_empty(scene.b.aff_evd);
}

/* Each connection gets its own warning. */
Test(data_srq_watermark, soft_is_armed_by_a_reset)
{
    scene_open(1, IT_HARD_HI_WATERMARK_DISABLE);
    for (unsigned round = 0; round < 3; round++) {
        post(3);
        deliver(scene.sender);
        deliver(scene.sender);
        told_high();
        deliver(scene.sender);
        fx_empty(scene.b.aff_evd);
        dequeue(3);
        CHECK_OK(it_ep_disconnect(scene.user, NULL, 0));
        fx_conn(scene.b.conn_evd, scene.user, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        fx_conn(scene.a.conn_evd, scene.sender, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_reset(scene.user));
        CHECK_OK(it_ep_reset(scene.sender));
        fx_join(&scene.a, scene.sender, &scene.b, scene.user);
    }
}

/* ---- Hard high ------------------------------------------------------------------------------ */

static void refused(void)
{
    it_event_t event = fx_next(scene.b.aff_evd);

    CHECK_EQ(IT_ASYNC_AFF_EP_SRQ_ERROR, event.event_number);
    CHECK(event.aff_async.cause.ep == scene.user);
    fx_conn(scene.b.conn_evd, scene.user, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(scene.a.conn_evd, scene.sender, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(scene.user));
}

Test(data_srq_watermark, hard_breaks_the_connection)
{
    scene_open(0, 2);
    post(6);
    for (unsigned i = 0; i < 2; i++) {
        deliver(scene.sender);
        deliver(scene.sender);
        if (i == 0)
            dequeue(2);
    }
    CHECK_OK(it_post_send(scene.sender, NULL, 0, 1, FX_QUIET));
    refused();
    /* Two completions are not dequeued yet. The receive is left for the other endpoint. */
    dequeue(2);
    fx_empty(scene.b.recv_evd);
    deliver(scene.other_sender);
    deliver(scene.other_sender);
    dequeue(2);
    fx_empty(scene.b.aff_evd);
}

Test(data_srq_watermark, hard_can_be_changed)
{
    scene_open(0, 1);
    post(8);
    deliver(scene.sender);
    arm_high(IT_EP_PARAM_HARD_HI_WATERMARK, 2);
    deliver(scene.sender);
    arm_high(IT_EP_PARAM_HARD_HI_WATERMARK, IT_HARD_HI_WATERMARK_DISABLE);
    for (unsigned i = 0; i < 4; i++)
        deliver(scene.sender);
    arm_high(IT_EP_PARAM_HARD_HI_WATERMARK, 0); /* from now on it may hold none */
    CHECK_OK(it_post_send(scene.sender, NULL, 0, 1, FX_QUIET));
    refused();
}

/* First the soft watermark's warning comes, then the refusal by the hard one. */
Test(data_srq_watermark, soft_before_hard)
{
    scene_open(1, 2);
    post(8);
    deliver(scene.sender);
    deliver(scene.sender);
    told_high();
    CHECK_OK(it_post_send(scene.sender, NULL, 0, 1, FX_QUIET));
    refused();
}
