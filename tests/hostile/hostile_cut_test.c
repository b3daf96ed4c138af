/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An established connection ends after each octet of each kind of frame, by FIN and by RST. At a
 * frame's boundary a FIN is an orderly end. Everything else breaks the connection.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "hostile/hostile_kit.h"
#include "support/test_row.h"

#define REGION 64u

struct bed {
    struct hk kit;
    struct fx_buf in;
    struct fx_buf region;
    struct fx_buf sink;
};

static void bed_open(struct bed *bed)
{
    memset(bed, 0, sizeof(*bed));
    hk_open(&bed->kit);
    bed->in = fx_node_buf(&bed->kit.node, REGION);
    bed->region = fx_node_buf(&bed->kit.node, REGION);
    bed->sink = fx_node_buf(&bed->kit.node, REGION);
}

static void bed_close(struct bed *bed)
{
    hk_close(&bed->kit);
}

/* Makes one frame for a connected victim. */
typedef void (*frame_maker)(struct bed *, struct hk_victim *, struct raw_bytes *ulpdu);

static void make_send(struct bed *bed, struct hk_victim *victim, struct raw_bytes *ulpdu)
{
    (void)bed;
    (void)victim;
    raw_untagged(ulpdu, RAW_SEND_SE, 0, 1, 0, "a message", 9, true, 0);
}

static void make_write(struct bed *bed, struct hk_victim *victim, struct raw_bytes *ulpdu)
{
    (void)victim;
    raw_tagged(ulpdu, RAW_WRITE, (uint32_t)bed->region.key, fx_addr(&bed->region, 5),
               "seventeen octets.", 17, true);
}

static void make_read_request(struct bed *bed, struct hk_victim *victim, struct raw_bytes *ulpdu)
{
    (void)victim;
    raw_read_request(ulpdu, 1, 0x11223344, 0, REGION, (uint32_t)bed->region.key,
                     fx_addr(&bed->region, 0));
}

static void make_terminate(struct bed *bed, struct hk_victim *victim, struct raw_bytes *ulpdu)
{
    RAW_BYTES(about);

    make_write(bed, victim, &about);
    raw_terminate(ulpdu, 1, 1, 0, (unsigned)about.len, about.data, 14, NULL, 0);
}

/* The victim reads from the peer and gets the start of a Response. */
static void make_read_response(struct bed *bed, struct hk_victim *victim, struct raw_bytes *ulpdu)
{
    static struct raw_segment segment;
    it_lmr_triplet_t sink = fx_seg(&bed->sink, 0, 24);

    if (!hk_victim_initiates(victim->role))
        hk_wake(victim);
    CHECK_OK(it_post_rdma_read(victim->ep, &sink, 1, 50, FX_SIGNAL, 0x1000, 0x55667788));
    CHECK_OK(it_post_send(victim->ep, NULL, 0, 51, FX_QUIET));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim->peer, &segment));
    CHECK_EQ(RAW_READ_REQUEST, segment.op);
    CHECK_EQ(28, segment.len);
    CHECK_EQ(24, raw_be32(segment.payload + 12));
    CHECK_EQ(0x55667788, raw_be32(segment.payload + 16));
    CHECK_EQ(0x1000, raw_be64(segment.payload + 20));
    raw_tagged(ulpdu, RAW_READ_RESPONSE, raw_be32(segment.payload), raw_be64(segment.payload + 4),
               "twenty-four octets here.", 24, true);
}

/* Checks that receives without a message are flushed. */
static void receives_flushed(struct bed *bed, struct hk_victim *victim, it_dto_cookie_t first)
{
    for (it_dto_cookie_t cookie = first; cookie <= 2; cookie++)
        fx_done(bed->kit.node.recv_evd, victim->ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie,
                IT_DTO_ERR_FLUSHED);
}

static void requests(struct bed *bed, bool whole_response)
{
    it_event_t event = fx_next(bed->kit.node.request_evd);

    CHECK_EQ(50, event.dto_cmpl.cookie);
    if (whole_response) {
        EXPECT_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    } else {
        EXPECT(event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED ||
               event.dto_cmpl.dto_status == IT_DTO_ERR_TRANSPORT);
        event = fx_next(bed->kit.node.request_evd);
        EXPECT_EQ(51, event.dto_cmpl.cookie);
        EXPECT_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
    }
}

static void cut_once(struct bed *bed, frame_maker make, enum hk_role role, size_t len, size_t *full,
                     bool reset)
{
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);
    struct hk_victim victim;
    bool whole;
    bool orderly;

    hk_victim(&bed->kit, &victim, role, &hk_plain);
    fx_recv(victim.ep, &bed->in, 0, 32, 1);
    fx_recv(victim.ep, &bed->in, 32, 32, 2);
    make(bed, &victim, &ulpdu);
    raw_fpdu(&stream, &ulpdu, victim.peer.crc);
    *full = stream.len;
    whole = len == stream.len;
    orderly = !reset && (len == 0 || (whole && make != make_terminate));
    CHECK(raw_send_part(&victim.peer, stream.data, len));
    /* A reset may overtake the octets before it, so wait for the effect of a whole frame. */
    if (whole && make == make_send)
        fx_done_len(bed->kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 9);
    if (whole && make == make_read_response)
        requests(bed, true);
    if (whole && make == make_terminate)
        (void)raw_drain(&victim.peer);
    if (reset)
        raw_close_with_reset(&victim.peer);
    else
        raw_finish(&victim.peer);
    hk_ended(&victim, orderly ? IT_CM_MSG_CONN_DISCONNECT_EVENT : IT_CM_MSG_CONN_BROKEN_EVENT);
    if (whole && make == make_terminate)
        hk_affiliated(&victim, IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION,
                      IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION);
    else if (!orderly)
        hk_affiliated(&victim, IT_ASYNC_AFF_EP_L_LLP_ERROR, IT_ASYNC_AFF_EP_L_LLP_ERROR);
    receives_flushed(bed, &victim, whole && make == make_send ? 2 : 1);
    if (make == make_read_response && !whole)
        requests(bed, false);
    hk_victim_close(&victim);
}

static void cut_everywhere(frame_maker make, bool reset)
{
    struct bed bed;
    size_t full = SIZE_MAX;
    char context[64];

    bed_open(&bed);
    for (size_t len = 0; len <= full; len++) {
        enum hk_role role = (enum hk_role)(len % HK_ROLES);

        (void)snprintf(context, sizeof(context), "cut behind %zu octets, %s", len,
                       hk_role_name(role));
        check_context(context);
        cut_once(&bed, make, role, len, &full, reset);
        if (len % 16 == 0)
            hk_healthy(&bed.kit);
    }
    check_context(NULL);
    /* A Write may be placed as far as it has arrived, and nowhere else. */
    CHECK(fx_is_byte(bed.region.data, 5, 0) && fx_is_byte(bed.region.data + 22, REGION - 22, 0));
    bed_close(&bed);
    check_done();
}

TEST_ROW(hostile_cut, send_by_fin, cut_everywhere, make_send, false);
TEST_ROW(hostile_cut, send_by_rst, cut_everywhere, make_send, true);
TEST_ROW(hostile_cut, write_by_fin, cut_everywhere, make_write, false);
TEST_ROW(hostile_cut, write_by_rst, cut_everywhere, make_write, true);
TEST_ROW(hostile_cut, read_request_by_fin, cut_everywhere, make_read_request, false);
TEST_ROW(hostile_cut, read_request_by_rst, cut_everywhere, make_read_request, true);
TEST_ROW(hostile_cut, read_response_by_fin, cut_everywhere, make_read_response, false);
TEST_ROW(hostile_cut, read_response_by_rst, cut_everywhere, make_read_response, true);
TEST_ROW(hostile_cut, terminate_by_fin, cut_everywhere, make_terminate, false);
TEST_ROW(hostile_cut, terminate_by_rst, cut_everywhere, make_terminate, true);

/* ---- Frames in pieces ----------------------------------------------------------------------- */

/* Sends every kind of frame one octet at a time, beside a healthy connection. */
Test(hostile_cut, slow_peer)
{
    static struct raw_segment segment;
    static const frame_maker makers[] = {make_send, make_write, make_read_request,
                                         make_read_response};
    struct bed bed;

    bed_open(&bed);
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        RAW_BYTES(ulpdu);
        RAW_BYTES(stream);
        struct hk_victim victim;

        hk_victim(&bed.kit, &victim, (enum hk_role)(i % HK_ROLES), &hk_plain);
        fx_recv(victim.ep, &bed.in, 0, 32, 1);
        makers[i](&bed, &victim, &ulpdu);
        raw_fpdu(&stream, &ulpdu, victim.peer.crc);
        for (size_t at = 0; at < stream.len; at++) {
            CHECK(raw_send_part(&victim.peer, stream.data + at, 1));
            if (at % 8 == 0)
                hk_healthy(&bed.kit);
            fx_empty(bed.kit.node.conn_evd);
        }
        if (makers[i] == make_read_request) {
            CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
            CHECK_EQ(RAW_READ_RESPONSE, segment.op);
            fx_check_same(bed.region.data, segment.payload, REGION);
        }
        if (makers[i] == make_read_response) {
            requests(&bed, true);
            CHECK(memcmp(bed.sink.data, "twenty-four octets here.", 24) == 0);
        }
        if (makers[i] == make_send) {
            fx_done_len(bed.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 9);
            CHECK(memcmp(bed.in.data, "a message", 9) == 0);
        }
        raw_finish(&victim.peer);
        hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        if (makers[i] == make_write)
            CHECK(memcmp(bed.region.data + 5, "seventeen octets.", 17) == 0);
        if (makers[i] != make_send)
            fx_done(bed.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1,
                    IT_DTO_ERR_FLUSHED);
        hk_victim_close(&victim);
    }
    bed_close(&bed);
}

/* Sends many frames of all kinds and sizes in pieces of random length. */
Test(hostile_cut, random_pieces)
{
    struct bed bed;
    struct hk_victim victim;
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);
    struct fx_buf big;
    static unsigned char payload[20000];
    uint32_t state = 12345;
    uint32_t msn = 0;

    bed_open(&bed);
    big = fx_buf_make(&bed.kit.node, sizeof(payload));
    hk_victim(&bed.kit, &victim, HK_LISTEN, &hk_plain);
    for (unsigned round = 0; round < 30; round++) {
        size_t size = fx_random(&state) % (round % 4 == 0 ? sizeof(payload) : 200u);

        raw_reset(&stream);
        fx_fill(payload, size, round);
        raw_tagged(&ulpdu, RAW_WRITE, (uint32_t)big.key, fx_addr(&big, 0), payload, size / 2,
                   false);
        raw_fpdu(&stream, &ulpdu, true);
        raw_tagged(&ulpdu, RAW_WRITE, (uint32_t)big.key, fx_addr(&big, size / 2),
                   payload + size / 2, size - size / 2, true);
        raw_fpdu(&stream, &ulpdu, true);
        raw_untagged(&ulpdu, RAW_SEND, 0, ++msn, 0, payload, size % REGION, true, 0);
        raw_fpdu(&stream, &ulpdu, true);
        fx_recv(victim.ep, &bed.in, 0, REGION, round);
        for (size_t at = 0; at < stream.len;) {
            size_t part = 1 + fx_random(&state) % (round % 4 == 0 ? 3000u : 20u);

            part = part < stream.len - at ? part : stream.len - at;
            CHECK(raw_send_part(&victim.peer, stream.data + at, part));
            at += part;
        }
        fx_done_len(bed.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, round,
                    size % REGION);
        fx_check_same(payload, big.data, size);
        fx_check_same(payload, bed.in.data, size % REGION);
    }
    hk_part(&victim);
    fx_buf_free(&big);
    bed_close(&bed);
}
