/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of whole numbers, of any size, with three significant digits: below 2,048 one bucket
 * for each number, above that 1,024 for each power of two. Adding is a few instructions and no
 * call of the heap.
 */
#ifndef ITAPI_BENCH_HISTOGRAM_H
#define ITAPI_BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS    10 /* of a number's digits behind the first that count */
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

struct histogram {
    uint64_t count;
    uint64_t min; /* exact, as max; without meaning while count is 0 */
    uint64_t max;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *histogram);
void histogram_add(struct histogram *histogram, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);

/*
 * The smallest number that at least this share (0 to 1) of all numbers are not above; right to
 * within one in 1,024, and never outside of min and max. 0 when the histogram is empty.
 */
uint64_t histogram_quantile(const struct histogram *histogram, double share);

#endif
