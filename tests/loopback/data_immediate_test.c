/* SPDX-License-Identifier: BSD-2-Clause */
/* Immediate values between two endpoints of this library: with Sends, with RDMA Writes, alone. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_node.h"

#define SIZE ((size_t)3 << 20)

static struct {
    struct fx_pair pair;
    struct fx_buf from; /* of the sender */
    struct fx_buf to;   /* of the receiver */
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    CHECK_OK(itx_ep_enable_immediate(bed.pair.a_ep, IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(bed.pair.b_ep, IT_TRUE));
    bed.from = fx_node_buf(&bed.pair.a, SIZE);
    bed.to = fx_node_buf(&bed.pair.b, SIZE);
    fx_fill(bed.from.data, SIZE, 3);
}

static void bed_close(void)
{
    fx_pair_close(&bed.pair);
}

/* Takes the next receive, which must carry this value and no data. */
static void value_arrives(it_dto_cookie_t cookie, uint64_t want)
{
    it_event_t event = fx_next(bed.pair.b.recv_evd);
    uint64_t value = 0;

    CHECK_EQ(IT_DTO_RC_RECV_CMPL_EVENT, event.event_number);
    CHECK(event.dto_cmpl.ep == bed.pair.b_ep);
    CHECK_EQ(cookie, event.dto_cmpl.cookie);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK_EQ(0, event.dto_cmpl.transferred_length);
    CHECK(event.dto_cmpl.unlinked_mr_handle == NULL);
    CHECK_EQ(IT_TRUE, itx_event_immediate(&event, &value));
    CHECK_EQ(want, value);
}

/* Takes the next receive, which must have data and no value. */
static void data_arrives(it_dto_cookie_t cookie, size_t length)
{
    it_event_t event = fx_next(bed.pair.b.recv_evd);
    uint64_t value = 77;

    CHECK_EQ(cookie, event.dto_cmpl.cookie);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK_EQ(length, event.dto_cmpl.transferred_length);
    CHECK_EQ(IT_FALSE, itx_event_immediate(&event, &value));
    CHECK_EQ(77, value);
}

static it_status_t send_value(size_t length, it_dto_cookie_t cookie, it_dto_flags_t flags,
                              uint64_t value)
{
    it_lmr_triplet_t segment = fx_seg(&bed.from, 0, length);

    return itx_post_send_imm(bed.pair.a_ep, length ? &segment : NULL, length ? 1 : 0, cookie, flags,
                             value);
}

static it_status_t write_value(size_t length, it_dto_cookie_t cookie, it_dto_flags_t flags,
                               uint64_t value)
{
    it_lmr_triplet_t segment = fx_seg(&bed.from, 0, length);

    return itx_post_rdma_write_imm(bed.pair.a_ep, length ? &segment : NULL, length ? 1 : 0, cookie,
                                   flags, fx_addr(&bed.to, 0), bed.to.key, value);
}

static const uint64_t values[] = {0, 1, UINT32_MAX, UINT64_C(0x1122334455667788), UINT64_MAX};

#define VALUES (sizeof(values) / sizeof(values[0]))

Test(data_immediate, announced, .init = node_init, .fini = node_fini)
{
    struct itx_features features = {.size = sizeof(features)};

    CHECK_OK(itx_ia_query_features(node.ia, &features));
    CHECK_EQ(64, features.immediate_bits);
    CHECK_EQ(2, features.send_imm_receives);
}

/* Each value takes one receive. The buffer of the receive is unchanged. */
Test(data_immediate, alone, .init = bed_open, .fini = bed_close)
{
    for (size_t i = 0; i < VALUES; i++) {
        fx_recv(bed.pair.b_ep, &bed.to, 0, 64, 10 + i);
        fx_recv(bed.pair.b_ep, &bed.to, 64, 64, 20 + i);
        CHECK_OK(send_value(0, 1, FX_SIGNAL, values[i]));
        CHECK_OK(write_value(0, 2, FX_SIGNAL, ~values[i]));
        value_arrives(10 + i, values[i]);
        value_arrives(20 + i, ~values[i]);
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 1, 0);
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, 0);
    }
    CHECK(fx_is_byte(bed.to.data, 128, 0));
    fx_empty(bed.pair.b.recv_evd);
}

/* When the value arrives, all written octets are in place. */
Test(data_immediate, behind_a_write, .init = bed_open, .fini = bed_close)
{
    static const size_t sizes[] = {1, 511, 512, 513, 1448, 65536, 1u << 20, SIZE};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(bed.to.data, 0, SIZE);
        CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(write_value(sizes[i], 1, FX_SIGNAL, sizes[i]));
        value_arrives(i, sizes[i]);
        fx_check_same(bed.from.data, bed.to.data, sizes[i]);
        CHECK(fx_is_byte(bed.to.data + sizes[i], SIZE - sizes[i], 0));
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1,
                    sizes[i]);
    }
}

/* The data and the value each take a receive. The sender gets one completion. */
Test(data_immediate, behind_a_send, .init = bed_open, .fini = bed_close)
{
    static const size_t sizes[] = {1, 600, 100000, SIZE};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(bed.to.data, 0, SIZE);
        fx_recv(bed.pair.b_ep, &bed.to, 0, SIZE, 1);
        CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, 2, FX_SIGNAL));
        CHECK_OK(send_value(sizes[i], 3, FX_SIGNAL, values[i]));
        data_arrives(1, sizes[i]);
        value_arrives(2, values[i]);
        fx_check_same(bed.from.data, bed.to.data, sizes[i]);
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 3, sizes[i]);
        fx_empty(bed.pair.a.request_evd);
    }
}

/* A burst of all kinds of requests arrives in the order of posting. */
Test(data_immediate, mixed, .init = bed_open, .fini = bed_close)
{
    for (uint64_t round = 0; round < 100; round++) {
        uint64_t n = 8 * round;

        for (uint64_t i = 0; i < 8; i++)
            fx_recv(bed.pair.b_ep, &bed.to, SIZE / 2, 4096, n + i);
        fx_send(bed.pair.a_ep, &bed.from, 0, 10, 1, FX_QUIET);
        CHECK_OK(write_value(3000, 2, FX_QUIET, n + 1));
        CHECK_OK(send_value(20, 3, FX_QUIET, n + 3));
        CHECK_OK(write_value(0, 4, FX_QUIET, n + 4));
        fx_write(bed.pair.a_ep, &bed.from, 0, 5000, &bed.to, 0, 5, FX_QUIET);
        CHECK_OK(send_value(0, 6, IT_BARRIER_FENCE_FLAG, n + 5));
        fx_send(bed.pair.a_ep, &bed.from, 0, 0, 7, FX_QUIET);
        fx_send(bed.pair.a_ep, &bed.from, 0, 30, 8, FX_SIGNAL);
        data_arrives(n, 10);
        value_arrives(n + 1, n + 1);
        data_arrives(n + 2, 20);
        value_arrives(n + 3, n + 3);
        value_arrives(n + 4, n + 4);
        value_arrives(n + 5, n + 5);
        data_arrives(n + 6, 0);
        data_arrives(n + 7, 30);
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 8, 30);
        fx_empty(bed.pair.a.request_evd);
    }
    fx_check_same(bed.from.data, bed.to.data, 5000);
}

/* ---- Agreement ------------------------------------------------------------------------------ */

Test(data_immediate, not_enabled_here, .init = bed_open, .fini = bed_close)
{
    CHECK_OK(itx_ep_enable_immediate(bed.pair.a_ep, IT_FALSE));
    CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED, send_value(8, 1, FX_SIGNAL, 5));
    CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED, write_value(8, 1, FX_SIGNAL, 5));
    fx_pair_ping(&bed.pair);
}

/* The peer handles the value as RFC 5040 says: it is an unknown opcode. */
Test(data_immediate, not_enabled_there, .init = bed_open, .fini = bed_close)
{
    CHECK_OK(itx_ep_enable_immediate(bed.pair.b_ep, IT_FALSE));
    CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, 9, FX_SIGNAL));
    CHECK_OK(write_value(8, 1, FX_QUIET, 5));
    fx_done(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 9, IT_DTO_ERR_FLUSHED);
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK_EQ(IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE, fx_next(bed.pair.b.aff_evd).event_number);
    CHECK_EQ(IT_ASYNC_AFF_EP_R_ERROR, fx_next(bed.pair.a.aff_evd).event_number);
    /* The setting of a stays over a reset. That of b changes. */
    CHECK_OK(it_ep_reset(bed.pair.a_ep));
    CHECK_OK(it_ep_reset(bed.pair.b_ep));
    CHECK_OK(itx_ep_enable_immediate(bed.pair.b_ep, IT_TRUE));
    fx_join(&bed.pair.a, bed.pair.a_ep, &bed.pair.b, bed.pair.b_ep);
    CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, 9, FX_SIGNAL));
    CHECK_OK(write_value(8, 1, FX_QUIET, 5));
    value_arrives(9, 5);
}

/* As with a Send, a message without a receive ends the connection. */
Test(data_immediate, without_a_receive, .init = bed_open, .fini = bed_close)
{
    CHECK_OK(write_value(8, 1, FX_QUIET, 5));
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

Test(data_immediate, arguments, .init = bed_open, .fini = bed_close)
{
    it_lmr_triplet_t segment[9];
    it_event_t event;
    uint64_t value;
    it_ep_handle_t ep = bed.pair.a_ep;

    for (size_t i = 0; i < 9; i++)
        segment[i] = fx_seg(&bed.from, 0, 1);
#define SEND(ep, segments, count, flags)                                                           \
    itx_post_send_imm((ep), (segments), (count), 0, (it_dto_flags_t)(flags), 1)
#define WRITE(ep, segments, count, flags)                                                          \
    itx_post_rdma_write_imm((ep), (segments), (count), 0, (it_dto_flags_t)(flags), 0, 0, 1)
    CHECK_STATUS(IT_ERR_INVALID_EP, itx_ep_enable_immediate(NULL, IT_TRUE));
    CHECK_STATUS(IT_ERR_INVALID_EP, SEND(NULL, segment, 1, 0));
    CHECK_STATUS(IT_ERR_INVALID_EP, WRITE(NULL, segment, 1, 0));
    CHECK_STATUS(IT_ERR_FAULT, SEND(ep, NULL, 1, 0));
    CHECK_STATUS(IT_ERR_FAULT, WRITE(ep, NULL, 1, 0));
    CHECK_STATUS(IT_ERR_INVALID_DTO_FLAGS, SEND(ep, segment, 1, 0x8000));
    CHECK_STATUS(IT_ERR_INVALID_DTO_FLAGS, WRITE(ep, segment, 1, IT_UNLINK_FENCE_FLAG));
    CHECK_STATUS(IT_ERR_INVALID_NUM_SEGMENTS, SEND(ep, segment, 9, 0));
    CHECK_STATUS(IT_ERR_INVALID_NUM_SEGMENTS, WRITE(ep, segment, 9, 0));
    segment[0].lmr = bed.to.lmr; /* of another IA */
    CHECK_STATUS(IT_ERR_INVALID_LMR, SEND(ep, segment, 1, 0));
    CHECK_STATUS(IT_ERR_INVALID_LMR, WRITE(ep, segment, 1, 0));
    segment[0] = fx_seg(&bed.from, 0, 1);
    segment[0].length = (it_length_t)65 << 20;
    CHECK_STATUS(IT_ERR_PAYLOAD_SIZE, SEND(ep, segment, 1, 0));
    segment[0].length = (it_length_t)1 << 32;
    CHECK_STATUS(IT_ERR_PAYLOAD_SIZE, WRITE(ep, segment, 1, 0));
    CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    CHECK_OK(SEND(ep, NULL, 0, 0));
    fx_done(bed.pair.a.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 0, IT_DTO_ERR_FLUSHED);
    CHECK_OK(it_ep_reset(ep));
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, WRITE(ep, NULL, 0, 0));
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, SEND(ep, NULL, 0, 0));
#undef SEND
#undef WRITE
    memset(&event, 0xff, sizeof(event));
    CHECK_EQ(IT_FALSE, itx_event_immediate(NULL, &value));
    CHECK_EQ(IT_FALSE, itx_event_immediate(&event, &value));
    CHECK_EQ(IT_FALSE, itx_event_immediate(&event, NULL));
    event.event_number = IT_DTO_SEND_CMPL_EVENT;
    event.dto_cmpl.dto_status = IT_DTO_SUCCESS;
    CHECK_EQ(IT_FALSE, itx_event_immediate(&event, &value));
}
