/* SPDX-License-Identifier: BSD-2-Clause */
/* Time: monotonic nanoseconds, and a cheap tick counter for deciding whether two calls are close. */
#ifndef ITAPI_BASE_CLOCK_H
#define ITAPI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define BASE_NS_PER_US UINT64_C(1000)
#define BASE_NS_PER_MS UINT64_C(1000000)
#define BASE_NS_PER_S UINT64_C(1000000000)
#define BASE_NEVER UINT64_MAX

static inline uint64_t base_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * BASE_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* now + delay, saturating at BASE_NEVER. */
static inline uint64_t base_deadline_ns(uint64_t now, uint64_t delay)
{
    return delay > BASE_NEVER - now ? BASE_NEVER : now + delay;
}

#endif
