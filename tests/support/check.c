/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/check.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_uint failures;
static const char *_Atomic context;

struct calls {
    void (*_Atomic call[8])(void);
};

static struct calls at_end;
static struct calls at_failure;

static void say(const char *file, int line, const char *format, va_list arguments)
{
    char text[512];
    const char *about = atomic_load(&context);

    (void)vsnprintf(text, sizeof(text), format, arguments);
    fprintf(stderr, "%s:%d: %s%s%s%s\n", file, line, about != NULL ? "[" : "",
            about != NULL ? about : "", about != NULL ? "] " : "", text);
}

static void calls_add(struct calls *calls, void (*call)(void))
{
    for (size_t i = 0; i < sizeof(calls->call) / sizeof(calls->call[0]); i++) {
        void (*none)(void) = NULL;

        if (atomic_compare_exchange_strong(&calls->call[i], &none, call) || none == call)
            return;
    }
    CHECK_FAIL("no room for another call");
}

/* Removes each call before making it, so that a call that fails itself is not made again. */
static void calls_make(struct calls *calls)
{
    for (size_t i = 0; i < sizeof(calls->call) / sizeof(calls->call[0]); i++) {
        void (*call)(void) = atomic_exchange(&calls->call[i], NULL);

        if (call != NULL)
            call();
    }
}

static void end(void)
{
    calls_make(&at_end);
}

void check_at_end(void (*call)(void))
{
    static atomic_flag registered = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&registered))
        (void)atexit(end);
    calls_add(&at_end, call);
}

void check_at_failure(void (*call)(void))
{
    calls_add(&at_failure, call);
}

void check_exit(void)
{
    calls_make(&at_failure);
    calls_make(&at_end);
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
