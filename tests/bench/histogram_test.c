/* SPDX-License-Identifier: BSD-2-Clause */
#include "histogram.h"

#include <criterion/criterion.h>

static struct histogram histogram;
static struct histogram other;

static void setup(void)
{
    histogram_clear(&histogram);
    histogram_clear(&other);
}

TestSuite(histogram, .init = setup);

/* Checks a quantile to three significant digits. */
static void check(double share, double wanted)
{
    double found = (double)histogram_quantile(&histogram, share);

    cr_assert(found >= wanted * 0.999 && found <= wanted * 1.001, "%g of all: %.1f, not %.1f",
              share, found, wanted);
}

Test(histogram, empty)
{
    cr_assert_eq(histogram.count, 0);
    cr_assert_eq(histogram_quantile(&histogram, 0), 0);
    cr_assert_eq(histogram_quantile(&histogram, 0.5), 0);
    cr_assert_eq(histogram_quantile(&histogram, 1), 0);
}

Test(histogram, one_number)
{
    static const uint64_t values[] = {0, 1, 2047, 2048, 123456789, UINT64_MAX - 1, UINT64_MAX};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        histogram_clear(&histogram);
        histogram_add(&histogram, values[i]);
        cr_assert_eq(histogram_quantile(&histogram, 0), values[i]);
        cr_assert_eq(histogram_quantile(&histogram, 0.5), values[i]);
        cr_assert_eq(histogram_quantile(&histogram, 1), values[i]);
    }
}

/* Each number below 2,048 has its own bucket. */
Test(histogram, small_numbers_are_exact)
{
    for (uint64_t value = 1; value <= 1000; value++)
        histogram_add(&histogram, value);
    cr_assert_eq(histogram_quantile(&histogram, 0.5), 500);
    cr_assert_eq(histogram_quantile(&histogram, 0.99), 990);
    cr_assert_eq(histogram_quantile(&histogram, 0.999), 999);
    cr_assert_eq(histogram_quantile(&histogram, 1), 1000);
    cr_assert_eq(histogram_quantile(&histogram, 0.0001), 1);
}

Test(histogram, uniform)
{
    for (uint64_t value = 1; value <= 100000; value++)
        histogram_add(&histogram, value * 100);
    check(0.001, 10000);
    check(0.5, 5000000);
    check(0.99, 9900000);
    check(0.999, 9990000);
    cr_assert_eq(histogram_quantile(&histogram, 1), 10000000);
}

/* One in a hundred values is a thousand times as large: percentiles must show that. */
Test(histogram, with_a_tail)
{
    for (unsigned i = 0; i < 99000; i++)
        histogram_add(&histogram, 7000 + i % 100);
    for (unsigned i = 0; i < 1000; i++)
        histogram_add(&histogram, 7000000 + i);
    check(0.5, 7049);
    check(0.98, 7098);
    check(0.9901, 7000000);
    check(0.999, 7000900);
    cr_assert_eq(histogram_quantile(&histogram, 1), 7000999);
}

/* At the edges of all powers of two, the error is never more than one in 1,024. */
Test(histogram, every_magnitude)
{
    for (unsigned power = 0; power < 64; power++) {
        for (uint64_t step = 0; step < 3; step++) {
            uint64_t value = ((uint64_t)1 << power) + step - 1;
            uint64_t found;

            histogram_clear(&histogram);
            histogram_add(&histogram, value / 4);
            histogram_add(&histogram, value);
            histogram_add(&histogram, UINT64_MAX);
            found = histogram_quantile(&histogram, 0.5);
            cr_assert((found < value ? value - found : found - value) <= value / 1024,
                      "%lu is found as %lu", value, found);
        }
    }
}

Test(histogram, merge)
{
    for (uint64_t value = 1; value <= 500; value++) {
        histogram_add(&histogram, value * 2);
        histogram_add(&other, value * 2 - 1);
    }
    histogram_merge(&histogram, &other);
    cr_assert_eq(histogram.count, 1000);
    cr_assert_eq(histogram.min, 1);
    cr_assert_eq(histogram.max, 1000);
    cr_assert_eq(histogram_quantile(&histogram, 0.5), 500);
    cr_assert_eq(histogram_quantile(&histogram, 0.999), 999);
}

Test(histogram, merge_with_nothing)
{
    histogram_add(&other, 5);
    histogram_merge(&histogram, &other);
    cr_assert_eq(histogram.min, 5);
    cr_assert_eq(histogram.max, 5);
    histogram_clear(&other);
    histogram_merge(&histogram, &other);
    cr_assert_eq(histogram.count, 1);
    cr_assert_eq(histogram.min, 5);
    cr_assert_eq(histogram_quantile(&histogram, 1), 5);
}
