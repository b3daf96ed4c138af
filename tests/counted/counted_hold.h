/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds the threads of IAs where they wait for something to do, so that what a clock makes them do
 * is not counted: as a scheduler would that does not run them.
 */
#ifndef ITAPI_TESTS_COUNTED_HOLD_H
#define ITAPI_TESTS_COUNTED_HOLD_H

/* Returns when so many threads are in epoll_wait(2); none comes back before the release. */
void counted_hold(unsigned threads);
void counted_release(void);

#endif
