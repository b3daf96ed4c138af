/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic int base_log_level = BASE_LOG_NONE;

static const char *const level_names[] = {"none", "error", "warn", "info", "debug"};

void base_log_setup(void)
{
    const char *wanted = getenv("ITAPI_LOG");

    if (!wanted)
        return;
    for (int level = BASE_LOG_NONE; level <= BASE_LOG_DEBUG; level++) {
        if (strcmp(wanted, level_names[level]) == 0)
            atomic_store_explicit(&base_log_level, level, memory_order_relaxed);
    }
}

void base_log_write(enum base_log_level level, const char *format, ...)
{
    char line[512];
    int used = snprintf(line, sizeof(line), "itapi %s: ", level_names[level]);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, arguments);
    va_end(arguments);
    /* One write for the whole line, so that lines of several threads do not mix. */
    fprintf(stderr, "%s\n", line);
}
