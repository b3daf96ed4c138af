/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes the time of each round trip: one look at the clock, which ends one and begins the next. The
 * kernel's vDSO answers without a system call (some 25 ns here); who does not sample pays nothing.
 */
#ifndef ITAPI_BENCH_PERF_SAMPLER_H
#define ITAPI_BENCH_PERF_SAMPLER_H

#include "histogram.h"

#include <stddef.h>
#include <time.h>

struct perf_sampler {
    struct histogram *histogram; /* of nanoseconds; NULL: none is wanted */
    uint64_t last;
};

static inline uint64_t perf_sampler_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The first round trip begins. */
static inline void perf_sampler_start(struct perf_sampler *sampler)
{
    if (sampler->histogram != NULL)
        sampler->last = perf_sampler_now();
}

/* One has ended, and the next begins. */
static inline void perf_sampler_tick(struct perf_sampler *sampler)
{
    uint64_t now;

    if (sampler->histogram == NULL)
        return;
    now = perf_sampler_now();
    histogram_add(sampler->histogram, now - sampler->last);
    sampler->last = now;
}

#endif
