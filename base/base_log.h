/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ITAPI_LOG=error|warn|info|debug writes to stderr; without it nothing is printed. The test of the
 * level is one relaxed load, before anything is formatted. A line that a peer can trigger is at
 * most at warn, and above debug it is limited in rate.
 */
#ifndef ITAPI_BASE_LOG_H
#define ITAPI_BASE_LOG_H

#include "base/base_lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BASE_LOG_LINES 5u /* of one place in one second */

enum base_log_level {
    BASE_LOG_NONE,
    BASE_LOG_ERROR,
    BASE_LOG_WARN,
    BASE_LOG_INFO,
    BASE_LOG_DEBUG
};

extern _Atomic int base_log_level; /* an enum base_log_level */

/* Reads ITAPI_LOG, the first time. */
void base_log_setup(void);

void base_log_write(enum base_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define base_log(level, ...)                                                                       \
    do {                                                                                           \
        if (atomic_load_explicit(&base_log_level, memory_order_relaxed) >= (int)(level))           \
            base_log_write((level), __VA_ARGS__);                                                  \
    } while (0)

/* How much one place in the code has said lately. Zeroed memory has said nothing. */
struct base_log_limit {
    struct base_lock lock;
    uint64_t since_ns; /* begin of the second that .lines counts */
    unsigned lines;
    uint64_t left_out; /* since the last line that was written */
};

/* False: this second has had its lines. *left_out: how many are missing before this one. */
bool base_log_pass(struct base_log_limit *limit, uint64_t now_ns, uint64_t *left_out);

void base_log_write_limited(struct base_log_limit *limit, enum base_log_level level,
                            const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * For what a peer can trigger: at most BASE_LOG_LINES a second from this place in the code, and the
 * next line tells how many were left out.
 */
#define base_log_limited(level, ...)                                                               \
    do {                                                                                           \
        static struct base_log_limit base_log_here;                                                \
                                                                                                   \
        if (atomic_load_explicit(&base_log_level, memory_order_relaxed) >= (int)(level))           \
            base_log_write_limited(&base_log_here, (level), __VA_ARGS__);                          \
    } while (0)

#endif
