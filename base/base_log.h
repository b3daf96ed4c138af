/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ITAPI_LOG=error|warn|info|debug writes to stderr; without it nothing is printed. The test of the
 * level is one relaxed load, before anything is formatted. What a peer can trigger is never above
 * info.
 */
#ifndef ITAPI_BASE_LOG_H
#define ITAPI_BASE_LOG_H

#include <stdatomic.h>

enum base_log_level {
    BASE_LOG_NONE,
    BASE_LOG_ERROR,
    BASE_LOG_WARN,
    BASE_LOG_INFO,
    BASE_LOG_DEBUG
};

extern _Atomic int base_log_level; /* an enum base_log_level */

/* Reads ITAPI_LOG; called once, when the first IA is created. */
void base_log_setup(void);

void base_log_write(enum base_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define base_log(level, ...)                                                                       \
    do {                                                                                           \
        if (atomic_load_explicit(&base_log_level, memory_order_relaxed) >= (int)(level))           \
            base_log_write((level), __VA_ARGS__);                                                  \
    } while (0)

#endif
