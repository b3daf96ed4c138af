/* SPDX-License-Identifier: BSD-2-Clause */
/* The time limit of each Criterion test: part of every such program. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <criterion/internal/ordered-set.h>

#include "support/time_limit.h"

#define LIMIT_MS 60000

/* Criterion 2.4 has an option for all tests, which it does not heed. */
ReportHook(PRE_ALL)(struct criterion_test_set *set)
{
    FOREACH_SET(struct criterion_suite_set * suite, set->suites)
    {
        FOREACH_SET(struct criterion_test * test, suite->tests)
        test->data->timeout = time_limit_ms(LIMIT_MS) / 1000.0;
    }
}
