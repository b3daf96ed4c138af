/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of whole numbers of any size with three significant digits: each number below 2,048
 * has its own bucket, above that each power of two has 1,024. Adding a number takes a few
 * instructions and no heap call.
 */
#ifndef ITAPI_BENCH_HISTOGRAM_H
#define ITAPI_BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS    10 /* significant bits of a number after the first one */
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

struct histogram {
    uint64_t count;
    uint64_t min; /* exact, like max; undefined while count is 0 */
    uint64_t max;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *histogram);
void histogram_add(struct histogram *histogram, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);

/*
 * Returns the smallest number that is not below this share (0 to 1) of all numbers, within one in
 * 1,024 and never outside min and max. Returns 0 for an empty histogram.
 */
uint64_t histogram_quantile(const struct histogram *histogram, double share);

#endif
