/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time_limit.h - how long a test waits for what must happen. All limits grow with one factor, which
 * is measured before the first test (tests/limits) and is ITAPI_TIME_FACTOR in the environment; 1
 * without that.
 */
#ifndef ITAPI_TESTS_SUPPORT_TIME_LIMIT_H
#define ITAPI_TESTS_SUPPORT_TIME_LIMIT_H

/* milliseconds times the factor, at most INT_MAX. */
int time_limit_ms(int milliseconds);

#endif /* ITAPI_TESTS_SUPPORT_TIME_LIMIT_H */
