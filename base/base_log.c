/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_log.h"

#include "base/base_clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic int base_log_level = BASE_LOG_NONE;

static const char *const level_names[] = {"none", "error", "warn", "info", "debug"};

static void log_setup(void)
{
    const char *wanted = getenv("ITAPI_LOG");

    if (!wanted || !*wanted)
        return;
    for (int level = BASE_LOG_NONE; level <= BASE_LOG_DEBUG; level++) {
        if (strcmp(wanted, level_names[level]) == 0) {
            atomic_store_explicit(&base_log_level, level, memory_order_relaxed);
            return;
        }
    }
    base_log_write(BASE_LOG_ERROR,
                   "ITAPI_LOG=%.64s is no level, and nothing is logged; "
                   "there are none, error, warn, info and debug",
                   wanted);
}

void base_log_setup(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, log_setup); /* cannot fail */
}

static void log_write(enum base_log_level level, uint64_t left_out, const char *format,
                      va_list arguments)
{
    char missing[96] = "";
    char line[512];
    int cancel;
    int used = snprintf(line, sizeof(line), "itapi %s: ", level_names[level]);

    (void)vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, arguments);
    if (left_out > 0)
        (void)snprintf(missing, sizeof(missing),
                       "itapi %s: %" PRIu64 " lines like the next left out\n", level_names[level],
                       left_out);
    /* A thread that is cancelled while it writes a line would keep its tokens for ever. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    /* A single write, so that lines of several threads do not mix. */
    fprintf(stderr, "%s%s\n", missing, line);
    (void)pthread_setcancelstate(cancel, NULL);
}

void base_log_write(enum base_log_level level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    log_write(level, 0, format, arguments);
    va_end(arguments);
}

bool base_log_pass(struct base_log_limit *limit, uint64_t now_ns, uint64_t *left_out)
{
    bool pass;

    base_lock_take(&limit->lock);
    if (now_ns >= limit->since_ns + BASE_NS_PER_S) {
        limit->since_ns = now_ns;
        limit->lines = 0;
    }
    pass = limit->lines < BASE_LOG_LINES;
    if (pass) {
        limit->lines++;
        *left_out = limit->left_out;
        limit->left_out = 0;
    } else {
        limit->left_out++;
    }
    base_lock_drop(&limit->lock);
    return pass;
}

void base_log_write_limited(struct base_log_limit *limit, enum base_log_level level,
                            const char *format, ...)
{
    uint64_t left_out;
    va_list arguments;

    if (!base_log_pass(limit, base_now_ns(), &left_out))
        return;
    va_start(arguments, format);
    log_write(level, left_out, format, arguments);
    va_end(arguments);
}
