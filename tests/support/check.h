/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check.h - checks for tests of every kind (Criterion or plain main programs). A failed CHECK_
 * prints where and why and ends the process with status 1, which Criterion counts as a failure of
 * the test that runs in it. A failed EXPECT_ is only counted: check_done() at the end of the test
 * turns the count into a failure.
 */
#ifndef ITAPI_TESTS_SUPPORT_CHECK_H
#define ITAPI_TESTS_SUPPORT_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "itx_api.h"

void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
void check_note(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends the process with status 1 if an EXPECT_ failed. */
void check_done(void);

/*
 * Registers a call for the end of the test: a failed check or exit() makes it, once. There is room
 * for 8 calls of this kind and 8 of the next; those of the next kind are made first.
 */
void check_at_end(void (*call)(void));
/* Registers a call that is made once, when a failed check ends the test. */
void check_at_failure(void (*call)(void));

/*
 * Names the subject of later messages (e.g. the row of a table). NULL removes it. The text is not
 * copied.
 */
void check_context(const char *text);

bool check_status(const char *file, int line, const char *call, it_status_t want, it_status_t got);
bool check_number(const char *file, int line, const char *what, uint64_t want, uint64_t got);

#define CHECK_FAIL(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, "not so: %s", #condition))
#define CHECK_EQ(want, got)                                                                        \
    (check_number(__FILE__, __LINE__, #got, (uint64_t)(want), (uint64_t)(got)) ? (void)0           \
                                                                               : check_exit())
#define CHECK_STATUS(want, call)                                                                   \
    (check_status(__FILE__, __LINE__, #call, (want), (call)) ? (void)0 : check_exit())
#define CHECK_OK(call) CHECK_STATUS(IT_SUCCESS, call)

#define EXPECT(condition)                                                                          \
    ((condition) ? (void)0 : check_note(__FILE__, __LINE__, "not so: %s", #condition))
#define EXPECT_EQ(want, got)                                                                       \
    ((void)check_number(__FILE__, __LINE__, #got, (uint64_t)(want), (uint64_t)(got)))
#define EXPECT_STATUS(want, call) ((void)check_status(__FILE__, __LINE__, #call, (want), (call)))
#define EXPECT_OK(call)           EXPECT_STATUS(IT_SUCCESS, call)

void check_exit(void) __attribute__((noreturn));

#endif /* ITAPI_TESTS_SUPPORT_CHECK_H */
