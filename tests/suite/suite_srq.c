/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints of the far side that draw from one shared receive queue. */
#include "suite/suite.h"

#include <string.h>

#define EPS      3
#define MESSAGES 8 /* for each */
#define DEPTH    ((size_t)EPS * MESSAGES)
#define SIZE     128

static uint32_t seed_of(unsigned ep, unsigned message)
{
    return 1 + ep * MESSAGES + message;
}

static void shared_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, DEPTH * SIZE);
    it_ep_handle_t eps[EPS];

    for (unsigned i = 0; i < EPS; i++) {
        eps[i] = suite_ep(side);
        suite_join_quietly(side, eps[i]);
    }
    for (unsigned m = 0; m < MESSAGES; m++) {
        for (unsigned i = 0; i < EPS; i++) {
            size_t at = ((size_t)i * MESSAGES + m) * SIZE;

            fx_fill(buf.data + at, SIZE, seed_of(i, m));
            fx_send(eps[i], &buf, at, SIZE - i, 1, FX_SIGNAL);
        }
    }
    for (size_t n = 0; n < DEPTH; n++)
        CHECK_EQ(IT_DTO_SUCCESS, fx_next(side->node.request_evd).dto_cmpl.dto_status);
    for (unsigned i = 0; i < EPS; i++)
        suite_part(side, eps[i]);
}

/* Each message draws the oldest receive. Those of one endpoint arrive in order. */
static void shared_far(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, DEPTH * SIZE);
    it_srq_handle_t srq = fx_srq(&side->node, 1, DEPTH);
    it_ep_attributes_t attr = suite_attr();
    it_ep_handle_t eps[EPS];
    unsigned seen[EPS] = {0};
    bool used[DEPTH] = {false};
    it_lmr_triplet_t segment = fx_seg(&buf, 0, SIZE);

    for (size_t n = 0; n < DEPTH; n++)
        fx_srq_recv(srq, &buf, n * SIZE, SIZE, n);
    for (unsigned i = 0; i < EPS; i++) {
        eps[i] = fx_srq_ep(&side->node, srq, &attr);
        CHECK_STATUS(IT_ERR_INVALID_RECV_DTO, it_post_recv(eps[i], &segment, 1, 0, FX_SIGNAL));
        suite_join_quietly(side, eps[i]);
    }
    CHECK_STATUS(IT_ERR_SRQ_BUSY, it_srq_free(srq));
    for (size_t n = 0; n < DEPTH; n++) {
        it_event_t event = fx_next(side->node.recv_evd);
        unsigned i = 0;

        while (i < EPS && event.dto_cmpl.ep != eps[i])
            i++;
        CHECK(i < EPS);
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(SIZE - i, event.dto_cmpl.transferred_length);
        CHECK(event.dto_cmpl.cookie < DEPTH && !used[event.dto_cmpl.cookie]);
        used[event.dto_cmpl.cookie] = true;
        CHECK(
            fx_is_filled(buf.data + event.dto_cmpl.cookie * SIZE, SIZE - i, seed_of(i, seen[i]++)));
    }
    /* Receives that no message has drawn stay when the endpoints are freed. */
    fx_srq_recv(srq, &buf, 0, SIZE, 99);
    for (unsigned i = 0; i < EPS; i++) {
        suite_part(side, eps[i]);
        CHECK_OK(it_ep_free(eps[i]));
    }
    fx_empty(side->node.recv_evd);
    CHECK_OK(it_srq_free(srq));
}

static void watermark_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    it_ep_handle_t ep = suite_ep(side);

    suite_join_quietly(side, ep);
    for (unsigned i = 0; i < 6; i++) {
        fx_send(ep, &buf, 0, SIZE, i, FX_SIGNAL);
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, i, SIZE);
    }
    suite_part(side, ep);
}

/* The event comes once when fewer receives than the watermark are left. */
static void watermark_far(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    it_srq_handle_t srq = fx_srq(&side->node, 1, 16);
    it_ep_attributes_t attr = suite_attr();
    it_srq_param_t param;
    it_ep_handle_t ep;
    it_event_t event;

    memset(&param, 0, sizeof(param));
    for (unsigned i = 0; i < 8; i++)
        fx_srq_recv(srq, &buf, 0, SIZE, i);
    param.low_watermark = 4;
    CHECK_OK(it_srq_modify(srq, IT_SRQ_PARAM_LOW_WATERMARK, &param));
    ep = fx_srq_ep(&side->node, srq, &attr);
    fx_empty(side->node.aff_evd);
    suite_join_quietly(side, ep);
    for (unsigned i = 0; i < 6; i++)
        fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, SIZE);
    event = fx_next(side->node.aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_SRQ_LOW_WATERMARK, event.event_number);
    CHECK(event.aff_async.cause.srq == srq);
    suite_part(side, ep);
    fx_empty(side->node.aff_evd);
}

const struct suite_case suite_srq_cases[] = {
    {.name = "srq_shared", .near = shared_near, .far = shared_far, .far_needs = SUITE_SRQ},
    {.name = "srq_watermark", .near = watermark_near, .far = watermark_far, .far_needs = SUITE_SRQ},
    {0},
};
