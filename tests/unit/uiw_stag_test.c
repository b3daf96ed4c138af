/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * STags are numbers from the kernel and nothing else, so that any number of them tells nothing
 * about the others. And they are found again. This file's getrandom plays the kernel, or passes the
 * call on to it.
 */
#include "base/base_random.h"
#include "vp/uiwarp/memory/uiw_stag.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REGIONS (1u << 20)
#define FEW     16u

static struct uiw_stags stags;
static uint32_t numbers[REGIONS];
static const uint32_t *script; /* numbers to return instead of the kernel's */
static unsigned script_left;
static bool refused;

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    if (refused) {
        errno = EPERM;
        return -1;
    }
    if (script_left == 0)
        return syscall(SYS_getrandom, buffer, length, flags);
    cr_assert_leq(length, script_left * sizeof(*script));
    memcpy(buffer, script, length);
    script += length / sizeof(*script);
    script_left -= (unsigned)(length / sizeof(*script));
    return (ssize_t)length;
}

static void setup(void)
{
    cr_assert(uiw_stags_init(&stags));
}

static void teardown(void)
{
    uiw_stags_fini(&stags);
}

TestSuite(uiw_stag, .init = setup, .fini = teardown);

static bool finds(uint32_t stag, uint32_t entry)
{
    uint32_t found;

    return uiw_stags_find(&stags, stag, &found) && found == entry;
}

static bool is_unknown(uint32_t stag)
{
    uint32_t found;

    return !uiw_stags_find(&stags, stag, &found);
}

static void draw(unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) {
        numbers[i] = uiw_stags_draw(&stags, i);
        cr_assert_neq(numbers[i], 0);
    }
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* ---------------------------------------------------------------- choice */

/*
 * A number below 256 is skipped. So is one whose slot is taken: here, one that equals a living STag
 * in the bits above the low 8. When that STag is forgotten, the number is used.
 */
Test(uiw_stag, is_the_next_number_whose_slot_is_free)
{
    enum {
        PLAN = 256
    };
    static uint32_t plan[PLAN];
    static const uint32_t wanted[] = {0x12345678, 0x80000000, 0xffffffff, 0x100};
    unsigned from = 0;

    plan[from++] = wanted[0];
    plan[from++] = 0;
    plan[from++] = 0xff;
    plan[from++] = wanted[0];
    plan[from++] = wanted[0] ^ 1;
    plan[from++] = wanted[0] ^ UINT32_C(0x80000000);
    plan[from++] = wanted[1];
    plan[from++] = wanted[2];
    plan[from++] = wanted[1] | UINT32_C(0x40000000);
    plan[from++] = wanted[3];
    plan[from++] = wanted[0] ^ UINT32_C(0x80000000);
    for (unsigned i = from; i < PLAN; i++)
        plan[i] = UINT32_C(0x5a5a0000) + 256 * i + i;
    script = plan;
    script_left = PLAN;
    for (unsigned i = 0; i < 4; i++)
        cr_expect_eq(uiw_stags_draw(&stags, i), wanted[i], "number %u", i);
    uiw_stags_forget(&stags, wanted[0], 0);
    cr_expect_eq(uiw_stags_draw(&stags, 9), wanted[0] ^ UINT32_C(0x80000000));
    for (unsigned i = from; i < PLAN; i++)
        cr_expect_eq(uiw_stags_draw(&stags, i), plan[i]);
}

/*
 * A renamed STag keeps its slot and has other low bits. The new one is found, the old one is not.
 */
Test(uiw_stag, renamed)
{
    uint32_t stag = uiw_stags_draw(&stags, 7);

    for (uint32_t low = 0; low < 256; low++) {
        uint32_t next = (stag & ~UINT32_C(0xff)) | low;

        uiw_stags_rename(&stags, stag, next, 7);
        cr_assert(finds(next, 7));
        cr_assert(next == stag || is_unknown(stag));
        stag = next;
        draw(0, 100); /* makes the map grow */
        cr_assert(finds(stag, 7));
    }
    uiw_stags_forget(&stags, stag, 7);
    cr_assert(is_unknown(stag));
}

/* Returns how many random guesses name a living STag. */
static unsigned hits(unsigned guesses)
{
    unsigned count = 0;

    for (unsigned i = 0; i < guesses; i++) {
        uint32_t guess;

        cr_assert(base_random32(&guess));
        count += !is_unknown(guess);
    }
    return count;
}

/*
 * At 2^20 regions one guess in 4096 is right, so 256 of 2^20 are expected. With 16 regions the
 * expected number is 2^16 times smaller. All bounds are more than 8 deviations away from the
 * expected value.
 */
Test(uiw_stag, guesses)
{
    unsigned right;

    draw(0, FEW);
    cr_expect_leq(hits(REGIONS), 2);
    draw(FEW, REGIONS - FEW);
    right = hits(REGIONS);
    cr_expect(right > 128 && right < 384, "%u of %u guesses are right", right, REGIONS);
}

/* Each bit is set in half of 2^20 STags, independently of the other bits. */
Test(uiw_stag, bits_are_independent)
{
    const unsigned half = REGIONS / 2;
    const unsigned deviation = 512; /* the square root of REGIONS / 4 */

    draw(0, REGIONS);
    for (unsigned i = 0; i < 32; i++) {
        unsigned set = 0;

        for (unsigned n = 0; n < REGIONS; n++)
            set += numbers[n] >> i & 1;
        cr_expect(set > half - 8 * deviation && set < half + 8 * deviation, "bit %u: %u", i, set);
        for (unsigned k = 0; k < i; k++) {
            unsigned same = 0;

            for (unsigned n = 0; n < REGIONS; n++)
                same += ((numbers[n] >> i ^ numbers[n] >> k) & 1) == 0;
            cr_expect(same > half - 8 * deviation && same < half + 8 * deviation,
                      "bits %u and %u: %u", i, k, same);
        }
    }
}

/*
 * An STag is independent of those before it. With only 12 fresh bits the differences would have
 * 4096 values.
 */
Test(uiw_stag, successors_are_independent)
{
    static const unsigned strides[] = {1, 2, 5, 64, 1024};

    draw(0, REGIONS);
    for (unsigned k = 0; k < sizeof(strides) / sizeof(strides[0]); k++) {
        static uint32_t differences[REGIONS];
        unsigned count = REGIONS - strides[k];
        unsigned distinct = 1;

        for (unsigned i = 0; i < count; i++)
            differences[i] = numbers[i + strides[k]] - numbers[i];
        qsort(differences, count, sizeof(differences[0]), compare);
        for (unsigned i = 1; i < count; i++)
            distinct += differences[i] != differences[i - 1];
        /* Of random differences 128 occur twice. */
        cr_expect_gt(distinct, count - 256, "stride %u: %u of %u", strides[k], distinct, count);
    }
}

/* ---------------------------------------------------------------- finding */

Test(uiw_stag, all_are_found_while_the_map_grows)
{
    for (unsigned count = 0; count < 1u << 17; count = 2 * count + 1) {
        draw(count, count + 1);
        for (unsigned i = 0; i < 2 * count + 1; i++)
            cr_assert(finds(numbers[i], i), "entry %u of %u", i, 2 * count + 1);
    }
}

Test(uiw_stag, forgotten_ones_are_unknown)
{
    const unsigned count = 1u << 16;

    draw(0, count);
    for (unsigned i = 0; i < count; i++) {
        uiw_stags_forget(&stags, numbers[i], i + 1); /* somebody else's */
        cr_assert(finds(numbers[i], i));
        uiw_stags_forget(&stags, numbers[i], i);
        cr_assert(is_unknown(numbers[i]));
        uiw_stags_forget(&stags, numbers[i], i);
    }
    cr_assert_eq(atomic_load(&stags.count), 0);
    uiw_stags_forget(&stags, 0, 0);
    cr_assert_eq(atomic_load(&stags.count), 0);
}

/* Drawing and forgetting in turn needs no more room than the STags that live at a time. */
Test(uiw_stag, no_growth_without_need)
{
    const struct uiw_stag_map *map = atomic_load(&stags.map);

    draw(0, 100);
    for (unsigned i = 0; i < 100000; i++)
        uiw_stags_forget(&stags, uiw_stags_draw(&stags, 1000), 1000);
    cr_assert_eq(map, atomic_load(&stags.map));
}

Test(uiw_stag, zero_is_unknown)
{
    cr_assert(is_unknown(0));
    draw(0, 10000);
    cr_assert(is_unknown(0));
}

/* ---------------------------------------------------------------- shortage */

/*
 * First the numbers that this thread has already fetched are used up. Then drawing fails until
 * there are numbers again.
 */
Test(uiw_stag, without_random_numbers)
{
    unsigned i = 0;

    refused = true;
    while (uiw_stags_draw(&stags, i) != 0)
        cr_assert_lt(i++, 64);
    cr_assert_eq(uiw_stags_draw(&stags, i), 0);
    cr_assert_eq(atomic_load(&stags.count), i);
    refused = false;
    cr_assert_neq(uiw_stags_draw(&stags, i), 0);
}
