/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/check.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_uint failures;
static const char *_Atomic context;

static void say(const char *file, int line, const char *format, va_list arguments)
{
    char text[512];
    const char *about = atomic_load(&context);

    (void)vsnprintf(text, sizeof(text), format, arguments);
    fprintf(stderr, "%s:%d: %s%s%s%s\n", file, line, about != NULL ? "[" : "",
            about != NULL ? about : "", about != NULL ? "] " : "", text);
}

void check_exit(void)
{
    fflush(NULL);
    _exit(1);
}

void check_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(file, line, format, arguments);
    va_end(arguments);
    check_exit();
}

void check_note(const char *file, int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(file, line, format, arguments);
    va_end(arguments);
    atomic_fetch_add(&failures, 1);
}

void check_done(void)
{
    if (atomic_load(&failures) != 0)
        check_exit();
}

void check_context(const char *text)
{
    atomic_store(&context, text);
}

bool check_number(const char *file, int line, const char *what, uint64_t want, uint64_t got)
{
    if (want == got)
        return true;
    check_note(file, line, "%s is %llu (0x%llx) instead of %llu (0x%llx)", what,
               (unsigned long long)got, (unsigned long long)got, (unsigned long long)want,
               (unsigned long long)want);
    return false;
}
