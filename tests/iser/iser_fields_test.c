/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each field of each PDU of an initiator lies, in turn, with several values. Whatever it says, the
 * target answers only what it was asked, in order, touches no memory that it was not given, and
 * either ends the connection or goes on.
 */
#include "iser_wire_kit.h"

#include <string.h>
#include <sys/socket.h>

#define KEYS     "InitialR2T=Yes\0ImmediateData=Yes"
#define LENGTH   4096u
#define SENTINEL 1000u /* a block that no lie names */
#define WIRE_ITT 9u    /* the first request has the next tag */

#define NONE UINT32_C(0xffffffff)

static struct wire_bed bed;
static struct wire_pdu pdu;
static uint32_t ignored = NONE; /* the tag of a request that is not answered */

struct kind {
    const char *what;
    unsigned opcode, flags, code; /* code: of the CDB */
    uint32_t at_20;
    bool reads, writes;
};

static const struct kind kinds[] = {
    {"READ(10)", 0x01, 0xc1, 0x28, LENGTH, true, false},
    {"WRITE(10)", 0x01, 0xa1, 0x2a, LENGTH, false, true},
    {"COMPARE AND WRITE", 0x01, 0xa1, 0x89, 1024, false, true},
    {"PERSISTENT RESERVE OUT", 0x01, 0xa1, 0x5f, 24, false, true},
    {"INQUIRY", 0x01, 0xc1, 0x12, 96, true, false},
    {"NOP-Out", 0x40, 0x80, 0, 0xffffffff, false, false},
    {"ABORT TASK", 0x42, 0x81, 0, 0, false, false},
    {"LUN RESET", 0x02, 0x85, 0, 0, false, false},
    {"Login Request", 0x43, 0x87, 0, 0, false, false},
    {"Text Request", 0x04, 0x80, 0, 0xffffffff, false, false},
    {"Data-Out", 0x05, 0x80, 0, 0, false, false},
    {"SNACK", 0x10, 0x80, 0, 0, false, false},
    {"Logout Request", 0x46, 0x81, 0, 0, false, false},
};

/* Lengths come last: octets that are missing keep the target waiting. */
static const struct field {
    unsigned at, octets;
} fields[] = {{0, 1},  {1, 1},  {2, 1},  {3, 1},  {8, 4},  {12, 4}, {16, 4}, {20, 4},
              {24, 4}, {28, 4}, {32, 4}, {36, 4}, {40, 4}, {44, 4}, {4, 1},  {5, 3}};

static const uint32_t values[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

#define COUNT(array) (sizeof(array) / sizeof(array[0]))

static bool is_length(const struct field *field)
{
    return field->at == 4 || field->at == 5;
}

/* ---- what a target may say ------------------------------------------------------------------- */

static bool takes_stat_sn(void)
{
    return pdu.bhs[0] != 0x31 && (pdu.bhs[0] != 0x25 || (pdu.bhs[1] & 1)) &&
           (pdu.bhs[0] != 0x20 || wire_get(pdu.bhs + 16, 4) != 0xffffffff);
}

/* Returns true for the tag of a request of this session, or a tag that has lied. */
static bool is_known(const struct wire *wire, uint32_t itt)
{
    for (size_t i = 0; i < COUNT(values); i++)
        if (itt == values[i])
            return true;
    return itt > WIRE_ITT && itt <= wire->itt;
}

/*
 * Receives a PDU. Its tag is one that this session has used: answers may come late. Returns false
 * at the end of the connection.
 */
static bool receive_checked(struct wire *wire, const unsigned char *lie)
{
    static const unsigned char opcodes[] = {0x20, 0x21, 0x22, 0x24, 0x25, 0x26, 0x31, 0x3f};
    uint32_t stat_sn = wire->exp_stat_sn;

    if (!wire_receive(wire, &pdu))
        return false;
    CHECK(memchr(opcodes, pdu.bhs[0], sizeof(opcodes)));
    if (takes_stat_sn())
        CHECK_EQ(stat_sn, wire_get(pdu.bhs + 24, 4));
    /* The window is never smaller than nothing. */
    CHECK((int32_t)(wire_get(pdu.bhs + 32, 4) - wire_get(pdu.bhs + 28, 4)) >= -1);
    CHECK(is_known(wire, wire_get(pdu.bhs + 16, 4)));
    CHECK(ignored == NONE || wire_get(pdu.bhs + 16, 4) != ignored);
    CHECK(pdu.bhs[0] != 0x3f || (pdu.length == 48 && memcmp(pdu.data, lie, 4) == 0));
    return true;
}

/* Returns true if the session goes on behind the lie: it answers a ping. */
static bool goes_on(struct wire *wire, const unsigned char *lie, bool last)
{
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x40, 0x80);
    wire_put(bhs + 20, 0xffffffff, 4);
    wire_send(wire, bhs, NULL, 0);
    if (last)
        (void)shutdown(wire->raw.fd, SHUT_WR);
    while (receive_checked(wire, lie))
        if (pdu.bhs[0] == 0x20 && wire_get(pdu.bhs + 16, 4) == wire->itt) {
            wire->cmd_sn = wire_get(pdu.bhs + 28, 4);
            return !last;
        }
    return false;
}

/* ---- the liar -------------------------------------------------------------------------------- */

static void log_in(struct wire *wire, enum wire_way way)
{
    static const unsigned char test_unit_ready[16];

    WIRE_LOGIN(wire, &bed, way, KEYS);
    while (wire_command(wire, test_unit_ready, &pdu) != 0)
        CHECK_EQ(2, pdu.bhs[3]);
}

/* A PDU that tells the truth. */
static void make(struct wire *wire, const struct kind *kind, unsigned char bhs[48])
{
    wire_begin(wire, bhs, kind->opcode, kind->flags);
    wire_put(bhs + 20, kind->at_20, 4);
    bhs[32] = (unsigned char)kind->code;
    if (kind->code == 0x28 || kind->code == 0x2a)
        bhs[40] = LENGTH / WIRE_BLOCK;
    else if (kind->code == 0x89)
        bhs[45] = 1;
    else if (kind->code == 0x5f)
        bhs[40] = 24;
    else if (kind->code == 0x12)
        bhs[36] = 96;
}

static void tell(struct wire *wire, const struct kind *kind, const struct field *field,
                 uint32_t value, unsigned char bhs[48])
{
    make(wire, kind, bhs);
    wire_put(bhs + field->at, value, field->octets);
    memset(wire->memory, 0x55, LENGTH);
    if (is_length(field))
        wire_send_as_is(wire, bhs, wire->memory, 8);
    else
        wire_send_tagged(wire, bhs, NULL, 0, kind->reads, kind->writes, WIRE_BASE);
}

/* Opens a write that waits for data, so that a Data-Out has something to lie about. */
static void open_write(struct wire *wire)
{
    unsigned char bhs[48];

    wire_begin_write(wire, bhs, 0, LENGTH, 0, 0);
    wire_expect(wire, &pdu, 0x31);
}

/* Returns true if the target has to ignore the request: its CmdSN is outside the window. */
static bool is_outside(const struct wire *wire, const struct kind *kind, const struct field *field,
                       uint32_t cmd_sn)
{
    uint32_t max = wire_get(pdu.bhs + 32, 4); /* of the PDU that came last */
    bool numbered = kind->opcode == 0x01 || kind->opcode == 0x02 || kind->opcode == 0x04;

    return numbered && field->at == 24 && cmd_sn - wire->cmd_sn > max - wire->cmd_sn;
}

/* The session goes on as if there had been no request. */
static void check_ignored(struct wire *wire, uint32_t cmd_sn, const unsigned char *lie)
{
    ignored = wire->itt;
    CHECK(goes_on(wire, lie, false));
    CHECK_EQ(cmd_sn, wire->cmd_sn);
    ignored = NONE;
}

static void lie_in_field(struct wire *wire, enum wire_way way, const struct kind *kind,
                         const struct field *field)
{
    for (size_t i = 0; i < COUNT(values); i++) {
        unsigned char bhs[48];
        uint32_t cmd_sn;
        bool outside;

        if (wire->raw.fd < 0)
            log_in(wire, way);
        if (kind->opcode == 0x05 && !wire->rdma)
            open_write(wire);
        cmd_sn = wire->cmd_sn;
        outside = is_outside(wire, kind, field, values[i]);
        tell(wire, kind, field, values[i], bhs);
        if (outside)
            check_ignored(wire, cmd_sn, bhs);
        else if (!goes_on(wire, bhs, is_length(field))) {
            wire_free(wire);
            wire->raw.fd = -1;
        }
    }
}

static void lie_in_all(enum wire_way way, const struct kind *kind)
{
    struct wire wire = {.raw.fd = -1};

    check_context(kind->what);
    for (size_t i = 0; i < COUNT(fields); i++)
        lie_in_field(&wire, way, kind, &fields[i]);
    CHECK(wire.raw.fd < 0);
}

/* ---- logins ---------------------------------------------------------------------------------- */

#define LIAR "InitiatorName=iqn.2026-11.example:liar\0TargetName=" WIRE_TARGET

static void lie_at_login(enum wire_way way, const struct field *field, uint32_t value)
{
    static const char keys[(sizeof(LIAR) + 3) / 4 * 4] = LIAR;
    unsigned char bhs[48];
    struct wire wire;

    wire_reach(&wire, &bed, way);
    wire_begin(&wire, bhs, 0x43, 0x87);
    wire_put(bhs + 5, sizeof(LIAR), 3);
    wire_put(bhs + field->at, value, field->octets);
    wire_send_as_is(&wire, bhs, keys, sizeof(keys));
    (void)shutdown(wire.raw.fd, SHUT_WR);
    while (wire_receive(&wire, &pdu))
        CHECK_EQ(0x23, pdu.bhs[0]);
    wire_free(&wire);
}

static void lie_at_logins(enum wire_way way)
{
    check_context("a login");
    for (size_t i = 0; i < COUNT(fields); i++)
        for (size_t j = 0; j < COUNT(values); j++)
            lie_at_login(way, &fields[i], values[j]);
}

/* ---- the iSER header ------------------------------------------------------------------------- */

/* A ping behind each first octet: only control messages are answered, whatever their flags. */
static void lie_in_iser(void)
{
    struct wire wire = {.raw.fd = -1};

    check_context("the iSER header");
    for (unsigned first = 0; first < 256; first++) {
        unsigned char message[76] = {(unsigned char)first}, *bhs = message + 28;
        RAW_BYTES(ulpdu);

        if (wire.raw.fd < 0)
            log_in(&wire, WIRE_RDMA);
        wire_begin(&wire, bhs, 0x40, 0x80);
        wire_put(bhs + 20, 0xffffffff, 4);
        raw_untagged(&ulpdu, RAW_SEND, 0, ++wire.send_msn, 0, message, sizeof(message), true, 0);
        CHECK(raw_send_ulpdu(&wire.raw, &ulpdu));
        CHECK_EQ(first >> 4 == 1, receive_checked(&wire, bhs));
        if (first >> 4 == 1)
            continue;
        wire_free(&wire);
        wire.raw.fd = -1;
    }
    CHECK(wire.raw.fd < 0);
}

/* ---- what nobody may have changed ------------------------------------------------------------ */

static void fill_sentinel(void)
{
    struct wire wire;

    log_in(&wire, WIRE_PLAIN);
    memset(wire.memory, 0xa7, WIRE_BLOCK);
    CHECK_EQ(0, wire_write(&wire, SENTINEL, WIRE_BLOCK, WIRE_BLOCK, 0, &pdu));
    wire_logout(&wire);
}

static void check_sentinel(void)
{
    struct wire wire;

    check_context("an honest initiator");
    log_in(&wire, WIRE_DIGESTS);
    CHECK_EQ(0, wire_read(&wire, SENTINEL, WIRE_BLOCK, WIRE_BLOCK, &pdu));
    for (unsigned i = 0; i < WIRE_BLOCK; i++)
        CHECK_EQ(0xa7, wire.memory[i]);
    wire_logout(&wire);
}

int main(void)
{
    static const enum wire_way ways[] = {WIRE_PLAIN, WIRE_RDMA};

    wire_prepare(&bed);
    wire_open(&bed);
    fill_sentinel();
    for (size_t i = 0; i < COUNT(ways); i++) {
        for (size_t j = 0; j < COUNT(kinds); j++)
            lie_in_all(ways[i], &kinds[j]);
        lie_at_logins(ways[i]);
        check_sentinel();
    }
    lie_in_iser();
    check_sentinel();
    wire_close(&bed);
    return 0;
}
