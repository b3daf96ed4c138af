/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/report.h"

#include <itx_api.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *program = "sample";

void report_program(const char *name)
{
    program = name;
}

void complain(const char *format, ...)
{
    va_list arguments;

    /* What was printed so far belongs in front of the complaint. */
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s: ", program);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
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
