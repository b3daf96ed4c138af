/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_wire.h"

#include "vectors/iw_golden.h"
#include "vectors/iw_hex.h"

#include <criterion/criterion.h>

#define ROOM 1024

/* The fields of golden frames. The payload comes from the frame itself. */
struct header_row {
    char connection;
    unsigned frame;
    size_t offset; /* of the FPDU in the TCP segment */
    struct iw_segment segment;
};

#define TAGGED(op, last, length, stag, to)                                                         \
    {                                                                                              \
        op, true, last, op, length, stag, to, 0, 0, 0                                              \
    }
#define UNTAGGED(op, last, length, stag, qn, msn, mo)                                              \
    {                                                                                              \
        op, false, last, op, length, stag, 0, qn, msn, mo                                          \
    }

static const struct header_row rows[] = {
    {'A', 8, 0, UNTAGGED(IW_OP_SEND, true, 51, 0, 0, 1, 0)},
    {'A', 10, 0, UNTAGGED(IW_OP_SEND_SE, true, 40, 0, 0, 1, 0)},
    {'A', 12, 0, TAGGED(IW_OP_WRITE, true, 21, 0x11223344, 0x10002000)},
    {'A', 14, 0, UNTAGGED(IW_OP_READ_REQUEST, true, 28, 0, 1, 1, 0)},
    {'A', 16, 0, TAGGED(IW_OP_READ_RESPONSE, true, 16, 0xaabbcc01, 0x7f0000001000)},
    {'A', 18, 0, UNTAGGED(IW_OP_SEND_INV, true, 42, 0x55667788, 0, 2, 0)},
    {'A', 20, 0, UNTAGGED(IW_OP_SEND_SE_INV, true, 42, 0xaabbcc01, 0, 2, 0)},
    {'A', 22, 0, UNTAGGED(IW_OP_SEND, false, 64, 0, 0, 3, 0)},
    {'A', 24, 0, UNTAGGED(IW_OP_SEND, true, 36, 0, 0, 3, 64)},
    {'A', 26, 0, TAGGED(IW_OP_WRITE, true, 0, 0, 0)},
    {'A', 28, 0, TAGGED(IW_OP_WRITE, false, 32, 0x11223344, 0x10002000)},
    {'A', 28, 52, TAGGED(IW_OP_WRITE, true, 8, 0x11223344, 0x10002020)},
    {'A', 34, 0, TAGGED(IW_OP_WRITE, true, 16, 0xdeadbeef, 0x1234)},
    {'A', 36, 0, UNTAGGED(IW_OP_TERMINATE, true, 20, 0, 2, 1, 0)},
    {'B', 48, 0, UNTAGGED(IW_OP_SEND, true, 44, 0, 0, 1, 0)},
    {'B', 52, 0, UNTAGGED(IW_OP_READ_REQUEST, true, 28, 0, 1, 1, 0)},
    {'B', 54, 0, UNTAGGED(IW_OP_TERMINATE, true, 52, 0, 2, 1, 0)},
    {'C', 66, 0, UNTAGGED(IW_OP_READ_REQUEST, true, 28, 0, 1, 1, 0)},
    {'C', 68, 0, TAGGED(IW_OP_READ_RESPONSE, true, 0, 0, 0)},
    {'C', 70, 0, UNTAGGED(IW_OP_SEND, true, 44, 0, 0, 1, 0)},
    {'F', 106, 0, TAGGED(IW_OP_WRITE, true, 420, 0x11223344, 0)},
    {'G', 122, 0, UNTAGGED(IW_OP_ATOMIC_REQUEST, true, 52, 0, 1, 1, 0)},
    {'G', 124, 0, UNTAGGED(IW_OP_ATOMIC_RESPONSE, true, 12, 0, 3, 1, 0)},
    {'G', 126, 0, UNTAGGED(IW_OP_ATOMIC_REQUEST, true, 52, 0, 1, 2, 0)},
    {'G', 128, 0, UNTAGGED(IW_OP_ATOMIC_RESPONSE, true, 12, 0, 3, 2, 0)},
    {'G', 130, 0, UNTAGGED(IW_OP_IMMEDIATE, true, 8, 0, 0, 1, 0)},
    {'G', 132, 0, UNTAGGED(IW_OP_IMMEDIATE_SE, true, 8, 0, 0, 2, 0)},
    {'H', 144, 0, UNTAGGED(IW_OP_TERMINATE, true, 4, 0, 2, 1, 0)},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static size_t encode_header(uint8_t *dst, const struct iw_segment *segment)
{
    if (segment->tagged)
        return iw_encode_tagged(dst, segment->opcode, segment->last, segment->stag, segment->to,
                                segment->length);
    return iw_encode_untagged(dst, segment->opcode, segment->last, segment->stag, segment->qn,
                              segment->msn, segment->mo, segment->length);
}

Test(iw_wire, decodes_golden_headers)
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct iw_segment *want = &rows[i].segment;
        struct iw_segment got;
        uint8_t octets[ROOM];
        size_t header = 0;
        const uint8_t *fpdu = octets + rows[i].offset;
        uint32_t length;

        iw_golden_frame(rows[i].connection, rows[i].frame, octets, sizeof(octets));
        length = (uint32_t)fpdu[0] << 8 | fpdu[1];
        cr_assert_eq(iw_decode_header(fpdu + 2, want->tagged ? 14 : 18, length, &got, &header),
                     IW_OK, "frame %u", rows[i].frame);
        cr_assert_eq(header, want->tagged ? 14u : 18u);
        cr_assert(got.opcode == want->opcode && got.tagged == want->tagged &&
                      got.last == want->last && got.length == want->length &&
                      got.stag == want->stag && got.to == want->to && got.qn == want->qn &&
                      got.msn == want->msn && got.mo == want->mo,
                  "frame %u", rows[i].frame);
    }
}

Test(iw_wire, encodes_golden_frames)
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct iw_segment *segment = &rows[i].segment;
        uint8_t want[ROOM];
        uint8_t got[ROOM];
        unsigned pad;
        size_t at;
        size_t header;

        iw_golden_frame(rows[i].connection, rows[i].frame, want, sizeof(want));
        memset(got, 0xee, sizeof(got));
        header = encode_header(got, segment);
        memcpy(got + header, want + rows[i].offset + header, segment->length);
        at = header + segment->length;
        pad = iw_pad((uint32_t)at - 2);
        iw_encode_trailer(got + at, pad, 0);
        at += pad;
        at += iw_encode_trailer(got + at, 0, iw_crc_final(iw_crc_update(IW_CRC_INIT, got, at)));
        cr_assert_eq(at % 4, 0);
        cr_assert_eq(memcmp(got, want + rows[i].offset, at), 0, "frame %u", rows[i].frame);
    }
}

Test(iw_wire, read_request)
{
    const struct iw_read_request want = {
        .sink_stag = 0xaabbcc01,
        .sink_to = 0x7f0000001000,
        .length = 16,
        .source_stag = 0x55667788,
        .source_to = 0x40,
    };
    struct iw_read_request got;
    uint8_t octets[ROOM];
    uint8_t encoded[IW_READ_REQUEST_HEADER];

    iw_golden_frame('A', 14, octets, sizeof(octets));
    iw_decode_read_request(octets + 20, &got);
    cr_assert(got.sink_stag == want.sink_stag && got.sink_to == want.sink_to &&
              got.length == want.length && got.source_stag == want.source_stag &&
              got.source_to == want.source_to);
    cr_assert_eq(iw_encode_read_request(encoded, &want), sizeof(encoded));
    cr_assert_eq(memcmp(encoded, octets + 20, sizeof(encoded)), 0);
}

static enum iw_error decode(const char *hex, uint32_t ulpdu_length)
{
    struct iw_segment segment;
    size_t header;
    uint8_t octets[ROOM];
    size_t length = iw_hex(hex, octets, sizeof(octets));
    size_t available = length < ulpdu_length ? length : ulpdu_length;
    /* Allocates exactly that many octets, so that AddressSanitizer finds a read past them. */
    uint8_t *copy = malloc(available ? available : 1);
    enum iw_error error;

    memcpy(copy, octets, available);
    error = iw_decode_header(copy, available, ulpdu_length, &segment, &header);
    free(copy);
    return error;
}

Test(iw_wire, refuses_bad_headers)
{
    const char *tagged = "c140 11223344 00000000 10002000";
    const char *untagged = "4143 00000000 00000000 00000001 00000000";

    for (uint32_t length = 0; length < 14; length++)
        cr_assert_eq(decode(tagged, length), IW_ERR_MPA_LENGTH);
    cr_assert_eq(decode(tagged, 14), IW_OK);
    for (uint32_t length = 0; length < 18; length++)
        cr_assert_eq(decode(untagged, length), IW_ERR_MPA_LENGTH);
    cr_assert_eq(decode(untagged, 18), IW_OK);
    cr_assert_eq(decode("c0400000 00000000 00000000 0000", 14), IW_ERR_DDP_TAGGED_VERSION);
    cr_assert_eq(decode("40430000 00000000 00000000 00000000 0000", 18),
                 IW_ERR_DDP_UNTAGGED_VERSION);
    cr_assert_eq(decode("41830000 00000000 00000000 00000000 0000", 18), IW_ERR_RDMAP_VERSION);
    cr_assert_eq(decode("414c0000 00000000 00000000 00000000 0000", 18), IW_ERR_RDMAP_OPCODE);
    cr_assert_eq(decode("41430000 00000000 00020000 00000000 0000", 18), IW_ERR_RDMAP_OPCODE);
    cr_assert_eq(decode("41430000 00000000 00030000 00000000 0000", 18), IW_ERR_RDMAP_OPCODE);
    cr_assert_eq(decode("41430000 00000000 00040000 00000000 0000", 18), IW_ERR_DDP_INVALID_QN);
    cr_assert_eq(decode("41430000 00000001 00000000 00000000 0000", 18), IW_ERR_DDP_INVALID_QN);
    cr_assert_eq(decode("414b0000 00000000 00030000 00000000 0000", 18), IW_OK);
}

Test(iw_wire, ignores_reserved_bits)
{
    cr_assert_eq(decode("7d730000 00000000 00000000 00000000 0000", 18), IW_OK);
    cr_assert_eq(decode("fd700000 00000000 00000000 0000", 14), IW_OK);
}

Test(iw_wire, pads_to_words)
{
    for (uint32_t length = 0; length <= IW_ULPDU_MAX; length++) {
        cr_assert_lt(iw_pad(length), 4);
        cr_assert_eq((2 + length + iw_pad(length)) % 4, 0);
    }
}
