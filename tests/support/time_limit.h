/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time_limit.h - how long a test waits for what must happen. One factor scales all limits. It is
 * measured before the first test (tests/limits) and comes as ITAPI_TIME_FACTOR in the environment;
 * without that it is 1.
 */
#ifndef ITAPI_TESTS_SUPPORT_TIME_LIMIT_H
#define ITAPI_TESTS_SUPPORT_TIME_LIMIT_H

/* Returns the milliseconds times the factor, at most INT_MAX. */
int time_limit_ms(int milliseconds);

#endif /* ITAPI_TESTS_SUPPORT_TIME_LIMIT_H */
