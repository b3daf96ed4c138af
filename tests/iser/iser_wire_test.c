/* SPDX-License-Identifier: BSD-2-Clause */
/* The target against a scripted initiator, through every way in. */
#include "iser_wire_kit.h"

#include <poll.h>
#include <stdio.h>
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
    "plain",           "digests", "RDMA", "RDMA, invalidation", "converted", "converted, Hello",
    "converted, early"};

/* Takes the unit attention that a new unit reports. */
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

/* Where write_base points, by configuration and by the initiator's key. */
static void write_bases(void)
{
    static const struct {
        itiser_write_base_t configured;
        enum wire_way way;
        const char *keys;
        size_t length;
        bool solicited;
    } rows[] = {
#define KEYS(text) text, sizeof(text)
        {ITISER_WRITE_BASE_LINUX, WIRE_CONVERT, KEYS("InitialR2T=No"), true},
        {ITISER_WRITE_BASE_RFC, WIRE_RDMA, KEYS("InitialR2T=No"), false},
        {ITISER_WRITE_BASE_RFC, WIRE_RDMA,
         KEYS("InitialR2T=No\0TaggedBufferForSolicitedDataOnly=Yes"), true},
        {ITISER_WRITE_BASE_AUTO, WIRE_CONVERT,
         KEYS("InitialR2T=No\0TaggedBufferForSolicitedDataOnly=Yes"), true},
        {ITISER_WRITE_BASE_AUTO, WIRE_RDMA,
         KEYS("InitialR2T=No\0TaggedBufferForSolicitedDataOnly=No"), false}};
    static const struct shape shapes[] = {{65536, 0, 0}, {65536, 4096, 0}, {65536, 512, 16384}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wire wire;

        teardown();
        wire_prepare(&bed);
        bed.config.write_base = rows[i].configured;
        wire_open(&bed);
        wire_login(&wire, &bed, rows[i].way, rows[i].keys, rows[i].length);
        wire.base_is_solicited = rows[i].solicited;
        take_attention(&wire);
        for (size_t j = 0; j < sizeof(shapes) / sizeof(shapes[0]); j++)
            write_and_read(&wire, &shapes[j], (unsigned)j + 1);
        wire_logout(&wire);
    }
}

/*
 * The initiator allows one RDMA Read at a time. The target waits with the next one, however long
 * the answer takes.
 */
static void reads_by(enum wire_way way)
{
    static struct raw_segment waiting, segment;
    unsigned answers = 0, responses = 0;
    bool waits = false;
    struct wire wire;

    check_context(ways[way]);
    WIRE_LOGIN(&wire, &bed, way, "InitialR2T=Yes\0ImmediateData=No");
    take_attention(&wire);
    wire_hold_back(&wire, true);
    for (unsigned i = 0; i < 8; i++) {
        unsigned char bhs[48];

        wire_begin_write(&wire, bhs, 8 * i, 4096, 0, 0);
    }
    wire_hold_back(&wire, false);
    while (responses < 8) {
        struct pollfd there = {.fd = wire.raw.fd, .events = POLLIN};

        if (waits && poll(&there, 1, 20) == 0) {
            wire_answer_read(&wire, &waiting);
            waits = false;
            answers++;
            continue;
        }
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&wire.raw, &segment));
        if (segment.qn == 0) {
            CHECK(++responses <= answers);
            continue;
        }
        CHECK(!waits);
        waiting = segment;
        waiting.payload = waiting.ulpdu + (segment.payload - segment.ulpdu);
        waits = true;
    }
    CHECK_EQ(8, answers);
    wire_free(&wire);
}

static void reads_within_ird(void)
{
    teardown();
    wire_prepare(&bed);
    bed.ird = 1;
    wire_open(&bed);
    for (unsigned way = WIRE_RDMA; way < WIRE_WAYS; way++)
        reads_by((enum wire_way)way);
    check_context(NULL);
}

/* ---- control --------------------------------------------------------------------------------- */

static void ping(struct wire *wire)
{
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x40, 0x80);
    wire_put(bhs + 20, 0xffffffff, 4);
    wire_send(wire, bhs, "hello", 5);
    wire_expect(wire, &pdu, 0x20);
    CHECK(memcmp(pdu.bhs + 16, bhs + 16, 4) == 0);
    CHECK_EQ(0xffffffff, wire_get(pdu.bhs + 20, 4));
    CHECK_EQ(5, pdu.length);
    CHECK(memcmp(pdu.data, "hello", 5) == 0);
}

static unsigned manage(struct wire *wire, unsigned function, unsigned lun, uint32_t itt)
{
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x42, 0x80 | function);
    wire_put(bhs + 8, lun, 2);
    wire_put(bhs + 20, itt, 4);
    wire_put(bhs + 32, wire->cmd_sn - 1, 4);
    wire_send(wire, bhs, NULL, 0);
    wire_expect(wire, &pdu, 0x22);
    return pdu.bhs[2];
}

/* The command has more or fewer octets than the initiator expects. */
static void residuals(struct wire *wire)
{
    CHECK_EQ(0, wire_read(wire, 0, 1024, 4096, &pdu));
    CHECK_EQ(2, pdu.bhs[1] & 6);
    CHECK_EQ(3072, wire_get(pdu.bhs + 44, 4));
    CHECK_EQ(0, wire_read(wire, 0, 1024, 512, &pdu));
    CHECK_EQ(4, pdu.bhs[1] & 6);
    CHECK_EQ(512, wire_get(pdu.bhs + 44, 4));
}

static void text(struct wire *wire)
{
    unsigned char bhs[48];
    char address[64];

    wire_begin(wire, bhs, 0x04, 0x80);
    wire_put(bhs + 20, 0xffffffff, 4);
    wire_send(wire, bhs, "SendTargets=", 13);
    wire_expect(wire, &pdu, 0x24);
    CHECK_EQ(0x80, pdu.bhs[1]);
    CHECK_EQ(0xffffffff, wire_get(pdu.bhs + 20, 4));
    (void)snprintf(address, sizeof(address), "TargetAddress=127.0.0.1:%u,1",
                   (unsigned)wire_get((const unsigned char *)&bed.port, 2));
    CHECK_EQ(sizeof("TargetName=" WIRE_TARGET) + strlen(address) + 1, pdu.length);
    CHECK(strcmp((const char *)pdu.data, "TargetName=" WIRE_TARGET) == 0);
    CHECK(strcmp((const char *)pdu.data + sizeof("TargetName=" WIRE_TARGET), address) == 0);
}

/* After the login an initiator may declare another length of data segments, and nothing else. */
static void declare(struct wire *wire)
{
    static const char said[] = "MaxRecvDataSegmentLength=1024\0InitialR2T=No\0"
                               "InitiatorAlias=me\0X-example=1";
    static const char refused[] = "InitialR2T=Reject\0X-example=NotUnderstood";
    static const char wrong[] = "MaxRecvDataSegmentLength=511";
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x04, 0x80);
    wire_put(bhs + 20, 0xffffffff, 4);
    wire_send(wire, bhs, said, sizeof(said));
    wire_expect(wire, &pdu, 0x24);
    CHECK_EQ(sizeof(refused), pdu.length);
    CHECK(memcmp(pdu.data, refused, sizeof(refused)) == 0);
    CHECK_EQ(0, wire_read(wire, 0, 4096, 4096, &pdu));
    CHECK_EQ(wire->rdma ? 0 : 1024, pdu.length);
    wire_begin(wire, bhs, 0x04, 0x80);
    wire_put(bhs + 20, 0xffffffff, 4);
    wire_send(wire, bhs, wrong, sizeof(wrong));
    wire_expect(wire, &pdu, 0x24);
    CHECK(strcmp((const char *)pdu.data, "MaxRecvDataSegmentLength=Reject") == 0);
    CHECK_EQ(0, wire_read(wire, 0, 4096, 4096, &pdu));
    CHECK_EQ(wire->rdma ? 0 : 1024, pdu.length);
}

/* Aborts a task that the target has not seen. Returns the response. */
static unsigned abort_unseen(struct wire *wire, uint32_t cmd_sn)
{
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x42, 0x81);
    wire_put(bhs + 20, 0x8888, 4);
    wire_put(bhs + 32, cmd_sn, 4);
    wire_send(wire, bhs, NULL, 0);
    wire_expect(wire, &pdu, 0x22);
    return pdu.bhs[2];
}

/* Within the window the task counts as received and aborted (RFC 7143 11.6.1). */
static void aborts_unseen(struct wire *wire)
{
    CHECK_EQ(0, abort_unseen(wire, wire->cmd_sn));
    CHECK_EQ(0, abort_unseen(wire, wire_get(pdu.bhs + 32, 4)));
    CHECK_EQ(1, abort_unseen(wire, wire_get(pdu.bhs + 32, 4) + 1));
    CHECK_EQ(1, abort_unseen(wire, wire->cmd_sn - 1));
    CHECK_EQ(1, abort_unseen(wire, wire->cmd_sn + 0x7fffffff));
}

/* Commands outside the window are not answered. */
static void outside_of_the_window(struct wire *wire)
{
    uint32_t in_order = wire->cmd_sn;
    unsigned char bhs[48];

    wire->cmd_sn = in_order - 1;
    wire_begin(wire, bhs, 0x01, 0x80);
    wire_send(wire, bhs, NULL, 0);
    wire->cmd_sn = in_order + 128;
    wire_begin(wire, bhs, 0x01, 0x80);
    wire_send(wire, bhs, NULL, 0);
    wire->cmd_sn = in_order;
    ping(wire);
}

static void control_by(enum wire_way way)
{
    struct wire wire;

    check_context(ways[way]);
    WIRE_LOGIN(&wire, &bed, way, "InitialR2T=No\0ImmediateData=Yes");
    take_attention(&wire);
    ping(&wire);
    text(&wire);
    residuals(&wire);
    aborts_unseen(&wire);
    outside_of_the_window(&wire);
    CHECK_EQ(1, manage(&wire, 1, 0, 0x7777)); /* no such task */
    CHECK_EQ(0, manage(&wire, 2, 0, 0));
    CHECK_EQ(2, manage(&wire, 5, 99, 0)); /* no such LUN */
    CHECK_EQ(5, manage(&wire, 8, 0, 0));
    CHECK_EQ(0, manage(&wire, 5, 0, 0));
    take_attention(&wire);
    declare(&wire);
    wire_logout(&wire);
}

static void control(void)
{
    for (unsigned way = 0; way < WIRE_WAYS; way++)
        control_by((enum wire_way)way);
    check_context(NULL);
}

/* ---- an aborted command ---------------------------------------------------------------------- */

static void begin_write(struct wire *wire, unsigned char bhs[48])
{
    wire_begin(wire, bhs, 0x01, 0xa1);
    wire_put(bhs + 20, 4096, 4);
    bhs[32] = 0x2a;
    bhs[40] = 8;
    wire_send_tagged(wire, bhs, NULL, 0, false, true, WIRE_BASE);
}

/* Begins a write up to its R2T; gets the header of the Data-Out that answers it. */
static void begin_solicited_write(struct wire *wire, unsigned char bhs[48], unsigned char data[48])
{
    begin_write(wire, bhs);
    wire_expect(wire, &pdu, 0x31);
    memset(data, 0, 48);
    data[0] = 0x05;
    data[1] = 0x80;
    memcpy(data + 16, bhs + 16, 4);
    memcpy(data + 20, pdu.bhs + 20, 4);
}

/* Plain: the aborted task's R2T is no longer served, and late data is ignored. */
static void abort_plain(void)
{
    unsigned char bhs[48], data[48];
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    take_attention(&wire);
    begin_solicited_write(&wire, bhs, data);
    CHECK_EQ(0, manage(&wire, 1, 0, wire_get(bhs + 16, 4)));
    wire_send(&wire, data, wire.memory, 4096);
    CHECK_EQ(1, manage(&wire, 1, 0, wire_get(bhs + 16, 4)));
    ping(&wire);
    wire_logout(&wire);
}

#define FLAT_0 0x4000 /* LUN 0 by flat space addressing */

/* ABORT TASK SET, CLEAR TASK SET, LUN RESET: a LUN is the same however it is addressed. */
static void abort_by_other_address(void)
{
    static const unsigned char functions[] = {2, 4, 5};
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    for (size_t i = 0; i < sizeof(functions); i++) {
        unsigned char bhs[48], data[48];

        take_attention(&wire);
        begin_solicited_write(&wire, bhs, data);
        CHECK_EQ(0, manage(&wire, functions[i], FLAT_0, 0xffffffff));
        wire_send(&wire, data, wire.memory, 4096);
        ping(&wire); /* no response comes before */
    }
    wire_logout(&wire);
}

/* The data of a command may name its LUN by the other address, too. */
static void data_by_other_address(void)
{
    unsigned char bhs[48], data[48];
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    take_attention(&wire);
    begin_solicited_write(&wire, bhs, data);
    wire_put(data + 8, FLAT_0, 2);
    wire_send(&wire, data, wire.memory, 4096);
    wire_expect(&wire, &pdu, 0x21);
    CHECK_EQ(0, pdu.bhs[3]);
    wire_logout(&wire);
}

/* RDMA: the answer comes after the RDMA Read in progress has ended. */
static void abort_rdma(void)
{
    static struct raw_segment segment;
    unsigned char bhs[48], tmf[48];
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_RDMA, "InitialR2T=Yes");
    take_attention(&wire);
    begin_write(&wire, bhs);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&wire.raw, &segment));
    CHECK_EQ(1, segment.qn);
    wire_begin(&wire, tmf, 0x42, 0x81);
    memcpy(tmf + 20, bhs + 16, 4);
    wire_send(&wire, tmf, NULL, 0);
    ping(&wire); /* the answer to the abort waits */
    wire_answer_read(&wire, &segment);
    wire_expect(&wire, &pdu, 0x22);
    CHECK_EQ(0, pdu.bhs[2]);
    wire_logout(&wire);
}

/* ---- an initiator that says nothing ---------------------------------------------------------- */

/* Answers two pings. Returns false if the target has given up before. */
static bool answers_pings(struct wire *wire)
{
    for (unsigned i = 0; i < 2; i++) {
        unsigned char bhs[48];

        if (!wire_receive(wire, &pdu))
            return false;
        CHECK_EQ(0x20, pdu.bhs[0]);
        CHECK_EQ(0xffffffff, wire_get(pdu.bhs + 16, 4));
        CHECK(wire_get(pdu.bhs + 20, 4) != 0xffffffff);
        wire_begin(wire, bhs, 0x40, 0x80);
        wire_put(bhs + 16, 0xffffffff, 4);
        memcpy(bhs + 20, pdu.bhs + 20, 4);
        memcpy(bhs + 8, pdu.bhs + 8, 8);
        wire_send(wire, bhs, NULL, 0);
    }
    return true;
}

/* If a pause is too short for this machine, it is doubled. */
static void silence_by(enum wire_way way)
{
    bool answered = false;

    check_context(ways[way]);
    for (unsigned ms = 100; !answered; ms *= 2) {
        struct wire wire;

        teardown();
        wire_prepare(&bed);
        bed.config.silence_ms = ms;
        wire_open(&bed);
        WIRE_LOGIN(&wire, &bed, way, "InitialR2T=Yes");
        answered = answers_pings(&wire);
        while (wire_receive(&wire, &pdu)) /* one more ping, then the end */
            CHECK_EQ(0x20, pdu.bhs[0]);
        wire_free(&wire);
    }
    check_context(NULL);
}

static void silence(void)
{
    silence_by(WIRE_PLAIN);
    silence_by(WIRE_RDMA);
}

/* ---- a login in two parts -------------------------------------------------------------------- */

/* Both requests are sent at once: the second finds a receive while the first is answered. */
static void two_requests(void)
{
    static const char first[] = "InitiatorName=iqn.2026-11.example:parts\0TargetName=";
    static const char second[] = WIRE_TARGET "\0RDMAExtensions=Yes";
    unsigned char bhs[2][48];
    struct wire wire;

    wire_connect(&wire, &bed, WIRE_RDMA);
    wire_mpa(&wire);
    wire_begin(&wire, bhs[0], 0x43, 0x44); /* more to come */
    wire_begin(&wire, bhs[1], 0x43, 0x87);
    wire_send(&wire, bhs[0], first, sizeof(first) - 1);
    wire_send(&wire, bhs[1], second, sizeof(second));
    wire_expect(&wire, &pdu, 0x23);
    CHECK_EQ(0x04, pdu.bhs[1]);
    wire_expect(&wire, &pdu, 0x23);
    CHECK_EQ(0x87, pdu.bhs[1]);
    CHECK_EQ(0, wire_get(pdu.bhs + 36, 2));
    take_attention(&wire);
    wire_logout(&wire);
}

/* ---- unsolicited data in small PDUs ---------------------------------------------------------- */

static void login_small(struct wire *wire)
{
    static const char keys[] = "InitiatorName=iqn.2026-11.example:small\0"
                               "TargetName=" WIRE_TARGET "\0SessionType=Normal\0"
                               "InitialR2T=No\0FirstBurstLength=65536\0"
                               "TargetRecvDataSegmentLength=512\0RDMAExtensions=Yes";
    unsigned char bhs[48];

    wire_connect(wire, &bed, WIRE_RDMA);
    wire_mpa(wire);
    wire_begin(wire, bhs, 0x43, 0x87);
    wire_send(wire, bhs, keys, sizeof(keys));
    wire_expect(wire, &pdu, 0x23);
    CHECK_EQ(0, wire_get(pdu.bhs + 36, 2));
    wire->target_max = 512;
}

/*
 * Sends as many commands as may be open, each with all its unsolicited data. There is a receive for
 * each of their PDUs.
 */
static void many_small(void)
{
    struct wire wire;
    uint32_t window;

    login_small(&wire);
    take_attention(&wire);
    window = wire_get(pdu.bhs + 32, 4) - wire_get(pdu.bhs + 28, 4) + 1;
    CHECK(window >= 4 && window < 32);
    for (uint32_t i = 0; i < window; i++) {
        unsigned char bhs[48];

        wire_begin_write(&wire, bhs, 128 * i, 65536, 0, 65536);
    }
    for (uint32_t i = 0; i < window; i++) {
        wire_expect(&wire, &pdu, 0x21);
        CHECK_EQ(0, pdu.bhs[3]);
    }
    wire_logout(&wire);
}

/* ---- all commands at once -------------------------------------------------------------------- */

/* Fills the window. When all commands are answered, as many may follow. */
static void whole_window_by(enum wire_way way)
{
    struct wire wire;

    check_context(ways[way]);
    WIRE_LOGIN(&wire, &bed, way, "InitialR2T=Yes");
    take_attention(&wire);
    for (unsigned round = 0; round < 3; round++) {
        uint32_t window = wire_get(pdu.bhs + 32, 4) - wire_get(pdu.bhs + 28, 4) + 1;

        CHECK(window > 64 && window <= 128);
        wire_hold_back(&wire, true);
        for (uint32_t i = 0; i < window; i++) {
            unsigned char bhs[48];

            wire_begin(&wire, bhs, 0x01, 0x80);
            wire_send(&wire, bhs, NULL, 0);
        }
        wire_hold_back(&wire, false);
        for (uint32_t i = 0; i < window; i++)
            wire_expect(&wire, &pdu, 0x21);
    }
    wire_logout(&wire);
}

static void whole_window(void)
{
    for (unsigned way = 0; way < WIRE_WAYS; way++)
        whole_window_by((enum wire_way)way);
    check_context(NULL);
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* With the same initiator port the older session ends. With another port both live. */
static void reinstatement(void)
{
    struct wire first, again, other;

    WIRE_LOGIN(&first, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    WIRE_LOGIN(&other, &bed, WIRE_RDMA, "InitialR2T=Yes");
    WIRE_LOGIN(&again, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    CHECK(!wire_receive(&first, &pdu));
    wire_free(&first);
    ping(&other);
    ping(&again);
    wire_logout(&other);
    wire_logout(&again);
}

/* A session is asked to log out. When it does, the target stops waiting. */
static void stopping(void)
{
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    wire_stop(&bed, 600000);
    wire_expect(&wire, &pdu, 0x32);
    CHECK_EQ(1, pdu.bhs[36]);
    CHECK_EQ(600, wire_get(pdu.bhs + 42, 2));
    wire_logout(&wire);
}

/* A session that does not log out is cut. */
static void stopping_a_deaf_one(void)
{
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_RDMA, "InitialR2T=Yes");
    wire_stop(&bed, 100);
    wire_expect(&wire, &pdu, 0x32);
    CHECK(!wire_receive(&wire, &pdu));
    wire_free(&wire);
}

int main(void)
{
    static void (*const tests[])(void) = {whole_window,
                                          silence,
                                          many_small,
                                          two_requests,
                                          data,
                                          write_bases,
                                          reads_within_ird,
                                          control,
                                          abort_plain,
                                          abort_rdma,
                                          reinstatement,
                                          stopping,
                                          stopping_a_deaf_one,
                                          abort_by_other_address,
                                          data_by_other_address};

    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        setup();
        tests[i]();
        teardown();
    }
    return 0;
}
