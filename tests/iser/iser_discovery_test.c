/* SPDX-License-Identifier: BSD-2-Clause */
/* SendTargets of more targets than fit into one text, and texts that go on. */
#include "iser_wire_kit.h"

#include <stdio.h>
#include <string.h>

#define TARGETS   256u
#define FORBIDDEN 3u /* each so many-th target does not let the initiator in */

static struct wire_bed bed;
static struct wire_pdu pdu;
static struct itiser_target_config targets[TARGETS];
static char names[TARGETS][200];
static char text[1 << 17];

/* Names that are so long that eight targets fill a PDU. */
static void make_targets(void)
{
    static const char *const nobody[] = {"iqn.2026-11.example:nobody", NULL};

    for (unsigned i = 0; i < TARGETS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "iqn.2026-11.example:%0160u", i);
        targets[i].name = names[i];
        targets[i].initiators = i % FORBIDDEN == 0 ? nobody : NULL;
    }
    bed.config.targets = targets;
    bed.config.target_count = TARGETS;
}

static void log_in(struct wire *wire, enum wire_way way, const char *keys, size_t length)
{
    unsigned char bhs[48];

    wire_reach(wire, &bed, way);
    wire_begin(wire, bhs, 0x43, 0x87);
    wire_send(wire, bhs, keys, length);
    wire_expect(wire, &pdu, 0x23);
    CHECK_EQ(0x87, pdu.bhs[1]);
}

/* Gathers the answer to SendTargets=All. Returns its length. */
static size_t send_targets(struct wire *wire, uint32_t most)
{
    uint32_t ttt = 0xffffffff;
    unsigned char bhs[48];
    size_t have = 0;

    do {
        bool first = ttt == 0xffffffff;

        wire_begin(wire, bhs, 0x04, 0x80);
        wire_put(bhs + 20, ttt, 4);
        wire_send(wire, bhs, "SendTargets=All", first ? 16 : 0);
        wire_expect(wire, &pdu, 0x24);
        CHECK(pdu.length > 0 && pdu.length <= most && pdu.length <= sizeof(text) - have);
        memcpy(text + have, pdu.data, pdu.length);
        have += pdu.length;
        ttt = wire_get(pdu.bhs + 20, 4);
        CHECK_EQ(ttt == 0xffffffff ? 0x80 : 0x40, pdu.bhs[1]);
    } while (ttt != 0xffffffff);
    return have;
}

/* Each target that lets the initiator in is listed once, with its address, in order. */
static void check_list(size_t length)
{
    const char *at = text, *end = text + length;

    for (unsigned i = 0; i < TARGETS; i++) {
        if (i % FORBIDDEN == 0)
            continue;
        CHECK(at < end && strncmp(at, "TargetName=", 11) == 0);
        CHECK(strcmp(at + 11, names[i]) == 0);
        at += strlen(at) + 1;
        CHECK(at < end && strncmp(at, "TargetAddress=127.0.0.1:", 24) == 0);
        at += strlen(at) + 1;
    }
    CHECK(at == end);
}

#define NAMES "InitiatorName=iqn.2026-11.example:initiator\0SessionType=Discovery\0"

static void lists(enum wire_way way, const char *keys, size_t keys_length, uint32_t most)
{
    struct wire wire;

    log_in(&wire, way, keys, keys_length);
    for (int i = 0; i < 2; i++) {
        memset(text, 0, sizeof(text));
        check_list(send_targets(&wire, most));
    }
    wire_logout(&wire);
}

/*
 * Asks for one target, whose name has no upper and lower case (RFC 3722), and returns the target
 * transfer tag of the answer.
 */
static uint32_t ask(struct wire *wire, unsigned flags, uint32_t ttt, unsigned target)
{
    char key[sizeof("SendTargets=") + sizeof(names[0])];
    int length = snprintf(key, sizeof(key), "SendTargets=IQN%s", names[target] + 3);
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x04, flags);
    wire_put(bhs + 20, ttt, 4);
    wire_send(wire, bhs, key, (size_t)length + 1);
    wire_expect(wire, &pdu, 0x24);
    CHECK(strncmp((const char *)pdu.data, "TargetName=", 11) == 0);
    CHECK(strcmp((const char *)pdu.data + 11, names[target]) == 0);
    CHECK_EQ(flags, pdu.bhs[1]);
    return wire_get(pdu.bhs + 20, 4);
}

/* Texts go on until the initiator sends the final bit. Only the tag given continues them. */
static void goes_on(const char *keys, size_t keys_length)
{
    unsigned char bhs[48];
    struct wire wire;
    uint32_t ttt;

    log_in(&wire, WIRE_PLAIN, keys, keys_length);
    ttt = ask(&wire, 0, 0xffffffff, 1);
    CHECK(ttt != 0xffffffff);
    CHECK_EQ(ttt, ask(&wire, 0, ttt, 2));
    CHECK_EQ(0xffffffff, ask(&wire, 0x80, ttt, 4));
    ttt = ask(&wire, 0, 0xffffffff, 5);
    wire_begin(&wire, bhs, 0x04, 0x80);
    wire_put(bhs + 20, ttt + 1, 4);
    wire_send(&wire, bhs, NULL, 0);
    wire_expect(&wire, &pdu, 0x3f);
    wire_begin(&wire, bhs, 0x04, 0x80);
    wire_put(bhs + 20, ttt, 4);
    wire_send(&wire, bhs, NULL, 0);
    wire_expect(&wire, &pdu, 0x24);
    CHECK_EQ(0, pdu.length);
    CHECK_EQ(0x80, pdu.bhs[1]);
    wire_logout(&wire);
}

int main(void)
{
    static const char plain[] = NAMES "MaxRecvDataSegmentLength=262144";
    static const char small[] = NAMES "MaxRecvDataSegmentLength=512";
    static const char rdma[] = NAMES "HeaderDigest=None";

    wire_prepare(&bed);
    make_targets();
    wire_open(&bed);
    lists(WIRE_PLAIN, plain, sizeof(plain), 262144);
    lists(WIRE_PLAIN, small, sizeof(small), 512);
    lists(WIRE_RDMA, rdma, sizeof(rdma), 8192);
    goes_on(plain, sizeof(plain));
    wire_close(&bed);
    return 0;
}
