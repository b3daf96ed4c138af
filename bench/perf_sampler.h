/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the time of each round trip with one read of the clock, which ends one round trip and
 * begins the next. The kernel's vDSO answers without a system call (some 25 ns here). Runs without
 * sampling pay nothing.
 */
#ifndef ITAPI_BENCH_PERF_SAMPLER_H
#define ITAPI_BENCH_PERF_SAMPLER_H

#include "histogram.h"

#include <stddef.h>
#include <time.h>

struct perf_sampler {
    struct histogram *histogram; /* of nanoseconds; NULL: not wanted */
    uint64_t last;
};

static inline uint64_t perf_sampler_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Begins the first round trip. */
static inline void perf_sampler_start(struct perf_sampler *sampler)
{
    if (sampler->histogram != NULL)
        sampler->last = perf_sampler_now();
}

/* Ends one round trip and begins the next. */
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
