/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_crc.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LONGEST 9000

/* Computes the CRC bit by bit without a table, so it shares nothing with the tested code. */
static uint32_t reference(const uint8_t *data, size_t length)
{
    uint32_t crc = 0xffffffff;

    for (; length > 0; length--) {
        crc ^= *data++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    return ~crc;
}

static uint32_t crc_of(const void *data, size_t length)
{
    return iw_crc_final(iw_crc_update(IW_CRC_INIT, data, length));
}

static void fill(uint8_t *data, size_t length)
{
    uint32_t seed = 12345;

    for (size_t i = 0; i < length; i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (uint8_t)(seed >> 24);
    }
}

Test(iw_crc, known_answers)
{
    uint8_t octets[48];

    cr_assert_eq(crc_of("123456789", 9), 0xe3069283);
    cr_assert_eq(crc_of("", 0), 0);
    memset(octets, 0, 32); /* RFC 3720 B.4 */
    cr_assert_eq(crc_of(octets, 32), 0x8a9136aa);
    memset(octets, 0xff, 32);
    cr_assert_eq(crc_of(octets, 32), 0x62a8ab43);
    for (uint8_t i = 0; i < 32; i++)
        octets[i] = i;
    cr_assert_eq(crc_of(octets, 32), 0x46dd794e);
    for (uint8_t i = 0; i < 32; i++)
        octets[i] = (uint8_t)(31 - i);
    cr_assert_eq(crc_of(octets, 32), 0x113fdb5c);
}

Test(iw_crc, every_length_and_alignment)
{
    uint8_t *data = malloc(LONGEST + 8);

    fill(data, LONGEST + 8);
    for (size_t length = 0; length <= LONGEST; length += length < 700 ? 1 : 97) {
        for (size_t offset = 0; offset < 8; offset++) {
            uint32_t table = iw_crc_update_table(IW_CRC_INIT, data + offset, length);
            uint32_t narrow = iw_crc_update_narrow(IW_CRC_INIT, data + offset, length);
            uint32_t want = reference(data + offset, length);

            cr_assert_eq(crc_of(data + offset, length), want);
            cr_assert_eq(iw_crc_final(table), want);
            cr_assert_eq(iw_crc_final(narrow), want);
        }
    }
    free(data);
}

/* Checks that every octet is copied, that none beside them changes, and that the CRC is right. */
static void check_copy(uint8_t *dst, const uint8_t *src, size_t length)
{
    const uint8_t guard = 0xa5;
    uint32_t crc;

    memset(dst, guard, length + 2);
    crc = iw_crc_copy(IW_CRC_INIT, dst + 1, src, length);
    cr_assert_eq(iw_crc_final(crc), reference(src, length), "%zu octets", length);
    cr_assert_eq(memcmp(dst + 1, src, length), 0, "%zu octets", length);
    cr_assert_eq(dst[0], guard);
    cr_assert_eq(dst[length + 1], guard);
}

Test(iw_crc, of_a_copy)
{
    const size_t longest = 20000;
    uint8_t *data = malloc(longest + 3);
    uint8_t *copy = malloc(longest + 2);

    fill(data, longest + 3);
    for (size_t length = 0; length <= longest; length += length < 1400 ? 1 : 1931)
        check_copy(copy, data + 3, length);
    free(copy);
    free(data);
}

#if !defined(__SANITIZE_THREAD__) /* it would rightly report the race */

#define CHANGING 65536

struct change {
    uint8_t octets[CHANGING];
    _Atomic bool over;
};

static void *change_all_the_time(void *context)
{
    struct change *change = context;

    for (uint8_t value = 0; !atomic_load(&change->over); value++)
        for (size_t i = 0; i < CHANGING; i += 64)
            *(volatile uint8_t *)&change->octets[i] = value;
    return NULL;
}

/* Another thread changes the source: the sum is that of the copy. */
Test(iw_crc, of_a_copy_whose_source_changes)
{
    struct change *change = calloc(1, sizeof(*change));
    uint8_t *copy = malloc(CHANGING), *before = malloc(CHANGING);
    unsigned changed = 0;
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, change_all_the_time, change), 0);
    for (unsigned i = 0; changed < 200 || i < 1000; i++) {
        uint32_t crc = iw_crc_copy(IW_CRC_INIT, copy, change->octets, CHANGING - i % 300);

        cr_assert_eq(crc, iw_crc_update(IW_CRC_INIT, copy, CHANGING - i % 300));
        changed += memcmp(before, copy, CHANGING - i % 300) != 0;
        memcpy(before, copy, CHANGING);
    }
    atomic_store(&change->over, true);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    free(before);
    free(copy);
    free(change);
}

#endif

Test(iw_crc, every_split)
{
    const size_t length = 1100;
    uint8_t *data = malloc(length);
    uint32_t want;

    fill(data, length);
    want = reference(data, length);
    for (size_t cut = 0; cut <= length; cut++) {
        uint32_t crc = iw_crc_update(IW_CRC_INIT, data, cut);

        crc = iw_crc_update(crc, data + cut, length - cut);
        cr_assert_eq(iw_crc_final(crc), want, "cut at %zu", cut);
    }
    free(data);
}

Test(iw_crc, of_pieces)
{
    const size_t length = 600;
    uint8_t *data = malloc(length);

    fill(data, length);
    for (size_t covered = 0; covered <= length; covered++) {
        struct iovec iov[] = {{data, 1}, {data + 1, 0}, {data + 1, 299}, {data + 300, 300}};
        uint32_t crc = iw_crc_update_iov(IW_CRC_INIT, iov, 4, covered);

        cr_assert_eq(iw_crc_final(crc), reference(data, covered));
    }
    free(data);
}
