/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 7306: the headers against known frames, in both directions, and the arithmetic. */
#include "tdi/iwarp/iw_atomic.h"
#include "tdi/iwarp/iw_wire.h"

#include "vectors/iw_golden.h"
#include "vectors/iw_hex.h"

#include <criterion/criterion.h>

#define ROOM   256
#define HEADER (IW_LENGTH_FIELD + IW_UNTAGGED_HEADER)
#define ALL    UINT64_MAX

/* ---- Headers --------------------------------------------------------------- */

static void check_request(unsigned frame, const struct iw_atomic_request *want)
{
    struct iw_atomic_request got;
    uint8_t octets[ROOM];
    uint8_t encoded[IW_ATOMIC_REQUEST_HEADER];

    iw_golden_frame('G', frame, octets, sizeof(octets));
    iw_decode_atomic_request(octets + HEADER, &got);
    cr_assert_eq(got.code, want->code);
    cr_assert_eq(got.id, want->id);
    cr_assert_eq(got.stag, want->stag);
    cr_assert_eq(got.to, want->to);
    cr_assert_eq(got.operand, want->operand);
    cr_assert_eq(got.operand_mask, want->operand_mask);
    cr_assert_eq(got.compare, want->compare);
    cr_assert_eq(got.compare_mask, want->compare_mask);
    cr_assert_eq(iw_encode_atomic_request(encoded, want), sizeof(encoded));
    cr_assert_eq(memcmp(encoded, octets + HEADER, sizeof(encoded)), 0);
}

Test(iw_atomic, golden_requests)
{
    const struct iw_atomic_request add = {.code = IW_ATOMIC_FETCH_ADD,
                                          .id = 0x01010101,
                                          .stag = 0x22334455,
                                          .to = 0x40,
                                          .operand = 5,
                                          .compare_mask = ALL};
    const struct iw_atomic_request swap = {.code = IW_ATOMIC_CMP_SWAP,
                                           .id = 0x01010102,
                                           .stag = 0x22334455,
                                           .to = 0x40,
                                           .operand = 0x77,
                                           .operand_mask = ALL,
                                           .compare = 0x1005,
                                           .compare_mask = ALL};

    check_request(122, &add);
    check_request(126, &swap);
}

Test(iw_atomic, golden_responses)
{
    static const struct {
        unsigned frame;
        struct iw_atomic_response response;
    } rows[] = {{124, {0x01010101, 0x1000}}, {128, {0x01010102, 0x1005}}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct iw_atomic_response got;
        uint8_t octets[ROOM];
        uint8_t encoded[IW_ATOMIC_RESPONSE_HEADER];

        iw_golden_frame('G', rows[i].frame, octets, sizeof(octets));
        iw_decode_atomic_response(octets + HEADER, &got);
        cr_assert(got.id == rows[i].response.id && got.original == rows[i].response.original);
        cr_assert_eq(iw_encode_atomic_response(encoded, &got), sizeof(encoded));
        cr_assert_eq(memcmp(encoded, octets + HEADER, sizeof(encoded)), 0);
    }
}

Test(iw_atomic, golden_immediate)
{
    static const struct {
        unsigned frame;
        uint64_t value;
    } rows[] = {{130, 0x1122334455667788}, {132, 0x99aabbccddeeff00}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t octets[ROOM];
        uint8_t encoded[IW_IMMEDIATE_DATA];

        iw_golden_frame('G', rows[i].frame, octets, sizeof(octets));
        cr_assert_eq(iw_decode_immediate(octets + HEADER), rows[i].value);
        cr_assert_eq(iw_encode_immediate(encoded, rows[i].value), sizeof(encoded));
        cr_assert_eq(memcmp(encoded, octets + HEADER, sizeof(encoded)), 0);
    }
}

/* Only the lowest four bits are the code. The others are sent as 0 and ignored on receipt. */
Test(iw_atomic, reserved_bits)
{
    struct iw_atomic_request request = {.code = 0xfffffff2};
    uint8_t octets[IW_ATOMIC_REQUEST_HEADER];

    iw_encode_atomic_request(octets, &request);
    cr_assert(octets[0] == 0 && octets[1] == 0 && octets[2] == 0 && octets[3] == 2);
    memset(octets, 0xf0, 4);
    iw_decode_atomic_request(octets, &request);
    cr_assert_eq(request.code, IW_ATOMIC_FETCH_ADD);
}

/* ---- Arithmetic ------------------------------------------------------------ */

static uint64_t add(uint64_t original, uint64_t operand, uint64_t tops)
{
    const struct iw_atomic_request request = {
        .code = IW_ATOMIC_FETCH_ADD, .operand = operand, .operand_mask = tops};

    return iw_atomic_result(&request, original);
}

static uint64_t swap(uint64_t original, uint64_t operand, uint64_t mask, uint64_t compare,
                     uint64_t compare_mask)
{
    const struct iw_atomic_request request = {.code = IW_ATOMIC_CMP_SWAP,
                                              .operand = operand,
                                              .operand_mask = mask,
                                              .compare = compare,
                                              .compare_mask = compare_mask};

    return iw_atomic_result(&request, original);
}

Test(iw_atomic, known_codes)
{
    for (unsigned code = 0; code < 16; code++) {
        const struct iw_atomic_request request = {.code = code};

        cr_assert_eq(iw_atomic_is_known(&request), code == 0 || code == 2, "%u", code);
    }
}

Test(iw_atomic, plain_add)
{
    cr_assert_eq(add(0x1000, 5, 0), 0x1005);
    cr_assert_eq(add(ALL, 1, 0), 0);
    cr_assert_eq(add(5, (uint64_t)-7, 0), (uint64_t)-2);
    cr_assert_eq(add(7, 9, UINT64_C(1) << 63), 16);
}

/* Each field of a Fetch and Add is added as an integer of its own width. */
Test(iw_atomic, add_in_fields)
{
    const uint64_t four_words = 0x8000800080008000;
    const uint64_t two_words = 0x8000000080000000;

    cr_assert_eq(add(0xffff0001fffe0000, 0x0001ffff00030000, four_words), 0x0000000000010000);
    cr_assert_eq(add(0x00000001ffffffff, 0x0000000200000001, two_words), 0x0000000300000000);
    cr_assert_eq(add(0xff, 0x01, 0x80), 0x00);
    cr_assert_eq(add(0x17f, 0x01, 0x80), 0x180);
    cr_assert_eq(add(0xf0f0, 0xffff, ALL), 0x0f0f); /* fields of one bit: exclusive or */
}

Test(iw_atomic, compare_and_swap)
{
    cr_assert_eq(swap(0x1005, 0x77, ALL, 0x1005, ALL), 0x77);
    cr_assert_eq(swap(0x1006, 0x77, ALL, 0x1005, ALL), 0x1006);
    /* Bits outside the compare mask need not match. Bits outside the swap mask stay. */
    cr_assert_eq(swap(0xab12, 0x3477, 0x00ff, 0xcd12, 0x00ff), 0xab77);
    cr_assert_eq(swap(0xab13, 0x3477, 0x00ff, 0xcd12, 0x00ff), 0xab13);
    /* With an empty compare mask the swap is unconditional. */
    cr_assert_eq(swap(0xdead, 0xbeef, ALL, 0x1234, 0), 0xbeef);
}
