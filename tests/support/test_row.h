/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a row of a table a test. Like any test it runs in a process of its own; its body is one
 * call.
 */
#ifndef ITAPI_TESTS_SUPPORT_TEST_ROW_H
#define ITAPI_TESTS_SUPPORT_TEST_ROW_H

#include <criterion/criterion.h>

#define TEST_ROW(suite, name, function, ...)                                                       \
    Test(suite, name)                                                                              \
    {                                                                                              \
        function(__VA_ARGS__);                                                                     \
    }

#endif
