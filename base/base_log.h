/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log. ITAPI_LOG=error|warn|info|debug writes to stderr; without it nothing is printed. A level
 * that is off costs one relaxed load. A line that a peer can cause has level warn or lower, and is
 * limited in rate unless it has level debug.
 */
#ifndef ITAPI_BASE_LOG_H
#define ITAPI_BASE_LOG_H

#include "base/base_lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BASE_LOG_LINES 5u /* of one place in the code, in one second */

enum base_log_level {
    BASE_LOG_NONE,
    BASE_LOG_ERROR,
    BASE_LOG_WARN,
    BASE_LOG_INFO,
    BASE_LOG_DEBUG
};

extern _Atomic int base_log_level; /* an enum base_log_level */

/* Reads ITAPI_LOG at the first call. */
void base_log_setup(void);

void base_log_write(enum base_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define base_log(level, ...)                                                                       \
    do {                                                                                           \
        if (atomic_load_explicit(&base_log_level, memory_order_relaxed) >= (int)(level))           \
            base_log_write((level), __VA_ARGS__);                                                  \
    } while (0)

/* How many lines one place in the code wrote lately. Zeroed memory stands for none. */
struct base_log_limit {
    struct base_lock lock;
    uint64_t since_ns; /* start of the second that .lines counts */
    unsigned lines;
    uint64_t left_out; /* lines dropped since the last one written */
};

/* Returns false when this second has had its lines. *left_out: lines dropped before this one. */
bool base_log_pass(struct base_log_limit *limit, uint64_t now_ns, uint64_t *left_out);

void base_log_write_limited(struct base_log_limit *limit, enum base_log_level level,
                            const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * For lines that a peer can cause: writes at most BASE_LOG_LINES a second from one place in the
 * code. The next line tells how many were dropped.
 */
#define base_log_limited(level, ...)                                                               \
    do {                                                                                           \
        static struct base_log_limit base_log_here;                                                \
                                                                                                   \
        if (atomic_load_explicit(&base_log_level, memory_order_relaxed) >= (int)(level))           \
            base_log_write_limited(&base_log_here, (level), __VA_ARGS__);                          \
    } while (0)

#endif
