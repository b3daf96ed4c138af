/* SPDX-License-Identifier: BSD-2-Clause */
/* A row of a table of tests: a test of its own process, like any other, that is a single call. */
#ifndef ITAPI_TESTS_SUPPORT_TEST_ROW_H
#define ITAPI_TESTS_SUPPORT_TEST_ROW_H

#include <criterion/criterion.h>

#define TEST_ROW(suite, name, function, ...)                                                       \
    Test(suite, name)                                                                              \
    {                                                                                              \
        function(__VA_ARGS__);                                                                     \
    }

#endif
