/* SPDX-License-Identifier: BSD-2-Clause */
#include "histogram.h"

#include <string.h>

void histogram_clear(struct histogram *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
}

/* Returns how many low bits of a number are ignored. */
static unsigned int dropped_bits(uint64_t value)
{
    unsigned int top = 63 - (unsigned int)__builtin_clzll(value | 1);

    return top > HISTOGRAM_BITS ? top - HISTOGRAM_BITS : 0;
}

static uint64_t bucket_of(uint64_t value)
{
    unsigned int dropped = dropped_bits(value);

    return ((uint64_t)dropped << HISTOGRAM_BITS) + (value >> dropped);
}

/* Returns the number in the middle of a bucket. */
static uint64_t value_of(uint64_t bucket)
{
    uint64_t dropped = bucket >> HISTOGRAM_BITS;
    uint64_t digits = bucket;

    if (dropped <= 1) /* each number has its own bucket */
        return bucket;
    dropped -= 1;
    digits -= dropped << HISTOGRAM_BITS;
    return (digits << dropped) + ((uint64_t)1 << (dropped - 1));
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (histogram->count == 0 || value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->buckets[bucket_of(value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (into->count == 0 || from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
}

static uint64_t within(const struct histogram *histogram, uint64_t value)
{
    if (value < histogram->min)
        return histogram->min;
    return value > histogram->max ? histogram->max : value;
}

uint64_t histogram_quantile(const struct histogram *histogram, double share)
{
    /* A share that is no binary fraction may be slightly larger than intended. */
    double wanted = (share - 1e-12) * (double)histogram->count;
    uint64_t passed = 0;

    if (histogram->count == 0)
        return 0;
    if (wanted <= 1)
        return histogram->min;
    if (wanted > (double)(histogram->count - 1))
        return histogram->max;
    for (uint64_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        passed += histogram->buckets[i];
        if ((double)passed >= wanted)
            return within(histogram, value_of(i));
    }
    return histogram->max;
}
