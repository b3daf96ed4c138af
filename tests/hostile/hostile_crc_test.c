/* SPDX-License-Identifier: BSD-2-Clause */
/* A corrupted octet anywhere in an FPDU: in small ones, and in large ones that arrive in pieces. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "hostile/fixture_kit.h"
#include "support/test_row.h"

static unsigned char payload[60000];

/* Sends the stream in pieces of this size. */
static void send_pieces(struct hk_victim *victim, const struct raw_bytes *stream, size_t piece)
{
    for (size_t at = 0; at < stream->len; at += piece) {
        size_t part = piece < stream->len - at ? piece : stream->len - at;

        if (!raw_send_part(&victim->peer, stream->data + at, part))
            return;
    }
}

static void broken_by_crc(struct hk_victim *victim)
{
    EXPECT_EQ(0x2002, hk_terminated(victim, NULL));
    hk_ended(victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(victim, IT_ASYNC_AFF_EP_L_LLP_ERROR, IT_ASYNC_AFF_EP_L_LLP_ERROR);
    fx_done(kit.node.recv_evd, victim->ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    hk_victim_close(victim);
}

/* Corrupts every octet behind ULPDU_Length, each of its bits once. */
Test(hostile_crc, every_octet_of_a_send, .init = kit_init, .fini = kit_fini)
{
    char context[64];
    struct fx_buf in = fx_node_buf(&kit.node, 64);

    for (size_t at = 2; at < 48; at++) {
        RAW_BYTES(ulpdu);
        RAW_BYTES(stream);
        struct hk_victim victim;

        (void)snprintf(context, sizeof(context), "octet %zu", at);
        check_context(context);
        hk_victim(&kit, &victim, (enum hk_role)(at % HK_ROLES), &hk_plain);
        fx_recv(victim.ep, &in, 0, in.size, 1);
        raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "twenty-two octets here", 22, true, 0);
        raw_fpdu(&stream, &ulpdu, true);
        CHECK_EQ(48, stream.len);
        stream.data[at] ^= (unsigned char)(1u << at % 8);
        CHECK(raw_send(&victim.peer, &stream));
        broken_by_crc(&victim);
        hk_quiet(&kit);
    }
    check_context(NULL);
    check_done();
}

/* A corrupted length breaks the connection in some way. Nothing is delivered. */
Test(hostile_crc, every_bit_of_the_length, .init = kit_init, .fini = kit_fini)
{
    it_event_t event;
    char context[64];
    struct fx_buf in = fx_node_buf(&kit.node, 64);

    for (unsigned bit = 0; bit < 16; bit++) {
        RAW_BYTES(ulpdu);
        RAW_BYTES(stream);
        struct hk_victim victim;

        (void)snprintf(context, sizeof(context), "bit %u", bit);
        check_context(context);
        hk_victim(&kit, &victim, (enum hk_role)(bit % HK_ROLES), &hk_plain);
        fx_recv(victim.ep, &in, 0, in.size, 1);
        raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "twenty-two octets here", 22, true, 0);
        raw_fpdu(&stream, &ulpdu, true);
        stream.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(raw_send(&victim.peer, &stream));
        raw_finish(&victim.peer);
        hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
        event = fx_next(kit.node.recv_evd);
        EXPECT(event.dto_cmpl.dto_status != IT_DTO_SUCCESS);
        (void)fx_next(kit.node.aff_evd);
        hk_victim_close(&victim);
    }
    check_context(NULL);
    check_done();
}

static void corrupt_large(bool write, size_t piece)
{
    static const size_t places[] = {2,     3,     10,    20,    21,    1000,
                                    30000, 59000, 60011, 60019, 60020, 60023};
    struct fx_buf in;
    struct fx_buf sink;

    hk_open(&kit);
    fx_fill(payload, sizeof(payload), 1);
    in = fx_node_buf(&kit.node, sizeof(payload));
    sink = fx_node_buf(&kit.node, sizeof(payload));
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        RAW_BYTES(ulpdu);
        RAW_BYTES(stream);
        struct hk_victim victim;

        hk_victim(&kit, &victim, (enum hk_role)(i % HK_ROLES), &hk_plain);
        fx_recv(victim.ep, &in, 0, in.size, 1);
        if (write)
            raw_tagged(&ulpdu, RAW_WRITE, (uint32_t)sink.key, fx_addr(&sink, 0), payload,
                       sizeof(payload), true);
        else
            raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, payload, sizeof(payload), true, 0);
        raw_fpdu(&stream, &ulpdu, true);
        stream.data[places[i] < stream.len ? places[i] : stream.len - 1] ^= 0x10;
        /* Later frames have no effect: this Read gets no answer. */
        raw_read_request(&ulpdu, 1, 1, 0, 8, (uint32_t)sink.key, fx_addr(&sink, 0));
        raw_fpdu(&stream, &ulpdu, true);
        send_pieces(&victim, &stream, piece);
        broken_by_crc(&victim);
    }
    hk_close(&kit);
    check_done();
}

TEST_ROW(hostile_crc, large_send_in_pieces, corrupt_large, false, 1460);
TEST_ROW(hostile_crc, large_write_in_pieces, corrupt_large, true, 999);
TEST_ROW(hostile_crc, large_send_at_once, corrupt_large, false, sizeof(payload) * 2);

/* The pieces end inside the header, the pad and the CRC of a good frame. */
Test(hostile_crc, good_frame_in_pieces, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    uint32_t msn = 0;
    struct fx_buf in = fx_node_buf(&kit.node, 2000);

    fx_fill(payload, sizeof(payload), 1);
    hk_victim(&kit, &victim, HK_LISTEN, &hk_plain);
    for (size_t size = 1001; size <= 1004; size++) {
        for (size_t piece = 1; piece <= 40; piece += 3) {
            RAW_BYTES(ulpdu);
            RAW_BYTES(stream);
            size_t first;

            fx_recv(victim.ep, &in, 0, in.size, 1);
            raw_untagged(&ulpdu, RAW_SEND, 0, ++msn, 0, payload, size, true, 0);
            raw_fpdu(&stream, &ulpdu, true);
            first = piece % 2 == 0 ? piece : stream.len - piece;
            CHECK(raw_send_part(&victim.peer, stream.data, first));
            hk_healthy(&kit);
            CHECK(raw_send_part(&victim.peer, stream.data + first, stream.len - first));
            fx_done_len(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, size);
            fx_check_same(payload, in.data, size);
        }
    }
    hk_part(&victim);
}

/* Without CRC the field is sent as zero and ignored on receipt. */
Test(hostile_crc, not_used, .init = kit_init, .fini = kit_fini)
{
    static const struct hk_startup startup = {1, 0, 0};
    static struct raw_segment segment;
    struct hk_victim victim;
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);
    struct fx_buf in = fx_buf_make(&kit.node, 64);

    hk_victim(&kit, &victim, HK_CONNECT, &startup);
    CHECK(!victim.peer.crc);
    fx_recv(victim.ep, &in, 0, in.size, 1);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "no CRC", 6, true, 0);
    raw_fpdu(&stream, &ulpdu, true);
    memset(stream.data + stream.len - 4, 0xa5, 4);
    CHECK(raw_send(&victim.peer, &stream));
    fx_done_len(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 6);
    fx_send(victim.ep, &in, 0, 6, 2, FX_SIGNAL);
    fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 2, 6);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_SEND, segment.op);
    CHECK(memcmp(segment.payload, "no CRC", 6) == 0);
    CHECK_EQ(0, segment.crc);
    hk_part(&victim);
    fx_buf_free(&in);
}

/* The library asks for CRC and the peer does not: it is used both ways. */
Test(hostile_crc, asked_for_by_us_only, .init = kit_init, .fini = kit_fini)
{
    static const struct hk_startup startup = {1, 0, 0};
    static struct raw_segment segment;
    struct hk_victim victim;
    RAW_BYTES(ulpdu);
    struct fx_buf in = fx_buf_make(&kit.node, 64);

    hk_victim(&kit, &victim, HK_LISTEN, &startup);
    CHECK(victim.peer.crc);
    fx_recv(victim.ep, &in, 0, in.size, 1);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "with CRC", 8, true, 0);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    fx_done_len(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 8);
    fx_send(victim.ep, &in, 0, 8, 2, FX_SIGNAL);
    fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 2, 8);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK(memcmp(segment.payload, "with CRC", 8) == 0);
    hk_part(&victim);
    fx_buf_free(&in);
}
