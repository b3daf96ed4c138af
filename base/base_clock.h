/* SPDX-License-Identifier: BSD-2-Clause */
/* Monotonic nanoseconds, and a cheaper tick counter, to see if two calls are close in time. */
#ifndef ITAPI_BASE_CLOCK_H
#define ITAPI_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define BASE_NS_PER_US UINT64_C(1000)
#define BASE_NS_PER_MS UINT64_C(1000000)
#define BASE_NS_PER_S  UINT64_C(1000000000)
#define BASE_NEVER     UINT64_MAX

static inline uint64_t base_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * BASE_NS_PER_S + (uint64_t)now.tv_nsec;
}

/*
 * A cheap counter that tells whether two calls are close in time: nanoseconds, or on x86 ticks, 1
 * to 5 of them per nanosecond. Not for measuring.
 */
static inline uint64_t base_rough_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return base_now_ns();
#endif
}

/* Saturating at BASE_NEVER. */
static inline uint64_t base_ns_of_us(uint64_t us)
{
    return us > BASE_NEVER / BASE_NS_PER_US ? BASE_NEVER : us * BASE_NS_PER_US;
}

static inline struct timespec base_timespec(uint64_t ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(ns / BASE_NS_PER_S),
        .tv_nsec = (long)(ns % BASE_NS_PER_S),
    };
}

/* Returns the time until the deadline, for ppoll and the like; 0 if it has passed. */
static inline struct timespec base_timespec_until(uint64_t deadline_ns)
{
    uint64_t now = base_now_ns();

    return base_timespec(deadline_ns > now ? deadline_ns - now : 0);
}

/* Returns now + delay, at most BASE_NEVER. */
static inline uint64_t base_deadline_ns(uint64_t now, uint64_t delay)
{
    return delay > BASE_NEVER - now ? BASE_NEVER : now + delay;
}

static inline bool base_is_over(uint64_t deadline_ns)
{
    return deadline_ns != BASE_NEVER && base_now_ns() >= deadline_ns;
}

#endif
