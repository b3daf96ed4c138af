/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets the time limit of each Criterion test. Every such program is linked with this. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <criterion/internal/ordered-set.h>

#include "support/time_limit.h"

#define LIMIT_MS 60000

/* Criterion 2.4 ignores its option for all tests. */
ReportHook(PRE_ALL)(struct criterion_test_set *set)
{
    FOREACH_SET(struct criterion_suite_set * suite, set->suites)
    {
        FOREACH_SET(struct criterion_test * test, suite->tests)
        test->data->timeout = time_limit_ms(LIMIT_MS) / 1000.0;
    }
}
