/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_number.h"

#include <criterion/criterion.h>

#define LIMIT ((uint64_t)1 << 30)

static uint64_t steps[8];
static size_t count;

static bool parse(const char *text)
{
    count = 0;
    return perf_parse_steps(text, LIMIT, steps, sizeof(steps) / sizeof(steps[0]), &count);
}

static void check(const char *text, const uint64_t *wanted, size_t wanted_count)
{
    cr_assert(parse(text), "%s", text);
    cr_assert_eq(count, wanted_count, "%s: %zu", text, count);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(steps[i], wanted[i], "%s: %lu", text, steps[i]);
}

#define CHECK(text, ...)                                                                           \
    check(text, (const uint64_t[]){__VA_ARGS__},                                                   \
          sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

Test(perf_number, numbers)
{
    uint64_t value;

    cr_assert(perf_parse_number("0", LIMIT, &value) && value == 0);
    cr_assert(perf_parse_number("64k", LIMIT, &value) && value == 65536);
    cr_assert(perf_parse_number("1G", LIMIT, &value) && value == LIMIT);
    cr_assert(perf_parse_number("18446744073709551615", UINT64_MAX, &value) && value == UINT64_MAX);
    cr_assert_not(perf_parse_number("2g", LIMIT, &value));
    cr_assert_not(perf_parse_number("18446744073709551616", UINT64_MAX, &value));
    cr_assert_not(perf_parse_number("17179869184g", UINT64_MAX, &value));
    cr_assert_not(perf_parse_number("", LIMIT, &value));
    cr_assert_not(perf_parse_number("-1", LIMIT, &value));
    cr_assert_not(perf_parse_number(" 1", LIMIT, &value));
    cr_assert_not(perf_parse_number("1kb", LIMIT, &value));
    cr_assert_not(perf_parse_number("1x", LIMIT, &value));
}

Test(perf_number, decimals)
{
    double value;

    cr_assert(perf_parse_decimal("0.25", 10, &value) && value == 0.25);
    cr_assert(perf_parse_decimal(".5", 10, &value) && value == 0.5);
    cr_assert(perf_parse_decimal("10", 10, &value) && value == 10);
    cr_assert_not(perf_parse_decimal("10.1", 10, &value));
    cr_assert(perf_parse_decimal("0", 10, &value) && value == 0);
    cr_assert(perf_parse_decimal("1e-3", 10, &value) && value == 0.001);
    cr_assert_not(perf_parse_decimal("0x10", 100, &value));
    cr_assert_not(perf_parse_decimal(" 1", 10, &value));
    cr_assert_not(perf_parse_decimal("-1", 10, &value));
    cr_assert_not(perf_parse_decimal("nan", 10, &value));
    cr_assert_not(perf_parse_decimal("inf", 10, &value));
    cr_assert_not(perf_parse_decimal("1s", 10, &value));
    cr_assert_not(perf_parse_decimal("", 10, &value));
}

Test(perf_number, steps)
{
    CHECK("64", 64);
    CHECK("0", 0);
    CHECK("64,4k,1m", 64, 4096, 1048576);
    CHECK("1m,64", 1048576, 64);
    CHECK("1:8", 1, 2, 4, 8);
    CHECK("64:64", 64);
    CHECK("64:100", 64, 100);
    CHECK("64:1m:x16", 64, 1024, 16384, 262144, 1048576);
    CHECK("1:128", 1, 2, 4, 8, 16, 32, 64, 128);
    CHECK("1:1g:x1g", 1, LIMIT);
}

Test(perf_number, bad_steps)
{
    static const char *const texts[] = {
        "",
        ",",
        "64,",
        ",64",
        "64,,65",
        "x",
        "64:",
        ":64",
        "8:4",
        "0:8",
        "1:8:",
        "1:8:2",
        "1:8:x",
        "1:8:x1",
        "1:8:x0",
        "1:2g",
        "1:8:x2:3",
        "1:256",
        "1,2,3,4,5,6,7,8,9",
        "11111111111111111111111111111111111111111111111111111111",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        cr_assert_not(parse(texts[i]), "%s", texts[i]);
}
