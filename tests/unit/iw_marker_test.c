/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_marker.h"
#include "tdi/iwarp/iw_wire.h"

#include "vectors/iw_golden.h"
#include "vectors/iw_hex.h"

#include <criterion/criterion.h>

#define ROOM   70000
#define MARKED 72000

/* Returns the octets that markers add to an FPDU, its CRC field included, that starts there. */
static size_t marker_overhead(uint64_t position, size_t fpdu_length)
{
    size_t before = (size_t)(-position % 512);

    /* A marker that is due right behind the CRC field belongs to the next FPDU. */
    if (fpdu_length <= before)
        return 0;
    return (fpdu_length - before + 507) / 508 * 4;
}

/* An FPDU without its CRC field. */
static size_t build_send(uint8_t *dst, uint32_t msn, uint32_t length)
{
    size_t at = iw_encode_untagged(dst, IW_OP_SEND, true, 0, 0, msn, 0, length);
    unsigned pad = iw_pad(IW_UNTAGGED_HEADER + length);

    memset(dst + at, 0, length + pad);
    return at + length + pad;
}

/* Checks the two FPDUs of RFC 5044 and the filler between them, at their stream positions. */
Test(iw_marker, golden_connection)
{
    uint8_t want[ROOM];
    uint8_t fpdu[ROOM];
    uint8_t got[MARKED];
    uint64_t position = 0;
    size_t length;

    for (unsigned frame = 104; frame <= 108; frame += 2) {
        size_t wanted = iw_golden_frame('F', frame, want, sizeof(want));

        if (frame == 106) {
            memcpy(fpdu, want, wanted - IW_CRC_FIELD);
            length = wanted - IW_CRC_FIELD;
        } else {
            length = build_send(fpdu, frame == 104 ? 1 : 2, 24);
        }
        cr_assert_eq(length + IW_CRC_FIELD + marker_overhead(position, length + IW_CRC_FIELD),
                     wanted, "frame %u", frame);
        cr_assert_eq(iw_marker_insert(position, fpdu, length, true, got), wanted);
        cr_assert_eq(memcmp(got, want, wanted), 0, "frame %u", frame);
        position += wanted;
    }
}

/* Removes the markers word by word and checks each. Returns the number of octets left. */
static size_t strip(uint64_t position, const uint8_t *marked, size_t length, uint8_t *dst)
{
    size_t start = position % 512 == 0 ? 4 : 0;
    size_t out = 0;

    for (size_t at = 0; at < length; at += 4) {
        if ((position + at) % 512 == 0) {
            unsigned pointer = (unsigned)marked[at + 2] << 8 | marked[at + 3];

            cr_assert(marked[at] == 0 && marked[at + 1] == 0);
            cr_assert_eq(pointer, at < start ? 0 : at - start);
            continue;
        }
        memcpy(dst + out, marked + at, 4);
        out += 4;
    }
    return out;
}

Test(iw_marker, every_position_and_length)
{
    static uint8_t fpdu[ROOM];
    static uint8_t marked[MARKED];
    static uint8_t back[MARKED];

    for (size_t i = 0; i < sizeof(fpdu); i++)
        fpdu[i] = (uint8_t)(i * 7 + 1);
    for (size_t length = 4; length <= 2200; length += 4) {
        for (uint64_t position = 0; position < 1024; position += 4) {
            size_t total = iw_marker_insert(position, fpdu, length, true, marked);
            uint32_t crc = iw_crc_final(iw_crc_update(IW_CRC_INIT, marked, total - 4));

            cr_assert_eq(total, length + IW_CRC_FIELD + marker_overhead(position, length + 4));
            cr_assert_eq(strip(position, marked, total, back), length + IW_CRC_FIELD);
            cr_assert_eq(memcmp(back, fpdu, length), 0);
            cr_assert(back[length] == (uint8_t)crc && back[length + 3] == (uint8_t)(crc >> 24));
        }
    }
}

Test(iw_marker, no_crc_is_zero)
{
    uint8_t fpdu[64];
    uint8_t marked[128];
    size_t length = build_send(fpdu, 1, 24);
    size_t total = iw_marker_insert(4, fpdu, length, false, marked);

    cr_assert_eq(total, length + 4);
    cr_assert_eq(memcmp(marked + length, "\0\0\0\0", 4), 0);
}

Test(iw_marker, mulpdu)
{
    cr_assert_eq(iw_mulpdu(1448, false), 1442);
    cr_assert_eq(iw_mulpdu(1460, false), 1454);
    cr_assert_eq(iw_mulpdu(1461, false), 1454);
    cr_assert_eq(iw_mulpdu(1448, true), 1430);
    cr_assert_eq(iw_mulpdu(1536, true), 1518);
    cr_assert_eq(iw_mulpdu(536, false), 530);
    cr_assert_eq(iw_mulpdu(0, false), 128);
    cr_assert_eq(iw_mulpdu(134, false), 128);
    cr_assert_eq(iw_mulpdu(139, false), 130);
    cr_assert_eq(iw_mulpdu(UINT32_MAX, false), 65535);
    cr_assert_eq(iw_mulpdu(UINT32_MAX, true), 64768);
    for (uint32_t emss = 140; emss < 66000; emss++) {
        uint32_t mulpdu = iw_mulpdu(emss, true);
        size_t fpdu = 2 + mulpdu + iw_pad(mulpdu) + 4;

        cr_assert(mulpdu == 128 || mulpdu == 64768 || fpdu + marker_overhead(0, fpdu) <= emss);
        cr_assert_leq(fpdu + marker_overhead(0, fpdu), 65536);
    }
}
