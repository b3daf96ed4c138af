/* SPDX-License-Identifier: BSD-2-Clause */
/* Implements the byte strings and frames of raw_peer.h. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/raw_peer.h"

/* ---- Byte strings --------------------------------------------------------------------------- */

void raw_add(struct raw_bytes *bytes, const void *data, size_t len)
{
    if (bytes->len + len > bytes->room) {
        bytes->room = 2 * (bytes->len + len) + 64;
        bytes->data = realloc(bytes->data, bytes->room);
        CHECK(bytes->data != NULL);
    }
    if (len != 0)
        memcpy(bytes->data + bytes->len, data, len);
    bytes->len += len;
}

void raw_add_byte(struct raw_bytes *bytes, unsigned value)
{
    unsigned char octet = (unsigned char)value;

    raw_add(bytes, &octet, 1);
}

void raw_add_be16(struct raw_bytes *bytes, unsigned value)
{
    raw_add_byte(bytes, value >> 8 & 0xffu);
    raw_add_byte(bytes, value & 0xffu);
}

void raw_add_be32(struct raw_bytes *bytes, uint32_t value)
{
    raw_add_be16(bytes, value >> 16);
    raw_add_be16(bytes, value & 0xffffu);
}

void raw_add_be64(struct raw_bytes *bytes, uint64_t value)
{
    raw_add_be32(bytes, (uint32_t)(value >> 32));
    raw_add_be32(bytes, (uint32_t)value);
}

void raw_add_fill(struct raw_bytes *bytes, unsigned char value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        raw_add_byte(bytes, value);
}

static unsigned hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strchr(digits, c);

    CHECK(c != '\0' && at != NULL);
    return (unsigned)(at - digits);
}

void raw_add_hex(struct raw_bytes *bytes, const char *hex)
{
    while (*hex != '\0') {
        if (*hex == ' ') {
            hex++;
            continue;
        }
        raw_add_byte(bytes, hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
        hex += 2;
    }
}

void raw_reset(struct raw_bytes *bytes)
{
    bytes->len = 0;
}

void raw_free(struct raw_bytes *bytes)
{
    free(bytes->data);
    memset(bytes, 0, sizeof(*bytes));
}

uint16_t raw_be16(const unsigned char *data)
{
    return (uint16_t)(data[0] << 8 | data[1]);
}

uint32_t raw_be32(const unsigned char *data)
{
    return (uint32_t)raw_be16(data) << 16 | raw_be16(data + 2);
}

uint64_t raw_be64(const unsigned char *data)
{
    return (uint64_t)raw_be32(data) << 32 | raw_be32(data + 4);
}

/*
 * The table works on four bits at a time: it is short enough to check by eye and fast enough for
 * megabytes.
 */
uint32_t raw_crc32c(uint32_t crc, const void *data, size_t len)
{
    static const uint32_t nibbles[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    const unsigned char *octets = data;

    crc = ~crc;
    for (size_t i = 0; i < len; i++) {
        crc ^= octets[i];
        crc = crc >> 4 ^ nibbles[crc & 15u];
        crc = crc >> 4 ^ nibbles[crc & 15u];
    }
    return ~crc;
}

/* ---- Frames --------------------------------------------------------------------------------- */

void raw_mpa(struct raw_bytes *out, bool reply, unsigned flags, unsigned revision, const void *pd,
             size_t pd_len)
{
    raw_add(out, reply ? "MPA ID Rep Frame" : "MPA ID Req Frame", 16);
    raw_add_byte(out, flags);
    raw_add_byte(out, revision);
    raw_add_be16(out, (unsigned)pd_len);
    raw_add(out, pd, pd_len);
}

void raw_mpa1(struct raw_bytes *out, bool reply, unsigned flags)
{
    raw_mpa(out, reply, flags, 1, NULL, 0);
}

void raw_mpa2(struct raw_bytes *out, bool reply, unsigned flags, uint32_t word)
{
    struct raw_bytes pd = {0};

    raw_add_be32(&pd, word);
    raw_mpa(out, reply, flags | RAW_MPA_S, 2, pd.data, pd.len);
    raw_free(&pd);
}

static void add_crc(struct raw_bytes *out, uint32_t crc)
{
    for (unsigned shift = 0; shift < 32; shift += 8)
        raw_add_byte(out, crc >> shift & 0xffu);
}

static void add_plain(struct raw_bytes *out, const struct raw_bytes *ulpdu)
{
    size_t start = out->len;

    raw_add_be16(out, (unsigned)ulpdu->len);
    raw_add(out, ulpdu->data, ulpdu->len);
    while ((out->len - start) % 4 != 0)
        raw_add_byte(out, 0);
}

void raw_fpdu(struct raw_bytes *out, const struct raw_bytes *ulpdu, bool crc)
{
    size_t start = out->len;

    add_plain(out, ulpdu);
    add_crc(out, crc ? raw_crc32c(0, out->data + start, out->len - start) : 0);
}

static void add_marker(struct raw_bytes *out, uint64_t *position, uint64_t fpdu)
{
    raw_add_be16(out, 0);
    raw_add_be16(out, (unsigned)(*position - fpdu));
    *position += 4;
}

void raw_fpdu_marked(struct raw_bytes *out, const struct raw_bytes *ulpdu, uint64_t *position)
{
    struct raw_bytes plain = {0};
    size_t start = out->len;
    uint64_t fpdu;

    if (*position % 512 == 0)
        add_marker(out, position, *position);
    fpdu = *position;
    add_plain(&plain, ulpdu);
    for (size_t i = 0; i < plain.len; i += 4) {
        if (*position % 512 == 0)
            add_marker(out, position, fpdu);
        raw_add(out, plain.data + i, 4);
        *position += 4;
    }
    if (*position % 512 == 0)
        add_marker(out, position, fpdu);
    add_crc(out, raw_crc32c(0, out->data + start, out->len - start));
    *position += 4;
    raw_free(&plain);
}

void raw_untagged(struct raw_bytes *out, enum raw_op op, uint32_t qn, uint32_t msn, uint32_t mo,
                  const void *payload, size_t len, bool last, uint32_t inv_stag)
{
    raw_reset(out);
    raw_add_byte(out, last ? 0x41 : 0x01);
    raw_add_byte(out, 0x40u | (unsigned)op);
    raw_add_be32(out, inv_stag);
    raw_add_be32(out, qn);
    raw_add_be32(out, msn);
    raw_add_be32(out, mo);
    raw_add(out, payload, len);
}

void raw_tagged(struct raw_bytes *out, enum raw_op op, uint32_t stag, uint64_t to,
                const void *payload, size_t len, bool last)
{
    raw_reset(out);
    raw_add_byte(out, last ? 0xc1 : 0x81);
    raw_add_byte(out, 0x40u | (unsigned)op);
    raw_add_be32(out, stag);
    raw_add_be64(out, to);
    raw_add(out, payload, len);
}

void raw_read_request(struct raw_bytes *out, uint32_t msn, uint32_t sink_stag, uint64_t sink_to,
                      uint32_t size, uint32_t source_stag, uint64_t source_to)
{
    raw_untagged(out, RAW_READ_REQUEST, 1, msn, 0, NULL, 0, true, 0);
    raw_add_be32(out, sink_stag);
    raw_add_be64(out, sink_to);
    raw_add_be32(out, size);
    raw_add_be32(out, source_stag);
    raw_add_be64(out, source_to);
}

void raw_terminate(struct raw_bytes *out, unsigned layer, unsigned type, unsigned code,
                   unsigned segment_len, const void *ddp, size_t ddp_len, const void *rdma,
                   size_t rdma_len)
{
    raw_untagged(out, RAW_TERMINATE, 2, 1, 0, NULL, 0, true, 0);
    raw_add_byte(out, layer << 4 | type);
    raw_add_byte(out, code);
    raw_add_byte(out, (ddp_len != 0 ? 0xc0u : 0u) | (rdma_len != 0 ? 0x20u : 0u));
    raw_add_byte(out, 0);
    if (ddp_len != 0) {
        raw_add_be16(out, segment_len);
        raw_add(out, ddp, ddp_len);
        raw_add(out, rdma, rdma_len);
    }
}
