/* SPDX-License-Identifier: BSD-2-Clause */
/* The target against a scripted initiator, by every way in. */
#include "iser_wire_kit.h"

#include <string.h>

static struct wire_bed bed;
static struct wire_pdu pdu;

static void setup(void)
{
    wire_prepare(&bed);
    wire_open(&bed);
}

static void teardown(void)
{
    wire_close(&bed);
}

static const char *const ways[WIRE_WAYS] = {
    "plain", "digests", "RDMA", "RDMA, invalidation", "converted", "converted, Hello"};

/* A new unit tells that it is new. */
static void take_attention(struct wire *wire)
{
    static const unsigned char test_unit_ready[16];

    while (wire_command(wire, test_unit_ready, &pdu) != 0)
        CHECK_EQ(2, pdu.bhs[3]);
}

static void fill(struct wire *wire, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        wire->memory[i] = (unsigned char)(i * 7 + (i >> 8) + seed);
}

static void check_filled(const struct wire *wire, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        if (wire->memory[i] != (unsigned char)(i * 7 + (i >> 8) + seed))
            CHECK_FAIL("octet %zu of %zu is %02x", i, length, wire->memory[i]);
}

/* ---- data ------------------------------------------------------------------------------------ */

struct shape {
    uint32_t length, immediate, unsolicited;
};

static void write_and_read(struct wire *wire, const struct shape *shape, unsigned seed)
{
    unsigned reads = wire->reads;

    fill(wire, shape->length, seed);
    CHECK_EQ(0,
             wire_write(wire, 8 * seed, shape->length, shape->immediate, shape->unsolicited, &pdu));
    CHECK_EQ(0, pdu.bhs[1] & 6);
    if (wire->rdma)
        CHECK_EQ(shape->immediate + shape->unsolicited < shape->length, wire->reads - reads);
    memset(wire->memory, 0, WIRE_MEMORY);
    CHECK_EQ(0, wire_read(wire, 8 * seed, shape->length, shape->length, &pdu));
    check_filled(wire, shape->length, seed);
    if (wire->way == WIRE_RDMA_INVALIDATE) {
        CHECK_EQ(RAW_SEND_INV, pdu.send_op);
        CHECK_EQ(WIRE_STAG, pdu.invalidated);
    } else if (wire->rdma) {
        CHECK_EQ(RAW_SEND, pdu.send_op);
    }
}

static void data_by(enum wire_way way)
{
    static const struct shape shapes[] = {{512, 512, 0},     {4096, 0, 0},        {8192, 8192, 0},
                                          {65536, 0, 0},     {65536, 4096, 0},    {524288, 0, 0},
                                          {524288, 8192, 0}, {49152, 4096, 8192}, {40960, 0, 32768},
                                          {40960, 0, 40960}, {131072, 512, 20480}};
    struct wire wire;

    check_context(ways[way]);
    WIRE_LOGIN(&wire, &bed, way, "InitialR2T=No\0ImmediateData=Yes\0FirstBurstLength=65536");
    CHECK(wire.immediate_data && !wire.initial_r2t);
    take_attention(&wire);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        write_and_read(&wire, &shapes[i], (unsigned)i + 1);
    wire_logout(&wire);
}

static void data(void)
{
    for (unsigned way = 0; way < WIRE_WAYS; way++)
        data_by((enum wire_way)way);
    check_context(NULL);
}

int main(void)
{
    static void (*const tests[])(void) = {data};

    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        setup();
        tests[i]();
        teardown();
    }
    return 0;
}
