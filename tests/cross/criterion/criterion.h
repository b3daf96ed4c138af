/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of Criterion that the protocol's unit tests use, with a plain main (cross.c), since
 * Criterion is not available for other processors. Each test runs in its own process, as with
 * Criterion.
 */
#ifndef ITAPI_TESTS_CROSS_CRITERION_H
#define ITAPI_TESTS_CROSS_CRITERION_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cross_options {
    void (*init)(void);
};

struct cross_test {
    const char *suite;
    const char *name;
    void (*body)(void);
    struct cross_options options;
    struct cross_test *next;
};

void cross_add(struct cross_test *test);
_Noreturn void cross_failed(const char *file, int line, const char *condition);

#define Test(suite_, name_, ...)                                                                   \
    static void suite_##_##name_##_body(void);                                                     \
    __attribute__((constructor)) static void suite_##_##name_##_add(void)                          \
    {                                                                                              \
        static struct cross_test test = {.suite = #suite_,                                         \
                                         .name = #name_,                                           \
                                         .body = suite_##_##name_##_body,                          \
                                         .options = {__VA_ARGS__}};                                \
        cross_add(&test);                                                                          \
    }                                                                                              \
    static void suite_##_##name_##_body(void)

#define cr_assert(condition, ...)                                                                  \
    ((condition) ? (void)0 : cross_failed(__FILE__, __LINE__, #condition))
#define cr_assert_not(condition, ...)           cr_assert(!(condition))
#define cr_assert_eq(one, other, ...)           cr_assert((one) == (other))
#define cr_assert_neq(one, other, ...)          cr_assert((one) != (other))
#define cr_assert_lt(one, other, ...)           cr_assert((one) < (other))
#define cr_assert_leq(one, other, ...)          cr_assert((one) <= (other))
#define cr_assert_geq(one, other, ...)          cr_assert((one) >= (other))
#define cr_assert_not_null(pointer, ...)        cr_assert((pointer) != NULL)
#define cr_assert_gt(one, other, ...)           cr_assert((one) > (other))
#define cr_assert_str_eq(one, other, ...)       cr_assert(strcmp(one, other) == 0)
#define cr_assert_arr_eq(one, other, size, ...) cr_assert(memcmp(one, other, size) == 0)

#endif
