/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ofa_log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 256

static bool wanted(void)
{
    const char *level = secure_getenv("ITAPI_LOG");

    return level && (strcmp(level, "info") == 0 || strcmp(level, "debug") == 0);
}

void ofa_log(const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list arguments;
    int error = errno;

    if (!wanted())
        return;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "itapi ofa: %s\n", line);
    errno = error;
}

int ofa_absent(const char *name, int error)
{
    ofa_log("%s is not there: %s", name, strerror(error));
    errno = error;
    return error;
}
