/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the schedule part of the test, in which one thread steps both ends. While it is held
 * - the threads of the IAs stay where they wait, as with a scheduler that does not run them;
 * - who looks at a socket finds all that has been sent to it, however late the kernel brings it in;
 * - CLOCK_MONOTONIC goes on with each look at it, by the same time.
 */
#ifndef ITAPI_TESTS_COUNTED_SCHEDULE_H
#define ITAPI_TESTS_COUNTED_SCHEDULE_H

#include <stdint.h>

/*
 * Returns when so many threads wait in epoll_wait(2) without a timeout. They stay there until the
 * release.
 */
void counted_hold(unsigned threads);
void counted_release(void);

/* Pauses for so long that the library does not count the posts before and after as a burst. */
void counted_pause(void);

/* counted_calls.c calls these before and after the library's system calls. */
void counted_call_begins(long number, int fd);
void counted_call_ends(long number, int fd, long result);

#endif
