/* SPDX-License-Identifier: BSD-2-Clause */
/* Immediate values with Sends and Writes. */
#include "suite/suite.h"

#define SIZE 3000

static const uint64_t values[] = {0, 1, UINT32_MAX, UINT64_C(0x1122334455667788)};

#define VALUES (sizeof(values) / sizeof(values[0]))

/* Returns a value with no more bits than the transport has. */
static uint64_t value_of(struct suite_side *side, size_t index)
{
    return side->features.immediate_bits >= 64 ? values[index] : values[index] & UINT32_MAX;
}

static it_ep_handle_t immediate_ep(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);

    CHECK_OK(itx_ep_enable_immediate(ep, IT_TRUE));
    suite_join(side, ep);
    return ep;
}

static void value_arrives(struct suite_side *side, it_ep_handle_t ep, it_dto_cookie_t cookie,
                          uint64_t want)
{
    it_event_t event = fx_next(side->node.recv_evd);
    uint64_t value = ~want;

    CHECK_EQ(IT_DTO_RC_RECV_CMPL_EVENT, event.event_number);
    CHECK(event.dto_cmpl.ep == ep);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK_EQ(cookie, event.dto_cmpl.cookie);
    CHECK(itx_event_immediate(&event, &value));
    CHECK_EQ(want, value);
}

static void values_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    it_ep_handle_t ep = immediate_ep(side);
    it_lmr_triplet_t segment = fx_seg(&buf, 0, SIZE);
    struct suite_region region = suite_hear_region(side);

    for (size_t i = 0; i < VALUES; i++) {
        fx_fill(buf.data, SIZE, (uint32_t)i);
        suite_meet(side, "posted");
        CHECK_OK(itx_post_rdma_write_imm(ep, &segment, 1, 1, FX_SIGNAL, region.address, region.key,
                                         value_of(side, i)));
        CHECK_OK(itx_post_send_imm(ep, &segment, 1, 2, FX_SIGNAL, value_of(side, i)));
        CHECK_OK(itx_post_send_imm(ep, NULL, 0, 3, FX_SIGNAL, value_of(side, i)));
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, SIZE);
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 2, SIZE);
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 3, 0);
        suite_meet(side, "seen");
    }
    suite_part(side, ep);
}

static void values_far(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct fx_buf in = fx_buf_make(&side->node, SIZE);
    it_ep_handle_t ep = immediate_ep(side);
    unsigned receives = side->features.send_imm_receives;

    CHECK(receives == 1 || receives == 2);
    suite_tell_region(side, &buf);
    for (size_t i = 0; i < VALUES; i++) {
        CHECK_OK(it_post_recv(ep, NULL, 0, 10, FX_SIGNAL));
        fx_recv(ep, &in, 0, SIZE, 20);
        if (receives == 2)
            CHECK_OK(it_post_recv(ep, NULL, 0, 21, FX_SIGNAL));
        CHECK_OK(it_post_recv(ep, NULL, 0, 30, FX_SIGNAL));
        suite_meet(side, "posted");

        value_arrives(side, ep, 10, value_of(side, i));
        CHECK(fx_is_filled(buf.data, SIZE, (uint32_t)i));
        if (receives == 2)
            fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 20, SIZE);
        value_arrives(side, ep, receives == 2 ? 21 : 20, value_of(side, i));
        CHECK(fx_is_filled(in.data, SIZE, (uint32_t)i));
        value_arrives(side, ep, 30, value_of(side, i));
        suite_meet(side, "seen");
    }
    suite_part(side, ep);
}

const struct suite_case suite_immediate_cases[] = {
    {.name = "immediate_values", .near = values_near, .far = values_far, .needs = SUITE_IMMEDIATE},
    {0},
};
