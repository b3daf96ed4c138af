/* SPDX-License-Identifier: BSD-2-Clause */
/* What a target insists on when it is not asked, and requests that it does not serve. */
#include "iser_wire_kit.h"

#include <string.h>

#define NAMES "InitiatorName=iqn.2026-11.example:i\0TargetName=" WIRE_TARGET

static struct wire_bed bed;
static struct wire_pdu pdu;

/* ---- Data-Out -------------------------------------------------------------------------------- */

/* Opens a write of 4096 octets to LUN 0, and begins its Data-Out for another LUN. */
static void begin_wrong_unit(struct wire *wire, bool solicited, unsigned char data[48])
{
    static const unsigned char test_unit_ready[16];
    unsigned char bhs[48];

    WIRE_LOGIN(wire, &bed, WIRE_PLAIN, "InitialR2T=No\0FirstBurstLength=65536");
    while (wire_command(wire, test_unit_ready, &pdu) != 0) {
    }
    wire_begin(wire, bhs, 0x01, solicited ? 0xa1 : 0x21);
    wire_put(bhs + 20, 4096, 4);
    bhs[32] = 0x2a;
    bhs[40] = 8;
    wire_send(wire, bhs, NULL, 0);
    wire_put(data + 20, 0xffffffff, 4);
    if (solicited) {
        wire_expect(wire, &pdu, 0x31);
        memcpy(data + 20, pdu.bhs + 20, 4);
    }
    memcpy(data + 16, bhs + 16, 4);
    data[9] = 1;
}

/* RFC 7143 11.7.4: data with a transfer tag names its LUN; otherwise the field is reserved. */
static void wrong_unit(void)
{
    unsigned char asked[48] = {0x05, 0x80}, unasked[48] = {0x05, 0x80};
    struct wire wire;

    begin_wrong_unit(&wire, true, asked);
    wire_send(&wire, asked, wire.memory, 4096);
    CHECK(!wire_receive(&wire, &pdu));
    wire_free(&wire);
    begin_wrong_unit(&wire, false, unasked);
    wire_send(&wire, unasked, wire.memory, 4096);
    wire_expect(&wire, &pdu, 0x21);
    CHECK_EQ(0, pdu.bhs[3]);
    wire_logout(&wire);
}

/* ---- both directions ------------------------------------------------------------------------- */

/* Sends WRITE(10) of a block of 'b' as if it also read. Returns its response. */
static void both_ways(struct wire *wire, bool says_length)
{
    static const unsigned char length[8] = {0, 5, 2, 0, 0, 0, 4, 0};
    unsigned char bhs[48];
    RAW_BYTES(rest);

    wire_begin(wire, bhs, 0x01, 0xe1);
    bhs[4] = says_length ? 2 : 0;
    wire_put(bhs + 5, 512, 3);
    wire_put(bhs + 20, 512, 4);
    bhs[32] = 0x2a;
    bhs[40] = 1;
    if (says_length)
        raw_add(&rest, length, sizeof(length));
    raw_add_fill(&rest, 'b', 512);
    wire_send_as_is(wire, bhs, rest.data, rest.len);
    wire_expect(wire, &pdu, 0x21);
}

/* No command here moves data in both directions. */
static void bidirectional(void)
{
    static const unsigned char test_unit_ready[16];
    static const unsigned ways[] = {WIRE_PLAIN, WIRE_RDMA};

    for (size_t i = 0; i < 4; i++) {
        bool says_length = i % 2 == 1;
        struct wire wire;

        WIRE_LOGIN(&wire, &bed, (enum wire_way)ways[i / 2], "InitialR2T=Yes");
        while (wire_command(&wire, test_unit_ready, &pdu) != 0) {
        }
        both_ways(&wire, says_length);
        CHECK_EQ(2, pdu.bhs[3]);
        CHECK_EQ(5, pdu.data[4] & 15); /* ILLEGAL REQUEST */
        CHECK_EQ(0x0e03, wire_get(pdu.data + 14, 2));
        CHECK_EQ(says_length ? 0x0a : 0x02, pdu.bhs[1] & 0x1e); /* nothing has moved */
        CHECK_EQ(says_length ? 1024 : 0, wire_get(pdu.bhs + 40, 4));
        CHECK_EQ(512, wire_get(pdu.bhs + 44, 4));
        CHECK_EQ(0, wire_read(&wire, 0, 512, 512, &pdu));
        CHECK_EQ(0, wire.memory[0]);
        wire_logout(&wire);
    }
}

/* ---- sense ----------------------------------------------------------------------------------- */

/* Sets D_SENSE: sense data is in descriptor format from now on. */
static void set_descriptor_sense(struct wire *wire)
{
    static const unsigned char list[16] = {0, 0, 0, 0, 0x0a, 10, 0x06, 0x10};
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x01, 0xa1);
    wire_put(bhs + 20, sizeof(list), 4);
    bhs[32] = 0x15;
    bhs[33] = 0x10;
    bhs[36] = sizeof(list);
    wire_send(wire, bhs, list, sizeof(list));
    wire_expect(wire, &pdu, 0x21);
    CHECK_EQ(0, pdu.bhs[3]);
}

/* What the session refuses has sense data in the unit's format, too. */
static void descriptor_sense(void)
{
    static const unsigned char test_unit_ready[16];
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    while (wire_command(&wire, test_unit_ready, &pdu) != 0) {
    }
    set_descriptor_sense(&wire);
    both_ways(&wire, false);
    CHECK_EQ(2, pdu.bhs[3]);
    CHECK_EQ(2 + 8, pdu.length);
    CHECK_EQ(0x72050e03, wire_get(pdu.data + 2, 4));
    wire_logout(&wire);
}

/* ---- what the target insists on -------------------------------------------------------------- */

/* The initiator offers no ImmediateData and sends some: the target has said No. */
static void not_offered(void)
{
    static const unsigned char test_unit_ready[16];
    static const unsigned ways[] = {WIRE_PLAIN, WIRE_RDMA};

    for (size_t i = 0; i < 2; i++) {
        unsigned char bhs[48];
        struct wire wire;

        WIRE_LOGIN(&wire, &bed, (enum wire_way)ways[i], "InitialR2T=Yes");
        CHECK(!wire.immediate_data);
        while (wire_command(&wire, test_unit_ready, &pdu) != 0) {
        }
        wire_begin_write(&wire, bhs, 0, 512, 512, 0);
        wire_expect(&wire, &pdu, 0x21);
        CHECK_EQ(2, pdu.bhs[3]);
        CHECK_EQ(0x0b, pdu.data[4] & 15); /* ABORTED COMMAND */
        CHECK_EQ(0x0c0c, wire_get(pdu.data + 14, 2));
        CHECK_EQ(2, pdu.bhs[1] & 6);
        CHECK_EQ(512, wire_get(pdu.bhs + 44, 4));
        wire_logout(&wire);
    }
}

static size_t count_key(const char *key)
{
    const char *at = (const char *)pdu.data, *end = at + pdu.length;
    size_t count = 0;

    for (; at < end; at += strlen(at) + 1)
        count += strncmp(at, key, strlen(key)) == 0;
    return count;
}

#define FIRST_BURST "FirstBurstLength=4096"

/* FirstBurstLength takes another round: the initiator has to answer. */
static void first_burst_by(enum wire_way way)
{
    static const char keys[] = NAMES "\0InitialR2T=No\0RDMAExtensions=Yes";
    size_t plain = sizeof(keys) - sizeof("RDMAExtensions=Yes");
    unsigned char bhs[48];
    struct wire wire;

    wire_reach(&wire, &bed, way);
    wire_begin(&wire, bhs, 0x43, 0x87);
    wire_send(&wire, bhs, keys, way == WIRE_PLAIN ? plain : sizeof(keys));
    wire_expect(&wire, &pdu, 0x23);
    CHECK_EQ(0x04, pdu.bhs[1]);
    CHECK_EQ(1, count_key(FIRST_BURST));
    wire_begin(&wire, bhs, 0x43, 0x87);
    wire_send(&wire, bhs, FIRST_BURST, sizeof(FIRST_BURST));
    wire_expect(&wire, &pdu, 0x23);
    CHECK_EQ(0, wire_get(pdu.bhs + 36, 2));
    CHECK_EQ(0x87, pdu.bhs[1]);
    CHECK_EQ(0, pdu.length);
    if (way == WIRE_CONVERT)
        wire_mpa(&wire);
    wire_logout(&wire);
}

static void first_burst(void)
{
    first_burst_by(WIRE_PLAIN);
    first_burst_by(WIRE_RDMA);
    first_burst_by(WIRE_CONVERT);
}

/*
 * An answer does not name a key twice, not even one whose value is rejected, or that only a target
 * declares.
 */
static void rejected_key(void)
{
    static const char keys[] = NAMES "\0MaxRecvDataSegmentLength=0\0TargetPortalGroupTag=7";
    unsigned char bhs[48];
    struct wire wire;

    wire_connect(&wire, &bed, WIRE_PLAIN);
    wire_begin(&wire, bhs, 0x43, 0x87);
    wire_send(&wire, bhs, keys, sizeof(keys));
    wire_expect(&wire, &pdu, 0x23);
    CHECK_EQ(1, count_key("MaxRecvDataSegmentLength=Reject"));
    CHECK_EQ(1, count_key("MaxRecvDataSegmentLength="));
    CHECK_EQ(1, count_key("TargetPortalGroupTag=1"));
    CHECK_EQ(1, count_key("TargetPortalGroupTag="));
    wire_logout(&wire);
}

int main(void)
{
    static void (*const tests[])(void) = {wrong_unit,  bidirectional, descriptor_sense,
                                          not_offered, first_burst,   rejected_key};

    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        wire_prepare(&bed);
        bed.config.immediate_none = tests[i] == not_offered;
        if (tests[i] == first_burst)
            bed.config.first_burst = 4096;
        wire_open(&bed);
        tests[i]();
        wire_close(&bed);
    }
    return 0;
}
