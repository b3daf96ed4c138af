/* SPDX-License-Identifier: BSD-2-Clause */
/* Initiators that lie, and initiators that never log in. */
#include "iser_wire_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct wire_bed bed;
static struct wire_pdu pdu;

/* ---- a target that goes on ------------------------------------------------------------------- */

static void check_alive(void)
{
    static const unsigned char inquiry[16] = {0x12};
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    (void)wire_command(&wire, inquiry, &pdu);
    wire_logout(&wire);
}

/* Receives until the connection ends or a PDU with this opcode answers. */
static void await_end(struct wire *wire, unsigned opcode)
{
    while (wire_receive(wire, &pdu))
        if (pdu.bhs[0] == opcode)
            return;
    CHECK_EQ(0, opcode);
}

/* ---- one field that lies --------------------------------------------------------------------- */

struct lie {
    const char *what;
    unsigned opcode, flags;
    unsigned at, octets; /* the field */
    uint32_t value;
    unsigned length; /* length of the data that comes with it */
    unsigned answer; /* opcode; 0: the connection ends */
};

#define REJECT   0x3f
#define RESPONSE 0x21

static const struct lie lies[] = {
    {"a data segment that is too long", 0x01, 0x80, 5, 3, 0xffffff, 0, 0},
    {"an additional header where none may be", 0x42, 0x82, 4, 1, 1, 4, REJECT},
    {"an unknown opcode", 0x0e, 0x80, 0, 0, 0, 0, REJECT},
    {"an opcode of a target", 0x21, 0x80, 0, 0, 0, 0, REJECT},
    {"a SNACK", 0x10, 0x80, 0, 0, 0, 0, REJECT},
    {"a login in full feature phase", 0x43, 0x87, 0, 0, 0, 0, REJECT},
    {"a task tag that is none", 0x01, 0x80, 16, 4, 0xffffffff, 0, REJECT},
    {"a CmdSN that leaves a gap", 0x01, 0x80, 24, 4, WIRE_CMD_SN + 2, 0, 0},
    {"data that may not be immediate", 0x01, 0xa0, 20, 4, 4, 512, RESPONSE},
    {"no final bit of a ping", 0x40, 0, 0, 0, 0, 0, REJECT},
    {"Data-Out of no command", 0x05, 0x80, 20, 4, 0xffffffff, 512, 0x20},
    {"an immediate Data-Out", 0x45, 0x80, 20, 4, 0xffffffff, 0, REJECT},
    {"a text without an end", 0x04, 0x80, 20, 4, 0xffffffff, 5, REJECT},
    {"a text for nobody", 0x04, 0x80, 20, 4, 77, 5, REJECT},
    {"a logout of another connection", 0x06, 0x81, 20, 2, 9, 0, 0x26},
};

static void tell_lie(const struct lie *lie, enum wire_way way)
{
    unsigned char bhs[48];
    char octets[1024];
    struct wire wire;

    check_context(lie->what);
    WIRE_LOGIN(&wire, &bed, way, "InitialR2T=Yes");
    wire_begin(&wire, bhs, lie->opcode, lie->flags);
    wire_put(bhs + lie->at, lie->octets > 0 ? lie->value : bhs[0],
             lie->octets > 0 ? lie->octets : 1);
    memset(octets, 'x', sizeof(octets));
    if (lie->at == 4 || lie->at == 5)
        wire_send_as_is(&wire, bhs, octets, lie->length);
    else
        wire_send(&wire, bhs, octets, lie->length);
    if (lie->answer == 0x20) { /* not answered itself, but a ping is */
        wire_begin(&wire, bhs, 0x40, 0x80);
        wire_send(&wire, bhs, NULL, 0);
    }
    await_end(&wire, lie->answer);
    wire_free(&wire);
    check_alive();
    check_context(NULL);
}

static void lying(void)
{
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        tell_lie(&lies[i], WIRE_PLAIN);
        tell_lie(&lies[i], WIRE_RDMA);
    }
}

/* ---- digests --------------------------------------------------------------------------------- */

static void put_digest(unsigned char *at, uint32_t crc)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (unsigned char)(crc >> 8 * i);
}

/* Ends the test unless the PDU is rejected for its data digest, and then the session ends. */
static void expect_damage(struct wire *wire, const unsigned char bhs[48])
{
    wire_expect(wire, &pdu, REJECT);
    CHECK_EQ(2, pdu.bhs[2]);
    CHECK_EQ(48, pdu.length);
    CHECK(memcmp(pdu.data, bhs, 48) == 0);
    await_end(wire, 0);
}

/* Pings: both digests are right, the header's is wrong, the data's is wrong. */
static void wrong_digests(void)
{
    for (unsigned wrong = 0; wrong < 3; wrong++) {
        unsigned char bhs[48], rest[12] = {[4] = 'p', 'i', 'n', 'g'};
        struct wire wire;

        WIRE_LOGIN(&wire, &bed, WIRE_DIGESTS, "InitialR2T=Yes");
        wire_begin(&wire, bhs, 0x40, 0x80);
        wire_put(bhs + 5, 4, 3);
        wire_put(bhs + 20, 0xffffffff, 4);
        put_digest(rest, raw_crc32c(0, bhs, 48) ^ (wrong == 1));
        put_digest(rest + 8, raw_crc32c(0, rest + 4, 4) ^ (wrong == 2));
        wire_send_as_is(&wire, bhs, rest, sizeof(rest));
        if (wrong == 2)
            expect_damage(&wire, bhs);
        else
            await_end(&wire, wrong == 0 ? 0x20 : 0);
        wire_free(&wire);
        check_alive();
    }
}

/* Data of a command, which is read straight to its place, with a wrong digest. */
static void wrong_data_digest(void)
{
    static const unsigned char test_unit_ready[16];
    unsigned char command[48], bhs[48] = {0x05, 0x80}, rest[520] = {0};
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_DIGESTS, "InitialR2T=Yes\0ImmediateData=No");
    while (wire_command(&wire, test_unit_ready, &pdu) != 0)
        CHECK_EQ(2, pdu.bhs[3]);
    wire_begin_write(&wire, command, 0, 512, 0, 0);
    wire_expect(&wire, &pdu, 0x31);
    wire_put(bhs + 5, 512, 3);
    memcpy(bhs + 16, command + 16, 4);
    memcpy(bhs + 20, pdu.bhs + 20, 4);
    put_digest(rest, raw_crc32c(0, bhs, 48));
    put_digest(rest + 516, raw_crc32c(0, rest + 4, 512) ^ 1);
    wire_send_as_is(&wire, bhs, rest, sizeof(rest));
    expect_damage(&wire, bhs);
    wire_free(&wire);
    check_alive();
}

/* ---- Data-Out that is not what was asked for ------------------------------------------------- */

static const struct {
    const char *what;
    unsigned at;
    uint32_t value;
    unsigned flags;
} data_lies[] = {{"a DataSN that is not the next", 36, 1, 0x80},
                 {"an offset that is not the next", 40, 512, 0x80},
                 {"an offset far away", 40, 0xfffffe00, 0x80},
                 {"a transfer tag of nobody", 20, 0x5555, 0x80},
                 {"no end", 0, 0, 0}};

static void wrong_data(void)
{
    static const unsigned char test_unit_ready[16];

    for (size_t i = 0; i < sizeof(data_lies) / sizeof(data_lies[0]); i++) {
        unsigned char bhs[48], data[48] = {0x05, (unsigned char)data_lies[i].flags};
        struct wire wire;

        check_context(data_lies[i].what);
        WIRE_LOGIN(&wire, &bed, WIRE_PLAIN, "InitialR2T=Yes");
        while (wire_command(&wire, test_unit_ready, &pdu) != 0) {
        }
        wire_begin(&wire, bhs, 0x01, 0xa1);
        wire_put(bhs + 20, 4096, 4);
        bhs[32] = 0x2a;
        bhs[40] = 8;
        wire_send(&wire, bhs, NULL, 0);
        wire_expect(&wire, &pdu, 0x31);
        memcpy(data + 16, bhs + 16, 4);
        memcpy(data + 20, pdu.bhs + 20, 4);
        if (data_lies[i].at > 0)
            wire_put(data + data_lies[i].at, data_lies[i].value, 4);
        wire_send(&wire, data, wire.memory, 4096);
        wire_expect(&wire, &pdu, 0x21);
        CHECK_EQ(2, pdu.bhs[3]);
        CHECK_EQ(0x0b, pdu.data[4] & 15); /* ABORTED COMMAND */
        wire_logout(&wire);
    }
    check_context(NULL);
}

static const struct {
    const char *what;
    unsigned at;
    uint32_t value;
    size_t length;
} unasked_lies[] = {{"a DataSN that is not the next", 36, 1, 4096},
                    {"an offset that is not the next", 40, 512, 2048},
                    {"an offset behind the end", 40, 4096, 512},
                    {"more than the command has", 0, 0, 8192},
                    {"a transfer tag of nobody", 20, 0x5555, 4096},
                    {"another command's transfer tag", 20, 0, 4096}};

/* Unsolicited data that does not belong to the command. */
static void wrong_unasked_data_by(enum wire_way way)
{
    static const unsigned char test_unit_ready[16];

    for (size_t i = 0; i < sizeof(unasked_lies) / sizeof(unasked_lies[0]); i++) {
        unsigned char bhs[48], data[48] = {0x05, 0x80};
        struct wire wire;

        check_context(unasked_lies[i].what);
        WIRE_LOGIN(&wire, &bed, way, "InitialR2T=No\0FirstBurstLength=65536");
        while (wire_command(&wire, test_unit_ready, &pdu) != 0) {
        }
        wire_begin(&wire, bhs, 0x01, 0x21);
        wire_put(bhs + 20, 4096, 4);
        bhs[32] = 0x2a;
        bhs[40] = 8;
        wire_send_tagged(&wire, bhs, NULL, 0, false, true, WIRE_BASE);
        memcpy(data + 16, bhs + 16, 4);
        wire_put(data + 20, 0xffffffff, 4);
        if (unasked_lies[i].at > 0)
            wire_put(data + unasked_lies[i].at, unasked_lies[i].value, 4);
        wire_send(&wire, data, wire.memory, unasked_lies[i].length);
        wire_expect(&wire, &pdu, 0x21);
        CHECK_EQ(2, pdu.bhs[3]);
        CHECK_EQ(0x0b, pdu.data[4] & 15); /* ABORTED COMMAND */
        CHECK_EQ(0, wire.reads);
        wire_logout(&wire);
    }
    check_context(NULL);
}

static void wrong_unasked_data(void)
{
    wrong_unasked_data_by(WIRE_PLAIN);
    wrong_unasked_data_by(WIRE_RDMA);
}

/* ---- STags ----------------------------------------------------------------------------------- */

/* Commands whose data must move by RDMA, but without an STag: the connection ends. */
static void no_tags(void)
{
    static const unsigned char codes[] = {0x28, 0x2a};

    for (size_t i = 0; i < sizeof(codes); i++) {
        unsigned char bhs[48];
        struct wire wire;

        WIRE_LOGIN(&wire, &bed, WIRE_RDMA, "InitialR2T=Yes");
        do {
            wire_begin(&wire, bhs, 0x01, codes[i] == 0x28 ? 0xc1 : 0xa1);
            wire_put(bhs + 20, 4096, 4);
            bhs[32] = codes[i];
            bhs[40] = 8;
            wire_send(&wire, bhs, NULL, 0);
        } while (wire_receive(&wire, &pdu)); /* an attention comes first */
        wire_free(&wire);
        check_alive();
    }
}

/* The STag is not the initiator's: the initiator says so, and nothing else is affected. */
static void wrong_tag(void)
{
    static struct raw_segment segment;
    unsigned char bhs[48];
    struct wire wire;
    RAW_BYTES(terminate);

    WIRE_LOGIN(&wire, &bed, WIRE_RDMA, "InitialR2T=Yes");
    while (wire_read(&wire, 0, 4096, 4096, &pdu) != 0) {
    }
    wire_begin(&wire, bhs, 0x01, 0xa1);
    wire_put(bhs + 20, 4096, 4);
    bhs[32] = 0x2a;
    bhs[40] = 8;
    wire_send_tagged(&wire, bhs, NULL, 0, false, true, UINT64_C(0xffffffffffffff00));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&wire.raw, &segment));
    raw_terminate(&terminate, 0, 1, 1, 0, NULL, 0, NULL, 0);
    (void)raw_send_ulpdu(&wire.raw, &terminate);
    CHECK(!wire_receive(&wire, &pdu));
    wire_free(&wire);
    check_alive();
}

/* The initiator announces a Hello, and sends another message first. */
static void no_hello(void)
{
    unsigned char bhs[48];
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_CONVERT, "iSERHelloRequired=Yes");
    wire_begin(&wire, bhs, 0x40, 0x80);
    wire_put(bhs + 20, 0xffffffff, 4);
    wire_send(&wire, bhs, NULL, 0);
    await_end(&wire, 0);
    wire_free(&wire);
    check_alive();
}

/* The target does not answer PDUs after a logout. */
static void after_logout(void)
{
    static const unsigned ways[] = {WIRE_PLAIN, WIRE_RDMA};

    for (size_t i = 0; i < 2; i++) {
        unsigned char logout[48], command[48];
        struct wire wire;

        WIRE_LOGIN(&wire, &bed, (enum wire_way)ways[i], "InitialR2T=Yes");
        wire_begin(&wire, logout, 0x06, 0x80);
        wire_begin(&wire, command, 0x01, 0x80);
        wire_send(&wire, logout, NULL, 0);
        wire_send(&wire, command, NULL, 0);
        if (wire_receive(&wire, &pdu)) /* the answer may be lost with the connection */
            CHECK_EQ(0x26, pdu.bhs[0]);
        CHECK(!wire_receive(&wire, &pdu));
        wire_free(&wire);
    }
    check_alive();
}

/* ---- logins ---------------------------------------------------------------------------------- */

static const struct {
    const char *what, *keys;
    size_t length;
    unsigned opcode, flags, status;
    unsigned octet_3;
} logins[] = {
#define TEXT(keys) keys, sizeof(keys)
#define NAME       "InitiatorName=iqn.2026-11.example:i\0"
    {"no name", TEXT("TargetName=" WIRE_TARGET), 0x43, 0x87, 0x0207, 0},
    {"an empty name", TEXT("InitiatorName=\0TargetName=" WIRE_TARGET), 0x43, 0x87, 0x0200, 0},
    {"a name of two lines", TEXT("InitiatorName=iqn.a\n0 01 1 1 1 iqn.b\0TargetName=" WIRE_TARGET),
     0x43, 0x87, 0x0200, 0},
    {"a name with a blank", TEXT("InitiatorName=iqn.a b\0TargetName=" WIRE_TARGET), 0x43, 0x87,
     0x0200, 0},
    {"a name with a comma", TEXT("InitiatorName=iqn.a,i,0x400001370000\0TargetName=" WIRE_TARGET),
     0x43, 0x87, 0x0200, 0},
    {"a name that deletes", TEXT("InitiatorName=iqn.a\177\0TargetName=" WIRE_TARGET), 0x43, 0x87,
     0x0200, 0},
    {"no target", TEXT(NAME "SessionType=Normal"), 0x43, 0x87, 0x0207, 0},
    {"another target", TEXT(NAME "TargetName=iqn.2026-11.example:none"), 0x43, 0x87, 0x0203, 0},
    {"a type that is none", TEXT(NAME "SessionType=Odd"), 0x43, 0x87, 0x0209, 0},
    {"a later version", TEXT(NAME "TargetName=" WIRE_TARGET), 0x43, 0x87, 0x0205, 1},
    {"a stage that is none", TEXT(NAME "TargetName=" WIRE_TARGET), 0x43, 0x8b, 0x0200, 0},
    {"from the last stage to the first", TEXT(NAME), 0x43, 0x84, 0x0200, 0},
    {"on, and more to come", TEXT(NAME), 0x43, 0xc7, 0x0200, 0},
    {"a command", TEXT(NAME), 0x01, 0x80, 0x020b, 0},
    {"a key twice", TEXT(NAME "InitialR2T=No\0InitialR2T=No"), 0x43, 0x87, 0x0200, 0},
    {"no equals sign", TEXT(NAME "InitialR2T"), 0x43, 0x87, 0x0200, 0},
    {"no end", NAME "Initial", sizeof(NAME "Initial") - 1, 0x43, 0x87, 0x0200, 0},
};

static void bad_logins(void)
{
    for (size_t i = 0; i < sizeof(logins) / sizeof(logins[0]); i++)
        for (unsigned way = WIRE_PLAIN; way <= WIRE_RDMA; way += WIRE_RDMA) {
            unsigned char bhs[48];
            struct wire wire;

            check_context(logins[i].what);
            wire_reach(&wire, &bed, (enum wire_way)way);
            wire_begin(&wire, bhs, logins[i].opcode, logins[i].flags);
            bhs[3] = (unsigned char)logins[i].octet_3;
            wire_send(&wire, bhs, logins[i].keys, logins[i].length);
            wire_expect(&wire, &pdu, 0x23);
            CHECK_EQ(logins[i].status, wire_get(pdu.bhs + 36, 2));
            CHECK_EQ(0, pdu.bhs[1] & 0x80);
            CHECK(!wire_receive(&wire, &pdu));
            wire_free(&wire);
        }
    check_context(NULL);
    check_alive();
}

static const struct {
    const char *initiators[2], *networks[2];
    unsigned status;
} lists[] = {{{"iqn.2026-11.example:i"}, {"127.0.0.0/8"}, 0},
             {{"iqn.2026-11.example:i"},
              {
                  "::1/128",
              },
              0x0202},
             {{"iqn.2026-11.example:i"}, {"126.0.0.0/8"}, 0x0202},
             {{"iqn.2026-11.example:ii"}, {"127.0.0.1"}, 0x0202}};

/* Initiators that the lists of the target do not name. */
static void not_allowed(void)
{
    static const char keys[] = NAME "TargetName=" WIRE_TARGET "\0RDMAExtensions=Yes";

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        wire_close(&bed);
        wire_prepare(&bed);
        bed.target_config.initiators = lists[i].initiators;
        bed.target_config.networks = lists[i].networks;
        wire_open(&bed);
        for (unsigned way = WIRE_PLAIN; way <= WIRE_RDMA; way += WIRE_RDMA) {
            unsigned char bhs[48];
            struct wire wire;

            wire_reach(&wire, &bed, (enum wire_way)way);
            wire_begin(&wire, bhs, 0x43, 0x87);
            wire_send(&wire, bhs, keys, sizeof(keys));
            wire_expect(&wire, &pdu, 0x23);
            CHECK_EQ(lists[i].status, wire_get(pdu.bhs + 36, 2));
            wire_free(&wire);
        }
    }
}

/* ---- connections that never log in ----------------------------------------------------------- */

#define SILENT 96

/*
 * The target keeps 16 such connections from one address and drops the oldest ones. An honest
 * initiator gets through.
 */
static void half_logins(void)
{
    struct raw_peer silent[SILENT];
    char octet;

    for (unsigned i = 0; i < SILENT; i++) {
        raw_connect(&silent[i], bed.port);
        if (i % 3 > 0) /* a part of a frame */
            CHECK(raw_send_part(&silent[i], i % 3 > 1 ? "MPA ID Req" : "C\x87", 2));
        if (i % 16 == 15)
            check_alive();
    }
    for (unsigned i = 0; i < SILENT - 16; i++) {
        size_t got;

        CHECK(raw_receive(&silent[i], &octet, 1, &got) != RAW_TIMEOUT);
    }
    check_alive();
    for (unsigned i = 0; i < SILENT; i++)
        raw_close(&silent[i]);
}

/* A login has a time limit, however far it has come. */
static void slow_logins(void)
{
    struct wire silent, begun, rdma;
    unsigned char bhs[48];

    wire_connect(&silent, &bed, WIRE_PLAIN);
    wire_connect(&begun, &bed, WIRE_PLAIN);
    wire_begin(&begun, bhs, 0x43, 0x40);
    wire_send(&begun, bhs, "InitiatorName=", 14);
    wire_expect(&begun, &pdu, 0x23);
    wire_connect(&rdma, &bed, WIRE_RDMA);
    wire_mpa(&rdma);
    CHECK(!wire_receive(&silent, &pdu));
    CHECK(!wire_receive(&begun, &pdu));
    CHECK(!wire_receive(&rdma, &pdu));
    wire_free(&silent);
    wire_free(&begun);
    wire_free(&rdma);
    check_alive();
}

/* Logs in for discovery. */
static void discover(struct wire *wire, enum wire_way way, unsigned number)
{
    static const char keys[] = NAME "SessionType=Discovery";
    unsigned char bhs[48];

    wire_reach(wire, &bed, way);
    wire_begin(wire, bhs, 0x43, 0x87);
    bhs[8] = 0x40;
    bhs[13] = (unsigned char)number;
    wire_send(wire, bhs, keys, sizeof(keys));
    wire_expect(wire, &pdu, 0x23);
    CHECK_EQ(0x87, pdu.bhs[1]);
}

/*
 * Discovery asks for no secret here, so sessions of it count with connections that have not logged
 * in, and the oldest ones end. The time limit of a login does not end them.
 */
static void discoveries(void)
{
    struct wire wires[SILENT], silent;
    unsigned char bhs[48];

    for (unsigned i = 0; i < SILENT; i++)
        discover(&wires[i], i % 2 ? WIRE_RDMA : WIRE_PLAIN, i);
    for (unsigned i = 0; i < SILENT - 16; i++)
        CHECK(!wire_receive(&wires[i], &pdu));
    wire_connect(&silent, &bed, WIRE_PLAIN);
    CHECK(!wire_receive(&silent, &pdu));
    for (unsigned i = SILENT - 15; i < SILENT; i++) {
        wire_begin(&wires[i], bhs, 0x04, 0x80);
        wire_put(bhs + 20, 0xffffffff, 4);
        wire_send(&wires[i], bhs, "SendTargets=All", 16);
        wire_expect(&wires[i], &pdu, 0x24);
    }
    check_alive();
    for (unsigned i = 0; i < SILENT; i++)
        wire_free(&wires[i]);
    wire_free(&silent);
}

/* ---- buffers --------------------------------------------------------------------------------- */

#define HOARD  16u
#define BLOCKS 8192u /* 4 MiB */

static void begin_null_read(struct wire *wire)
{
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x01, 0xc1);
    bhs[9] = 1;
    wire_put(bhs + 20, BLOCKS * WIRE_BLOCK, 4);
    bhs[32] = 0x28;
    wire_put(bhs + 39, BLOCKS, 2);
    wire_send(wire, bhs, NULL, 0);
}

/* Returns the status. */
static unsigned end_null_read(struct wire *wire)
{
    do {
        CHECK(wire_receive(wire, &pdu));
    } while (pdu.bhs[0] == 0x25 && !(pdu.bhs[1] & 1));
    return pdu.bhs[3];
}

static unsigned null_read(struct wire *wire)
{
    begin_null_read(wire);
    return end_null_read(wire);
}

static void nothing(struct wire_bed *target)
{
    (void)target;
}

/* An initiator that reads nothing gets no more buffers than it leaves to others. */
static void hoarding(void)
{
    struct wire hoards, other;
    unsigned busy = 0;

    WIRE_LOGIN(&hoards, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    WIRE_LOGIN(&other, &bed, WIRE_DIGESTS, "InitialR2T=Yes");
    (void)null_read(&hoards); /* an attention */
    (void)null_read(&other);
    for (unsigned i = 0; i < HOARD; i++)
        begin_null_read(&hoards);
    wire_run(&bed, nothing); /* the target has taken them */
    wire_run(&bed, nothing);
    CHECK_EQ(0, null_read(&other));
    for (unsigned i = 0; i < HOARD; i++) {
        unsigned status = end_null_read(&hoards);

        CHECK(status == 0 || status == 8);
        busy += status == 8;
    }
    CHECK(busy > 0 && busy < HOARD);
    CHECK_EQ(0, null_read(&hoards));
    wire_logout(&other);
    wire_logout(&hoards);
}

/* ---- the end --------------------------------------------------------------------------------- */

static struct wire gone[3];

static void reset_all(void)
{
    for (size_t i = 0; i < 3; i++)
        raw_close_with_reset(&gone[i].raw);
}

/*
 * The initiators of these sessions are cut off. The stopping target notices when it sends to them.
 */
static void gone_at_the_stop(void)
{
    for (size_t i = 0; i < 3; i++)
        WIRE_LOGIN(&gone[i], &bed, WIRE_PLAIN, "InitialR2T=Yes");
    bed.before_stop = reset_all;
    wire_close(&bed);
    for (size_t i = 0; i < 3; i++)
        free(gone[i].memory);
}

int main(void)
{
    static void (*const tests[])(void) = {
        lying,       wrong_data,  wrong_unasked_data, wrong_digests, wrong_data_digest,
        not_allowed, no_tags,     wrong_tag,          no_hello,      after_logout,
        bad_logins,  half_logins, slow_logins,        discoveries,   hoarding};

    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        wire_prepare(&bed);
        bed.config.half_logins = 32;
        bed.config.buffers = 16 << 20;
        if (tests[i] == slow_logins || tests[i] == discoveries)
            bed.config.login_timeout_ms = 3000;
        wire_open(&bed);
        tests[i]();
        wire_close(&bed);
    }
    wire_prepare(&bed);
    wire_open(&bed);
    gone_at_the_stop();
    return 0;
}
