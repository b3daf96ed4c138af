/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/agree/agree_frame.h"

#include "vectors/iw_hex.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#define MAGIC "c749542d410d0a1a "

static const struct agree_terms terms = {
    .kind = AGREE_ROCE,
    .family = 4,
    .port = 0x1234,
    .address = {10, 77, 1, 2},
    .token = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
    .private_length = 2,
    .private_data = "hi",
};

#define OFFER_BODY                                                                                 \
    "02 04 1234 0a4d0102000000000000000000000000 0102030405060708090a0b0c0d0e0f10 0002 0000 6869"

static size_t hex(const char *text, uint8_t octets[AGREE_FRAME_MAX + 8])
{
    return iw_hex(text, octets, AGREE_FRAME_MAX + 8);
}

static void encodes(const char *expected, const uint8_t *octets, size_t length)
{
    uint8_t wanted[AGREE_FRAME_MAX + 8];

    cr_assert_eq(hex(expected, wanted), length);
    cr_assert_arr_eq(octets, wanted, length);
}

Test(agree_frame, encodings)
{
    uint8_t octets[AGREE_OWN_MAX];

    encodes(MAGIC "01 01 002a" OFFER_BODY, octets,
            agree_frame_encode_terms(AGREE_OFFER, &terms, octets));
    encodes(MAGIC "01 02 002a" OFFER_BODY, octets,
            agree_frame_encode_terms(AGREE_ANSWER, &terms, octets));
    encodes(MAGIC "01 03 0004 02010000", octets,
            agree_frame_encode_end(AGREE_REFUSE, AGREE_BAD_KIND, octets));
    encodes(MAGIC "01 04 0000", octets, agree_frame_encode_empty(AGREE_READY, octets));
    encodes(MAGIC "01 05 0000", octets, agree_frame_encode_empty(AGREE_COMMIT, octets));
    encodes(MAGIC "01 06 0004 06010000", octets,
            agree_frame_encode_end(AGREE_ABORT, AGREE_TIMEOUT, octets));
    encodes(MAGIC "01 07 0010 0102030405060708090a0b0c0d0e0f10", octets,
            agree_frame_encode_key(terms.token, octets));
}

/* Copies exactly these octets to the heap, so that AddressSanitizer finds a read past their end. */
static enum agree_found find(const uint8_t *octets, size_t length, struct agree_frame *frame,
                             size_t *wanted)
{
    uint8_t *copy = malloc(length);
    enum agree_found found;

    memcpy(copy, octets, length);
    found = agree_frame_find(copy, length, frame, wanted);
    free(copy);
    return found;
}

Test(agree_frame, terms_survive_at_the_largest)
{
    uint8_t octets[AGREE_OWN_MAX];
    struct agree_terms large = terms;
    struct agree_frame frame;
    size_t wanted;

    large.private_length = AGREE_PRIVATE_MAX;
    memset(large.private_data, 0x5a, AGREE_PRIVATE_MAX);
    cr_assert_eq(agree_frame_encode_terms(AGREE_ANSWER, &large, octets), AGREE_OWN_MAX);
    cr_assert_eq(find(octets, AGREE_OWN_MAX, &frame, &wanted), AGREE_WHOLE);
    cr_assert(frame.type == AGREE_ANSWER && !frame.malformed && frame.length == AGREE_OWN_MAX);
    cr_assert_eq(memcmp(&frame.terms, &large, sizeof(large)), 0);
}

/* For every cut, more octets are wanted than are there, but none beyond the end of the frame. */
Test(agree_frame, cut_anywhere)
{
    uint8_t octets[AGREE_OWN_MAX + 4] = {0};
    size_t length = agree_frame_encode_terms(AGREE_OFFER, &terms, octets);
    struct agree_frame frame;
    size_t wanted = 0;

    for (size_t cut = 1; cut < length; cut++) {
        cr_assert_eq(find(octets, cut, &frame, &wanted), AGREE_MORE);
        cr_assert(wanted > cut && wanted <= length, "cut %zu wanted %zu", cut, wanted);
    }
    for (size_t more = 0; more <= 4; more++) {
        cr_assert_eq(find(octets, length + more, &frame, &wanted), AGREE_WHOLE);
        cr_assert_eq(frame.length, length);
    }
}

Test(agree_frame, strange_at_the_first_wrong_octet)
{
    uint8_t octets[AGREE_OWN_MAX];
    struct agree_frame frame;
    size_t wanted;

    (void)agree_frame_encode_empty(AGREE_READY, octets);
    for (size_t i = 0; i < 8; i++) {
        octets[i] ^= 1;
        cr_assert_eq(find(octets, i + 1, &frame, &wanted), AGREE_STRANGE);
        cr_assert_eq(find(octets, AGREE_HEADER, &frame, &wanted), AGREE_STRANGE);
        octets[i] ^= 1;
    }
}

static struct agree_frame whole(const char *text)
{
    uint8_t octets[AGREE_FRAME_MAX + 8];
    size_t length = hex(text, octets);
    struct agree_frame frame;
    size_t wanted;

    cr_assert_eq(find(octets, length, &frame, &wanted), AGREE_WHOLE, "%s", text);
    cr_assert_eq(frame.length, length);
    return frame;
}

static void strange(const char *text)
{
    uint8_t octets[AGREE_FRAME_MAX + 8];
    size_t length = hex(text, octets);
    struct agree_frame frame;
    size_t wanted;

    cr_assert_eq(find(octets, length, &frame, &wanted), AGREE_STRANGE, "%s", text);
}

Test(agree_frame, no_frame)
{
    strange("474554202f");                       /* GET / */
    strange("16030100");                         /* TLS */
    strange("4d504120494420526571204672616d65"); /* MPA */
    strange(MAGIC "00 04 0000");                 /* there is no version 0 */
    strange(MAGIC "01 01 03f5");                 /* longer than any frame */
    strange(MAGIC "01 01 ffff");
}

Test(agree_frame, malformed)
{
    cr_assert(whole(MAGIC "01 00 0000").malformed);
    cr_assert(whole(MAGIC "01 08 0000").malformed);
    cr_assert(whole(MAGIC "01 04 0001 00").malformed);
    cr_assert(whole(MAGIC "01 05 0001 00").malformed);
    cr_assert(whole(MAGIC "01 01 0000").malformed);
    cr_assert(whole(MAGIC "01 07 000f 0102030405060708090a0b0c0d0e0f").malformed);
    /*
     * An octet of private data less and one more than the length says; an unknown address family; a
     * length near 65535.
     */
    cr_assert(whole(MAGIC "01 01 0029 02 04 1234 0a4d0102000000000000000000000000"
                          "0102030405060708090a0b0c0d0e0f10 0002 0000 68")
                  .malformed);
    cr_assert(whole(MAGIC "01 01 002b" OFFER_BODY "00").malformed);
    cr_assert(whole(MAGIC "01 01 0028 02 05 1234 0a4d0102000000000000000000000000"
                          "0102030405060708090a0b0c0d0e0f10 0000 0000")
                  .malformed);
    cr_assert(whole(MAGIC "01 01 0028 02 04 1234 0a4d0102000000000000000000000000"
                          "0102030405060708090a0b0c0d0e0f10 ffff 0000")
                  .malformed);
}

/* The receiver finds the end of another version's frames and understands its last frames. */
Test(agree_frame, other_versions)
{
    struct agree_frame frame = whole(MAGIC "02 01 0003 010203");

    cr_assert(!frame.malformed && frame.version == 2);
    frame = whole(MAGIC "ff 06 0008 0301000000000000");
    cr_assert(!frame.malformed && frame.type == AGREE_ABORT && frame.reason == AGREE_BAD_ADDRESS);
    frame = whole(MAGIC "02 03 0000");
    cr_assert(!frame.malformed && frame.reason == AGREE_NO_REASON);
}

Test(agree_frame, tokens)
{
    uint8_t other[AGREE_TOKEN];

    memcpy(other, terms.token, AGREE_TOKEN);
    cr_assert(agree_token_equal(terms.token, other));
    for (size_t bit = 0; bit < 8 * (size_t)AGREE_TOKEN; bit++) {
        other[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert(!agree_token_equal(terms.token, other));
        other[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}
