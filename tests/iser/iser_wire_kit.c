/* SPDX-License-Identifier: BSD-2-Clause */
#include "iser_wire_kit.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IRD_LINUX 128u

static const unsigned char isid[6] = {0x40, 0, 1, 0x37}; /* the last octet is the way */

uint32_t wire_get(const unsigned char *at, unsigned octets)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < octets; i++)
        value = value << 8 | at[i];
    return value;
}

void wire_put(unsigned char *at, uint64_t value, unsigned octets)
{
    for (unsigned i = 0; i < octets; i++)
        at[i] = (unsigned char)(value >> 8 * (octets - 1 - i));
}

/* ---- sending --------------------------------------------------------------------------------- */

void wire_begin(struct wire *wire, unsigned char bhs[48], unsigned opcode, unsigned flags)
{
    memset(bhs, 0, 48);
    bhs[0] = (unsigned char)opcode;
    bhs[1] = (unsigned char)flags;
    wire_put(bhs + 16, ++wire->itt, 4);
    wire_put(bhs + 24, wire->cmd_sn, 4);
    wire_put(bhs + 28, wire->exp_stat_sn, 4);
    if (!(opcode & 0x40) && (opcode & 0x3f) != 5)
        wire->cmd_sn++;
}

static void add_crc(struct raw_bytes *out, size_t from)
{
    uint32_t crc = raw_crc32c(0, out->data + from, out->len - from);

    for (int i = 0; i < 4; i++)
        raw_add_byte(out, crc >> 8 * i & 255);
}

/* Adds header, data and padding, and digests if the stream has them. */
static void add_pdu(struct raw_bytes *out, const struct wire *wire, const unsigned char bhs[48],
                    const void *data, size_t length)
{
    unsigned char header[48];
    bool digests = wire->digests && !wire->rdma;
    size_t start = out->len;

    memcpy(header, bhs, 48);
    wire_put(header + 5, length, 3);
    raw_add(out, header, 48);
    if (digests)
        add_crc(out, start);
    start = out->len;
    raw_add(out, data, length);
    raw_add_fill(out, 0, (4 - length % 4) % 4);
    if (digests && length > 0)
        add_crc(out, start);
}

static void send_message(struct wire *wire, const struct raw_bytes *message)
{
    RAW_BYTES(ulpdu);

    raw_untagged(&ulpdu, RAW_SEND, 0, ++wire->send_msn, 0, message->data, message->len, true, 0);
    (void)raw_send_ulpdu(&wire->raw, &ulpdu);
}

static void send_with(struct wire *wire, const unsigned char iser[28], const unsigned char bhs[48],
                      const void *data, size_t length)
{
    RAW_BYTES(out);

    if (wire->rdma)
        raw_add(&out, iser, 28);
    add_pdu(&out, wire, bhs, data, length);
    if (wire->rdma)
        send_message(wire, &out);
    else
        (void)raw_send(&wire->raw, &out);
}

void wire_send(struct wire *wire, const unsigned char bhs[48], const void *data, size_t length)
{
    static const unsigned char control[28] = {0x10};

    send_with(wire, control, bhs, data, length);
}

void wire_send_as_is(struct wire *wire, const unsigned char bhs[48], const void *rest,
                     size_t length)
{
    static const unsigned char control[28] = {0x10};
    RAW_BYTES(out);

    if (wire->rdma)
        raw_add(&out, control, 28);
    raw_add(&out, bhs, 48);
    raw_add(&out, rest, length);
    if (wire->rdma)
        send_message(wire, &out);
    else
        (void)raw_send(&wire->raw, &out);
}

void wire_send_tagged(struct wire *wire, unsigned char bhs[48], const void *data, size_t length,
                      bool read, bool write, uint64_t write_base)
{
    unsigned char iser[28] = {0x10};

    if (write) {
        iser[0] |= 8;
        wire_put(iser + 4, WIRE_STAG, 4);
        wire_put(iser + 8, write_base, 8);
    }
    if (read) {
        iser[0] |= 4;
        wire_put(iser + 16, WIRE_STAG, 4);
        wire_put(iser + 20, WIRE_BASE, 8);
    }
    send_with(wire, iser, bhs, data, length);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/*
 * Returns true if something was received, and false at the end of the connection. Silence fails the
 * test.
 */
static bool is_there(enum raw_result result)
{
    CHECK(result != RAW_TIMEOUT);
    return result == RAW_OK;
}

static bool receive_octets(struct wire *wire, void *to, size_t length)
{
    size_t got = 0;

    return length == 0 || is_there(raw_receive(&wire->raw, to, length, &got));
}

static bool receive_checked(struct wire *wire, void *to, size_t length, size_t padded)
{
    unsigned char digest[4];
    uint32_t crc;

    if (!receive_octets(wire, to, padded))
        return false;
    if (!wire->digests || length == 0)
        return true;
    crc = raw_crc32c(0, to, padded);
    CHECK(receive_octets(wire, digest, 4));
    CHECK_EQ(crc, (uint32_t)digest[3] << 24 | digest[2] << 16 | digest[1] << 8 | digest[0]);
    return true;
}

static bool receive_plain(struct wire *wire, struct wire_pdu *pdu)
{
    size_t length;

    if (!receive_checked(wire, pdu->bhs, 48, 48))
        return false;
    CHECK_EQ(0, pdu->bhs[4]);
    length = wire_get(pdu->bhs + 5, 3);
    CHECK(length <= sizeof(pdu->data) - 4);
    CHECK(receive_checked(wire, pdu->data, length, (length + 3) / 4 * 4));
    pdu->length = length;
    return true;
}

static void take_write(struct wire *wire, const struct raw_segment *segment)
{
    uint64_t at = segment->to - WIRE_BASE;

    CHECK_EQ(RAW_WRITE, segment->op);
    CHECK_EQ(WIRE_STAG, segment->stag);
    CHECK(at <= WIRE_MEMORY && segment->len <= WIRE_MEMORY - at);
    memcpy(wire->memory + at, segment->payload, segment->len);
    wire->writes++;
}

void wire_answer_read(struct wire *wire, const struct raw_segment *segment)
{
    const unsigned char *request = segment->payload;
    uint32_t sink = wire_get(request, 4), left = wire_get(request + 12, 4);
    uint64_t to = (uint64_t)wire_get(request + 4, 4) << 32 | wire_get(request + 8, 4);
    uint64_t from = (uint64_t)wire_get(request + 20, 4) << 32 | wire_get(request + 24, 4);
    uint64_t at = from - WIRE_BASE;
    RAW_BYTES(ulpdu);

    CHECK_EQ(28, segment->len);
    CHECK_EQ(WIRE_STAG, wire_get(request + 16, 4));
    CHECK(at <= WIRE_MEMORY && left <= WIRE_MEMORY - at);
    wire->reads++;
    wire->last_read_at = at;
    wire->last_read_length = left;
    do {
        uint32_t part = left < 16000 ? left : 16000;

        raw_tagged(&ulpdu, RAW_READ_RESPONSE, sink, to, wire->memory + at, part, part == left);
        CHECK(raw_send_ulpdu(&wire->raw, &ulpdu));
        to += part;
        at += part;
        left -= part;
    } while (left > 0);
}

/* Receives one whole Send. Serves everything before it. */
static bool receive_send(struct wire *wire, unsigned char *message, size_t room, size_t *length,
                         struct wire_pdu *pdu)
{
    static struct raw_segment segment;

    *length = 0;
    for (;;) {
        if (!is_there(raw_receive_fpdu(&wire->raw, &segment)))
            return false;
        if (segment.tagged) {
            take_write(wire, &segment);
        } else if (segment.qn == 1) {
            wire_answer_read(wire, &segment);
        } else {
            if (segment.qn != 0)
                return false; /* a Terminate */
            CHECK(segment.mo == *length && segment.len <= room - *length);
            memcpy(message + *length, segment.payload, segment.len);
            *length += segment.len;
            pdu->send_op = segment.op;
            pdu->invalidated = segment.stag;
            if (segment.last)
                return true;
        }
    }
}

static bool receive_rdma(struct wire *wire, struct wire_pdu *pdu)
{
    static unsigned char message[16384];
    size_t length;

    if (!receive_send(wire, message, sizeof(message), &length, pdu))
        return false;
    CHECK(length >= 28);
    memcpy(pdu->iser, message, 28);
    if (message[0] >> 4 != 1) {
        CHECK_EQ(28, length);
        pdu->length = 0;
        return true;
    }
    CHECK(length >= 76);
    memcpy(pdu->bhs, message + 28, 48);
    pdu->length = wire_get(pdu->bhs + 5, 3);
    CHECK(length - 76 >= pdu->length && length - 76 <= pdu->length + 4);
    memcpy(pdu->data, message + 76, pdu->length);
    return true;
}

bool wire_receive(struct wire *wire, struct wire_pdu *pdu)
{
    unsigned opcode;

    if (!(wire->rdma ? receive_rdma(wire, pdu) : receive_plain(wire, pdu)))
        return false;
    opcode = pdu->bhs[0];
    /* StatSN: R2T and pings do not take one. Data-In takes one only with a status. */
    if (opcode != 0x31 && !(opcode == 0x20 && wire_get(pdu->bhs + 16, 4) == 0xffffffff) &&
        !(opcode == 0x25 && !(pdu->bhs[1] & 1)))
        wire->exp_stat_sn = wire_get(pdu->bhs + 24, 4) + 1;
    return true;
}

void wire_expect(struct wire *wire, struct wire_pdu *pdu, unsigned opcode)
{
    if (!wire_receive(wire, pdu))
        CHECK_FAIL("the connection has ended (%s), a PDU %02x is expected", wire->raw.error,
                   opcode);
    CHECK_EQ(opcode, pdu->bhs[0]);
}

/* ---- connecting ------------------------------------------------------------------------------ */

void wire_connect(struct wire *wire, const struct wire_bed *bed, enum wire_way way)
{
    memset(wire, 0, sizeof(*wire));
    raw_connect(&wire->raw, bed->port);
    wire->raw.between = bed->between;
    wire->way = way;
    wire->ird = bed->ird ? bed->ird : IRD_LINUX;
    wire->cmd_sn = WIRE_CMD_SN;
    wire->exp_stat_sn = WIRE_STAT_SN;
    wire->itt = 9;
    wire->target_max = 8192;
    wire->memory = calloc(1, WIRE_MEMORY);
    CHECK(wire->memory);
}

void wire_free(struct wire *wire)
{
    raw_close(&wire->raw);
    free(wire->memory);
}

/* Sends the Request as siw does for ib_iser. Remote invalidation: bit 0x40 of octet 0 is clear. */
static void send_request(struct wire *wire)
{
    RAW_BYTES(out);
    RAW_BYTES(data);

    raw_add_be32(&data, wire->ird << 16 | 1); /* ORD 1; no peer-to-peer model */
    if (wire->way == WIRE_RDMA || wire->way == WIRE_RDMA_INVALIDATE)
        raw_add_be32(&data, wire->way == WIRE_RDMA ? 0xc0000000u : 0x80000000u);
    raw_mpa(&out, false, RAW_MPA_S | RAW_MPA_C, 2, data.data, data.len);
    CHECK(raw_send(&wire->raw, &out));
}

static void take_reply(struct wire *wire)
{
    struct raw_mpa_frame reply;

    CHECK_EQ(RAW_OK, raw_receive_mpa(&wire->raw, &reply));
    CHECK(reply.reply && !(reply.flags & RAW_MPA_R));
    CHECK(reply.flags & RAW_MPA_S);
    if (wire->way == WIRE_RDMA || wire->way == WIRE_RDMA_INVALIDATE) {
        CHECK_EQ(8, reply.pd_len);
        CHECK_EQ(wire->way == WIRE_RDMA ? 0xc0000000u : 0x80000000u, wire_get(reply.pd + 4, 4));
    }
    CHECK((reply.word >> 16 & 0x3fff) >= 1); /* IRD */
    wire->raw.crc = (reply.flags & RAW_MPA_C) != 0;
    wire->rdma = true;
}

void wire_mpa(struct wire *wire)
{
    send_request(wire);
    take_reply(wire);
}

void wire_reach(struct wire *wire, const struct wire_bed *bed, enum wire_way way)
{
    wire_connect(wire, bed, way);
    if (way == WIRE_RDMA || way == WIRE_RDMA_INVALIDATE)
        wire_mpa(wire);
}

static void hello(struct wire *wire)
{
    unsigned char octets[28] = {0x20, 0xaa, 0, 4};
    static struct wire_pdu pdu;
    RAW_BYTES(out);

    raw_add(&out, octets, sizeof(octets));
    send_message(wire, &out);
    CHECK(receive_rdma(wire, &pdu));
    CHECK_EQ(0x30, pdu.iser[0]);
    CHECK_EQ(0xaa, pdu.iser[1]);
    CHECK(wire_get(pdu.iser + 2, 2) >= 1);
}

void wire_hold_back(struct wire *wire, bool hold)
{
    int value = hold;

    CHECK(setsockopt(wire->raw.fd, IPPROTO_TCP, TCP_CORK, &value, sizeof(value)) == 0);
}

static const char *find_key(const struct wire_pdu *pdu, const char *key)
{
    const char *at = (const char *)pdu->data, *end = at + pdu->length;

    for (; at < end; at += strlen(at) + 1)
        if (strncmp(at, key, strlen(key)) == 0 && at[strlen(key)] == '=')
            return at + strlen(key) + 1;
    return NULL;
}

static bool said(const struct wire_pdu *pdu, const char *key, const char *value, bool otherwise)
{
    const char *found = find_key(pdu, key);

    return found ? strcmp(found, value) == 0 : otherwise;
}

static uint32_t number(const struct wire_pdu *pdu, const char *key, uint32_t otherwise)
{
    const char *found = find_key(pdu, key);

    return found ? (uint32_t)strtoul(found, NULL, 10) : otherwise;
}

static void take_answers(struct wire *wire, const struct wire_pdu *pdu)
{
    wire->immediate_data = said(pdu, "ImmediateData", "Yes", true);
    wire->initial_r2t = said(pdu, "InitialR2T", "Yes", true);
    wire->burst = number(pdu, "MaxBurstLength", 262144);
    wire->first_burst = number(pdu, "FirstBurstLength", 65536);
    if (wire->way <= WIRE_DIGESTS)
        wire->target_max = number(pdu, "MaxRecvDataSegmentLength", 8192);
    else
        wire->target_max = number(pdu, "TargetRecvDataSegmentLength", 8192);
    CHECK(said(pdu, "TargetPortalGroupTag", "1", false));
    if (wire->way == WIRE_DIGESTS) {
        CHECK(said(pdu, "HeaderDigest", "CRC32C", false));
        CHECK(said(pdu, "DataDigest", "CRC32C", false));
    }
    if (wire->way >= WIRE_RDMA)
        CHECK(said(pdu, "RDMAExtensions", "Yes", false));
}

void wire_login_begin(struct wire *wire, const struct wire_bed *bed, enum wire_way way,
                      const char *keys, size_t keys_length)
{
    static const char names[] = "InitiatorName=iqn.2026-11.example:initiator\0"
                                "TargetName=" WIRE_TARGET "\0SessionType=Normal";
    static const char digests[] = "HeaderDigest=CRC32C,None\0DataDigest=CRC32C";
    static const char rdma[] = "InitiatorRecvDataSegmentLength=262144\0"
                               "TargetRecvDataSegmentLength=8192\0RDMAExtensions=Yes";
    static const char needs_hello[] = "iSERHelloRequired=Yes";
    unsigned char bhs[48];
    RAW_BYTES(text);

    wire_reach(wire, bed, way);
    raw_add(&text, names, sizeof(names));
    raw_add(&text, keys, keys_length);
    if (way == WIRE_DIGESTS)
        raw_add(&text, digests, sizeof(digests));
    if (way >= WIRE_RDMA)
        raw_add(&text, rdma, sizeof(rdma));
    if (way == WIRE_CONVERT_HELLO)
        raw_add(&text, needs_hello, sizeof(needs_hello));
    wire_begin(wire, bhs, 0x43, 0x87);
    memcpy(bhs + 8, isid, sizeof(isid));
    bhs[13] = (unsigned char)way;
    wire_hold_back(wire, way == WIRE_CONVERT_EARLY);
    wire_send(wire, bhs, text.data, text.len);
    if (way == WIRE_CONVERT_EARLY)
        send_request(wire);
    wire_hold_back(wire, false);
}

void wire_login_end(struct wire *wire)
{
    enum wire_way way = wire->way;
    static struct wire_pdu pdu;

    wire_expect(wire, &pdu, 0x23);
    if (wire_get(pdu.bhs + 36, 2) != 0)
        CHECK_FAIL("the login ends with status %04x", wire_get(pdu.bhs + 36, 2));
    CHECK_EQ(0x87, pdu.bhs[1]);
    CHECK(memcmp(pdu.bhs + 8, isid, 5) == 0);
    CHECK_EQ(way, pdu.bhs[13]);
    CHECK(wire_get(pdu.bhs + 14, 2) != 0);
    CHECK_EQ(WIRE_STAT_SN, wire_get(pdu.bhs + 24, 4)); /* the first StatSN is the expected one */
    CHECK_EQ(WIRE_CMD_SN, wire_get(pdu.bhs + 28, 4));  /* a login takes no CmdSN */
    take_answers(wire, &pdu);
    wire->digests = way == WIRE_DIGESTS;
    wire->base_is_solicited = way == WIRE_RDMA || way == WIRE_RDMA_INVALIDATE;
    if (way == WIRE_CONVERT || way == WIRE_CONVERT_HELLO)
        wire_mpa(wire);
    if (way == WIRE_CONVERT_EARLY)
        take_reply(wire);
    if (way == WIRE_CONVERT_HELLO)
        hello(wire);
}

void wire_login(struct wire *wire, const struct wire_bed *bed, enum wire_way way, const char *keys,
                size_t keys_length)
{
    wire_login_begin(wire, bed, way, keys, keys_length);
    wire_login_end(wire);
}

/* ---- commands -------------------------------------------------------------------------------- */

unsigned wire_command(struct wire *wire, const unsigned char *cdb, struct wire_pdu *response)
{
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x01, 0x80);
    memcpy(bhs + 32, cdb, 16);
    wire_send(wire, bhs, NULL, 0);
    wire_expect(wire, response, 0x21);
    return response->bhs[3];
}

static void put_cdb(unsigned char *bhs, unsigned code, uint32_t lba, uint32_t length)
{
    bhs[32] = (unsigned char)code;
    wire_put(bhs + 34, lba, 4);
    wire_put(bhs + 39, length / WIRE_BLOCK, 2);
}

unsigned wire_read(struct wire *wire, uint32_t lba, uint32_t length, uint32_t expected,
                   struct wire_pdu *response)
{
    unsigned char bhs[48];
    uint32_t have = 0, sn = 0;

    wire_begin(wire, bhs, 0x01, 0xc1);
    wire_put(bhs + 20, expected, 4);
    put_cdb(bhs, 0x28, lba, length);
    wire_send_tagged(wire, bhs, NULL, 0, true, false, 0);
    for (;;) {
        CHECK(wire_receive(wire, response));
        CHECK_EQ(wire_get(bhs + 16, 4), wire_get(response->bhs + 16, 4));
        if (response->bhs[0] == 0x21)
            return response->bhs[3];
        CHECK(!wire->rdma);
        CHECK_EQ(0x25, response->bhs[0]);
        CHECK_EQ(sn++, wire_get(response->bhs + 36, 4));
        CHECK_EQ(have, wire_get(response->bhs + 40, 4));
        CHECK(response->length <= expected - have);
        memcpy(wire->memory + have, response->data, response->length);
        have += (uint32_t)response->length;
        if (response->bhs[1] & 1)
            return response->bhs[3];
    }
}

/* Sends Data-Out PDUs for octets from..to with this target transfer tag. */
static void send_data(struct wire *wire, const unsigned char *command, uint32_t ttt, uint32_t from,
                      uint32_t to)
{
    uint32_t sn = 0;

    while (from < to) {
        uint32_t part = to - from < wire->target_max ? to - from : wire->target_max;
        unsigned char bhs[48] = {0x05, from + part == to ? 0x80 : 0};

        memcpy(bhs + 8, command + 8, 12); /* LUN and tag */
        wire_put(bhs + 20, ttt, 4);
        wire_put(bhs + 28, wire->exp_stat_sn, 4);
        wire_put(bhs + 36, sn++, 4);
        wire_put(bhs + 40, from, 4);
        wire_send(wire, bhs, wire->memory + from, part);
        from += part;
    }
}

void wire_begin_write(struct wire *wire, unsigned char bhs[48], uint32_t lba, uint32_t length,
                      uint32_t immediate, uint32_t unsolicited)
{
    uint32_t unasked = immediate + unsolicited;

    wire_begin(wire, bhs, 0x01, unsolicited > 0 ? 0x21 : 0xa1);
    wire_put(bhs + 20, length, 4);
    put_cdb(bhs, 0x2a, lba, length);
    wire_send_tagged(wire, bhs, wire->memory, immediate, false, unasked < length,
                     WIRE_BASE + (wire->base_is_solicited ? unasked : 0));
    send_data(wire, bhs, 0xffffffff, immediate, unasked);
}

unsigned wire_write(struct wire *wire, uint32_t lba, uint32_t length, uint32_t immediate,
                    uint32_t unsolicited, struct wire_pdu *response)
{
    uint32_t unasked = immediate + unsolicited;
    unsigned char bhs[48];

    wire_begin_write(wire, bhs, lba, length, immediate, unsolicited);
    for (;;) {
        uint32_t from, part;

        CHECK(wire_receive(wire, response));
        CHECK_EQ(wire_get(bhs + 16, 4), wire_get(response->bhs + 16, 4));
        if (response->bhs[0] == 0x21)
            return response->bhs[3];
        CHECK(!wire->rdma);
        CHECK_EQ(0x31, response->bhs[0]);
        from = wire_get(response->bhs + 40, 4);
        part = wire_get(response->bhs + 44, 4);
        CHECK_EQ(unasked, from);
        CHECK(part > 0 && part <= wire->burst && part <= length - from);
        send_data(wire, bhs, wire_get(response->bhs + 20, 4), from, from + part);
        unasked += part;
    }
}

void wire_logout(struct wire *wire)
{
    static struct wire_pdu pdu;
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x06, 0x80);
    wire_send(wire, bhs, NULL, 0);
    wire_expect(wire, &pdu, 0x26);
    CHECK_EQ(0, pdu.bhs[2]);
    CHECK(!wire_receive(wire, &pdu));
    wire_free(wire);
}
