/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * COMPARE AND WRITE and ORWRITE on a unit of memory while another session's data moves straight
 * from or to the same blocks: they are executed when it has moved, and change no part of it.
 */
#include "iser_wire_kit.h"

#include <poll.h>
#include <string.h>

#define KEYS  "InitialR2T=Yes\0ImmediateData=No"
#define HALF  (WIRE_BLOCK / 2)
#define MANY  48u /* reads whose data no socket holds */
#define LARGE ((uint32_t)1 << 20)

static struct wire_bed bed;
static struct wire_pdu pdu;

/* ---- steps ----------------------------------------------------------------------------------- */

static void take_attention(struct wire *wire)
{
    static const unsigned char test_unit_ready[16];

    while (wire_command(wire, test_unit_ready, &pdu) != 0)
        CHECK_EQ(2, pdu.bhs[3]);
}

/* The block of an address gets this octet everywhere. */
static void fill_block(struct wire *wire, uint32_t lba, unsigned char octet)
{
    memset(wire->memory, octet, WIRE_BLOCK);
    CHECK_EQ(0, wire_write(wire, lba, WIRE_BLOCK, 0, 0, &pdu));
}

static void check_block(struct wire *wire, uint32_t lba, unsigned char first, unsigned char second)
{
    CHECK_EQ(0, wire_read(wire, lba, WIRE_BLOCK, WIRE_BLOCK, &pdu));
    for (uint32_t i = 0; i < WIRE_BLOCK; i++)
        CHECK_EQ(i < HALF ? first : second, wire->memory[i]);
}

/* Sends COMPARE AND WRITE of a block, or ORWRITE (then `to` is what is ORed). */
static void alter(struct wire *wire, bool compares, uint32_t lba, unsigned char from,
                  unsigned char to)
{
    uint32_t length = compares ? 2 * WIRE_BLOCK : WIRE_BLOCK;
    unsigned char bhs[48];

    memset(wire->memory, from, WIRE_BLOCK);
    memset(wire->memory + length - WIRE_BLOCK, to, WIRE_BLOCK);
    wire_begin(wire, bhs, 0x01, 0xa1);
    wire_put(bhs + 20, length, 4);
    bhs[32] = compares ? 0x89 : 0x8b;
    wire_put(bhs + 34, lba, 8);
    bhs[45] = 1;
    wire_send_tagged(wire, bhs, wire->memory, length, false, false, 0);
}

/* What this session has sent before has been handled, and not answered. */
static void is_waiting(struct wire *wire)
{
    unsigned char bhs[48];

    for (int i = 0; i < 2; i++) {
        wire_begin(wire, bhs, 0x40, 0x80);
        wire_put(bhs + 20, 0xffffffff, 4);
        wire_send(wire, bhs, NULL, 0);
        wire_expect(wire, &pdu, 0x20);
    }
}

/* ---- a write of which a half has arrived ----------------------------------------------------- */

struct half {
    unsigned char command[48];
    uint32_t sink;
    uint64_t to;
};

static void begin_half_plain(struct wire *wire, struct half *half)
{
    unsigned char bhs[48] = {0x05, 0x80};

    wire_expect(wire, &pdu, 0x31);
    memcpy(bhs + 16, half->command + 16, 4);
    memcpy(bhs + 20, pdu.bhs + 20, 4);
    wire_put(bhs + 5, WIRE_BLOCK, 3);
    wire_send_as_is(wire, bhs, wire->memory, HALF);
}

static void send_response(struct wire *wire, const struct half *half, bool last)
{
    uint32_t from = last ? HALF : 0;
    RAW_BYTES(ulpdu);

    raw_tagged(&ulpdu, RAW_READ_RESPONSE, half->sink, half->to + from, wire->memory + from, HALF,
               last);
    CHECK(raw_send_ulpdu(&wire->raw, &ulpdu));
}

static void begin_half_rdma(struct wire *wire, struct half *half)
{
    static struct raw_segment segment;

    CHECK_EQ(RAW_OK, raw_receive_fpdu(&wire->raw, &segment));
    CHECK(!segment.tagged && segment.qn == 1);
    half->sink = wire_get(segment.payload, 4);
    half->to = (uint64_t)wire_get(segment.payload + 4, 4) << 32 | wire_get(segment.payload + 8, 4);
    send_response(wire, half, false);
}

/* The first half of a block of two values has been sent to the target. */
static void begin_half(struct wire *wire, struct half *half, uint32_t lba, unsigned char first,
                       unsigned char second)
{
    memset(wire->memory, first, HALF);
    memset(wire->memory + HALF, second, HALF);
    wire_begin_write(wire, half->command, lba, WIRE_BLOCK, 0, 0);
    if (wire->rdma)
        begin_half_rdma(wire, half);
    else
        begin_half_plain(wire, half);
}

static void send_rest(struct wire *wire, const struct half *half)
{
    RAW_BYTES(rest);

    if (wire->rdma) {
        send_response(wire, half, true);
    } else {
        raw_add(&rest, wire->memory + HALF, HALF);
        CHECK(raw_send(&wire->raw, &rest));
    }
}

/* The first half is in the unit's memory: a reader sees it. */
static void await_half(struct wire *reader, uint32_t lba, unsigned char first)
{
    do
        CHECK_EQ(0, wire_read(reader, lba, WIRE_BLOCK, WIRE_BLOCK, &pdu));
    while (reader->memory[0] != first);
}

/* ---- tests ----------------------------------------------------------------------------------- */

#define ALTER_KEYS "InitialR2T=Yes\0ImmediateData=Yes"

/* The write's first half is what the block has already, so a comparison would succeed. */
static void beside_a_write(enum wire_way way)
{
    struct wire writer, other, reader;
    struct half half;

    WIRE_LOGIN(&writer, &bed, way, KEYS);
    WIRE_LOGIN(&other, &bed, WIRE_RDMA_INVALIDATE, ALTER_KEYS);
    WIRE_LOGIN(&reader, &bed, WIRE_DIGESTS, ALTER_KEYS);
    take_attention(&writer);
    take_attention(&other);
    take_attention(&reader);
    fill_block(&writer, 7, 1);
    begin_half(&writer, &half, 7, 1, 3);
    alter(&other, true, 7, 1, 2);
    is_waiting(&other);
    /* Neither other blocks wait, nor do commands that come later. */
    alter(&reader, true, 8, 9, 2);
    wire_expect(&reader, &pdu, 0x21);
    fill_block(&reader, 8, 5);
    send_rest(&writer, &half);
    wire_expect(&writer, &pdu, 0x21);
    CHECK_EQ(0, pdu.bhs[3]);
    wire_expect(&other, &pdu, 0x21);
    CHECK_EQ(2, pdu.bhs[3]);
    CHECK_EQ(0x0e, pdu.data[4] & 15); /* MISCOMPARE */
    check_block(&reader, 7, 1, 3);
    check_block(&reader, 8, 5, 5);
    wire_logout(&writer);
    wire_logout(&other);
    wire_logout(&reader);
}

/* The writer is gone in the middle of its data: the other command goes on. */
static void writer_is_gone(enum wire_way way)
{
    struct wire writer, other, reader;
    struct half half;

    WIRE_LOGIN(&writer, &bed, way, KEYS);
    WIRE_LOGIN(&other, &bed, WIRE_RDMA_INVALIDATE, ALTER_KEYS);
    WIRE_LOGIN(&reader, &bed, WIRE_DIGESTS, ALTER_KEYS);
    take_attention(&writer);
    take_attention(&other);
    take_attention(&reader);
    fill_block(&writer, 7, 1);
    begin_half(&writer, &half, 7, 4, 4);
    await_half(&reader, 7, 4);
    alter(&other, false, 7, 0, 2);
    is_waiting(&other);
    wire_free(&writer);
    wire_expect(&other, &pdu, 0x21);
    CHECK_EQ(0, pdu.bhs[3]);
    check_block(&reader, 7, 4 | 2, 1 | 2);
    wire_logout(&other);
    wire_logout(&reader);
}

/* All arrive together, so the first octet of an answer shows that the target has them. */
static void begin_reads(struct wire *wire)
{
    struct pollfd answer = {.fd = wire->raw.fd, .events = POLLIN};

    wire_hold_back(wire, true);
    for (unsigned i = 0; i < MANY; i++) {
        unsigned char bhs[48];

        wire_begin(wire, bhs, 0x01, 0xc1);
        wire_put(bhs + 20, LARGE, 4);
        bhs[32] = 0x28;
        wire_put(bhs + 39, LARGE / WIRE_BLOCK, 2);
        wire_send_tagged(wire, bhs, NULL, 0, true, false, 0);
    }
    wire_hold_back(wire, false);
    CHECK_EQ(1, poll(&answer, 1, -1));
}

/* An initiator that does not take the data of its reads. */
static void beside_a_read(enum wire_way way)
{
    struct wire reader, other;
    uint32_t block = 64, done = 0;

    WIRE_LOGIN(&reader, &bed, way, KEYS);
    WIRE_LOGIN(&other, &bed, WIRE_RDMA_INVALIDATE, ALTER_KEYS);
    take_attention(&reader);
    take_attention(&other);
    fill_block(&reader, block, 1);
    begin_reads(&reader);
    alter(&other, true, block, 1, 2);
    is_waiting(&other);
    while (done < MANY) {
        CHECK(wire_receive(&reader, &pdu));
        if (pdu.bhs[0] == 0x25 && wire_get(pdu.bhs + 40, 4) <= block * WIRE_BLOCK &&
            wire_get(pdu.bhs + 40, 4) + pdu.length > block * WIRE_BLOCK)
            CHECK_EQ(1, pdu.data[block * WIRE_BLOCK - wire_get(pdu.bhs + 40, 4)]);
        if (pdu.bhs[0] == 0x21)
            CHECK(!reader.rdma || reader.memory[block * WIRE_BLOCK] == 1);
        done += pdu.bhs[0] == 0x21 || (pdu.bhs[0] == 0x25 && (pdu.bhs[1] & 1));
    }
    wire_expect(&other, &pdu, 0x21);
    CHECK_EQ(0, pdu.bhs[3]);
    check_block(&reader, block, 2, 2);
    wire_logout(&reader);
    wire_logout(&other);
}

/* The target ends while a command waits. */
static void ends_waiting(void)
{
    struct wire writer, other;
    struct half half;

    WIRE_LOGIN(&writer, &bed, WIRE_CONVERT, KEYS);
    WIRE_LOGIN(&other, &bed, WIRE_PLAIN, ALTER_KEYS);
    take_attention(&writer);
    take_attention(&other);
    begin_half(&writer, &half, 7, 4, 4);
    alter(&other, true, 7, 1, 2);
    is_waiting(&other);
    wire_stop(&bed, 0);
    while (wire_receive(&other, &pdu)) {
    }
    wire_free(&writer);
    wire_free(&other);
}

int main(void)
{
    static const enum wire_way ways[] = {WIRE_PLAIN, WIRE_RDMA, WIRE_CONVERT};

    wire_prepare(&bed);
    wire_open(&bed);
    for (size_t i = 0; i < 3; i++) {
        check_context("beside a write");
        beside_a_write(ways[i]);
        check_context("the writer is gone");
        writer_is_gone(ways[i]);
        check_context("beside a read");
        beside_a_read(ways[i]);
    }
    check_context("the end");
    ends_waiting();
    check_context(NULL);
    wire_close(&bed);
    return 0;
}
