/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_wire.h"

#include "vectors/iw_golden.h"
#include "vectors/iw_hex.h"

#include <criterion/criterion.h>

#define ROOM    1024
#define HEADERS 20 /* ULPDU_Length and DDP header in front of the Terminate header */

static void decode(const char *hex, bool startup, struct iw_terminate *terminate)
{
    uint8_t octets[ROOM];
    size_t length = iw_hex(hex, octets, sizeof(octets));

    cr_assert_eq(iw_decode_terminate(octets, length, startup, terminate), IW_OK);
}

/*
 * Encodes the Terminate for an error and compares it with the golden frame; then decodes the frame.
 */
static void check_golden(char connection, unsigned frame, char bad_connection, unsigned bad_frame,
                         enum iw_error error, bool crc)
{
    uint8_t want[ROOM];
    uint8_t got[IW_TERMINATE_FPDU_MAX];
    uint8_t bad[ROOM];
    struct iw_terminate filled;
    struct iw_terminate decoded;
    size_t length = iw_golden_frame(connection, frame, want, sizeof(want));
    uint32_t ulpdu = (uint32_t)want[0] << 8 | want[1];
    uint32_t bad_ulpdu = 0;

    if (bad_frame) {
        iw_golden_frame(bad_connection, bad_frame, bad, sizeof(bad));
        bad_ulpdu = (uint32_t)bad[0] << 8 | bad[1];
    }
    iw_terminate_fill(&filled, error, bad + 2, bad_ulpdu, bad_ulpdu);
    cr_assert_eq(iw_encode_terminate_fpdu(got, &filled, crc), length, "frame %u", frame);
    cr_assert_eq(memcmp(got, want, length), 0, "frame %u", frame);
    cr_assert_eq(iw_decode_terminate(want + HEADERS, ulpdu - 18, true, &decoded), IW_OK);
    cr_assert_eq(memcmp(&decoded, &filled, sizeof(filled)), 0, "frame %u", frame);
}

Test(iw_terminate, golden_frames)
{
    check_golden('A', 36, 'A', 34, IW_ERR_DDP_INVALID_STAG, true);
    check_golden('B', 54, 'B', 52, IW_ERR_RDMAP_ACCESS, true);
    check_golden('H', 144, 0, 0, IW_ERR_MPA_IRD, true);
    check_golden('s', 10, 's', 8, IW_ERR_DDP_NO_BUFFER, false);
}

Test(iw_terminate, golden_siw_frame)
{
    uint8_t octets[ROOM];
    struct iw_terminate terminate;

    iw_golden_frame('s', 12, octets, sizeof(octets));
    cr_assert_eq(iw_decode_terminate(octets + HEADERS, 24, false, &terminate), IW_OK);
    cr_assert(terminate.little_endian_nibbles);
    cr_assert_eq(terminate.error, IW_ERR_DDP_NO_BUFFER);
    cr_assert(terminate.has_length && terminate.has_ddp && !terminate.has_rdmap);
    cr_assert_eq(terminate.segment_length, 44);
    cr_assert_eq(terminate.ddp_length, 18);
    cr_assert_eq(terminate.ddp[1], 0x43);
}

/* Terminates that real siw peers have sent. */
Test(iw_terminate, siw_table)
{
    static const struct {
        const char *hex;
        enum iw_error error;
        bool swapped;
    } rows[] = {
        {"11000300 0020 c1401122 33440000 00001000 2000", IW_ERR_DDP_INVALID_STAG, true},
        {"02020000", IW_ERR_MPA_CRC, true},
        {"21010300 0010", IW_ERR_DDP_INVALID_QN, true},
        {"21020300 0258", IW_ERR_DDP_NO_BUFFER, true},
        {"21030300 0010", IW_ERR_DDP_MSN_RANGE, true},
        {"21040300 0010", IW_ERR_DDP_INVALID_MO, true},
        {"20050000", IW_ERR_RDMAP_VERSION, true},
        {"20060000", IW_ERR_RDMAP_OPCODE, true},
        {"21060000", IW_ERR_DDP_UNTAGGED_VERSION, true},
        {"20070300 0000", IW_ERR_RDMAP_STREAM, true},
        {"10000700 0000", IW_ERR_RDMAP_INVALID_STAG, true},
        {"1202c000 003e", IW_ERR_DDP_NO_BUFFER, false},
        {"02060000", IW_ERR_RDMAP_OPCODE, false},
        {"20020000", IW_ERR_MPA_CRC, false},
        {"02ff0000", IW_ERR_RDMAP_UNSPECIFIED, false},
        {"00000000", IW_ERR_RDMAP_LOCAL, false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct iw_terminate terminate;

        decode(rows[i].hex, false, &terminate);
        cr_assert_eq(terminate.error, rows[i].error, "%s", rows[i].hex);
        cr_assert_eq(terminate.little_endian_nibbles, rows[i].swapped, "%s", rows[i].hex);
    }
}

/* These four octets mean insufficient IRD only while the peer has sent nothing else. */
Test(iw_terminate, startup_decides)
{
    struct iw_terminate terminate;

    decode("20060000", true, &terminate);
    cr_assert_eq(terminate.error, IW_ERR_MPA_IRD);
    decode("20050000", true, &terminate);
    cr_assert_eq(terminate.error, IW_ERR_MPA_LOCAL);
    decode("20070000", true, &terminate);
    cr_assert_eq(terminate.error, IW_ERR_MPA_RTR);
}

Test(iw_terminate, unknown_codes_are_kept)
{
    struct iw_terminate terminate;

    decode("77770000", false, &terminate);
    cr_assert_eq((unsigned)terminate.error, IW_CODE(7u, 7u, 0x77u));
    cr_assert_not(terminate.little_endian_nibbles);
    decode("1277c000 0012", false, &terminate);
    cr_assert_eq((unsigned)terminate.error, IW_CODE(1u, 2u, 0x77u));
}

/* D without M: the length field is present but has no meaning. */
Test(iw_terminate, header_without_length)
{
    struct iw_terminate terminate;

    decode("11004000 1234 c1400000 00000000 00000000 0000", false, &terminate);
    cr_assert(!terminate.has_length && terminate.has_ddp && terminate.ddp_length == 14);
    cr_assert_eq(terminate.segment_length, 0);
    decode("11006000 1234", false, &terminate);
    cr_assert(!terminate.has_ddp && !terminate.has_rdmap && terminate.segment_length == 0);
}

/*
 * A Terminate with all headers, cut anywhere, is too short or has fewer copies. Nothing is read
 * past its end.
 */
Test(iw_terminate, cut_anywhere)
{
    uint8_t octets[ROOM];

    iw_golden_frame('B', 54, octets, sizeof(octets));
    for (size_t length = 0; length <= IW_TERMINATE_MAX; length++) {
        struct iw_terminate terminate;
        uint8_t *copy = malloc(length ? length : 1);
        enum iw_error error;

        memcpy(copy, octets + HEADERS, length);
        error = iw_decode_terminate(copy, length, false, &terminate);
        free(copy);
        cr_assert_eq(error, length < 4 ? IW_ERR_MPA_LENGTH : IW_OK);
        if (length < 4)
            continue;
        cr_assert_eq(terminate.error, IW_ERR_RDMAP_ACCESS);
        cr_assert_eq(terminate.has_length, length >= 6);
        cr_assert_eq(terminate.has_ddp, length >= 24);
        cr_assert_eq(terminate.has_rdmap, length == 52);
    }
}

static void check_fill(enum iw_error error, const char *header, bool ddp, bool rdmap)
{
    uint8_t octets[64];
    size_t length = iw_hex(header, octets, sizeof(octets));
    struct iw_terminate terminate;

    iw_terminate_fill(&terminate, error, octets, length, 46);
    cr_assert_eq(terminate.error, error);
    cr_assert_eq(terminate.has_length, ddp, "error %x", (unsigned)error);
    cr_assert_eq(terminate.has_ddp, ddp, "error %x", (unsigned)error);
    cr_assert_eq(terminate.has_rdmap, rdmap, "error %x", (unsigned)error);
    cr_assert_eq(terminate.segment_length, ddp ? 46 : 0);
}

Test(iw_terminate, which_headers)
{
    const char *read = "4141 00000000 00000001 00000001 00000000"
                       "01020304 00000000 00000000 00001000 99999999 00000000 00000000";
    const char *send = "4143 00000000 00000000 00000001 00000000 78787878";
    const char *write = "c140 11223344 00000000 10002000 78787878";

    check_fill(IW_ERR_RDMAP_ACCESS, read, true, true);
    check_fill(IW_ERR_RDMAP_CANNOT_INVALIDATE, send, true, false);
    check_fill(IW_ERR_RDMAP_ACCESS, write, true, false);
    check_fill(IW_ERR_RDMAP_LOCAL, send, false, false);
    check_fill(IW_ERR_RDMAP_VERSION, send, false, false);
    check_fill(IW_ERR_RDMAP_OPCODE, "414c 00000000 00000000 00000001 00000000", false, false);
    check_fill(IW_ERR_RDMAP_OPCODE, "c142 11223344 00000000 10002000", true, false);
    check_fill(IW_ERR_RDMAP_STREAM, read, true, false);
    check_fill(IW_ERR_DDP_NO_BUFFER, read, true, false);
    check_fill(IW_ERR_DDP_BOUNDS, write, true, false);
    check_fill(IW_ERR_DDP_TAGGED_VERSION, write, false, false);
    check_fill(IW_ERR_DDP_UNTAGGED_VERSION, send, false, false);
    check_fill(IW_ERR_MPA_CRC, write, false, false);
    check_fill(IW_ERR_MPA_LENGTH, write, false, false);
    check_fill(IW_ERR_DDP_BOUNDS, "", false, false);
    check_fill(IW_ERR_DDP_NO_BUFFER, "4143 00000000 00000000 00000001", false, false);
    check_fill(IW_ERR_RDMAP_ACCESS, "4141 00000000 00000001 00000001 00000000 0102", true, false);
}
