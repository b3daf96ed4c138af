/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/report.h"

#include <itx_api.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *program = "sample";
static bool traces;

void report_program(const char *name)
{
    program = name;
}

static void print_message(const char *format, va_list arguments)
{
    /* Earlier output must appear before the message. */
    (void)fflush(stdout);
    /* One line, even when several threads print. */
    flockfile(stderr);
    if (isatty(STDERR_FILENO))
        (void)fputs("\r\033[K", stderr); /* overwrites a progress line */
    (void)fprintf(stderr, "%s: ", program);
    /* The callers have begun it. NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    funlockfile(stderr);
}

void complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
}

void report_traces(bool wanted)
{
    traces = wanted;
}

void trace(const char *format, ...)
{
    va_list arguments;

    if (!traces)
        return;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
}

void complain_errno(const char *what)
{
    complain("%s: %s", what, strerror(errno));
}

bool succeeded(it_status_t status, const char *call)
{
    if (status != IT_SUCCESS)
        complain("%s: %s", call, itx_status_string(status));
    return status == IT_SUCCESS;
}
