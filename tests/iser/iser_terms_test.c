/* SPDX-License-Identifier: BSD-2-Clause */
/* What a target insists on when it is not asked. */
#include "iser_wire_kit.h"

#include <string.h>

#define NAMES "InitiatorName=iqn.2026-11.example:i\0TargetName=" WIRE_TARGET

static struct wire_bed bed;
static struct wire_pdu pdu;

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
static void first_burst(void)
{
    static const char keys[] = NAMES "\0InitialR2T=No";
    unsigned char bhs[48];
    struct wire wire;

    wire_connect(&wire, &bed, WIRE_PLAIN);
    wire_begin(&wire, bhs, 0x43, 0x87);
    wire_send(&wire, bhs, keys, sizeof(keys));
    wire_expect(&wire, &pdu, 0x23);
    CHECK_EQ(0x04, pdu.bhs[1]);
    CHECK_EQ(1, count_key(FIRST_BURST));
    wire_begin(&wire, bhs, 0x43, 0x87);
    wire_send(&wire, bhs, FIRST_BURST, sizeof(FIRST_BURST));
    wire_expect(&wire, &pdu, 0x23);
    CHECK_EQ(0, wire_get(pdu.bhs + 36, 2));
    CHECK_EQ(0x87, pdu.bhs[1]);
    CHECK_EQ(0, pdu.length);
    wire_logout(&wire);
}

/* An answer does not name a key twice, not even one whose value is rejected. */
static void rejected_key(void)
{
    static const char keys[] = NAMES "\0MaxRecvDataSegmentLength=0";
    unsigned char bhs[48];
    struct wire wire;

    wire_connect(&wire, &bed, WIRE_PLAIN);
    wire_begin(&wire, bhs, 0x43, 0x87);
    wire_send(&wire, bhs, keys, sizeof(keys));
    wire_expect(&wire, &pdu, 0x23);
    CHECK_EQ(1, count_key("MaxRecvDataSegmentLength=Reject"));
    CHECK_EQ(1, count_key("MaxRecvDataSegmentLength="));
    wire_logout(&wire);
}

int main(void)
{
    static void (*const tests[])(void) = {not_offered, first_burst, rejected_key};

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
