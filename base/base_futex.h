/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of futex(2) that the library makes, on words that no other process sees. */
#ifndef ITAPI_BASE_BASE_FUTEX_H
#define ITAPI_BASE_BASE_FUTEX_H

#include "base/base_clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sleeps while the word has that value. May return without a reason. */
static inline void base_futex_wait(void *word, uint32_t value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/*
 * The same until the deadline on CLOCK_MONOTONIC. Returns 0 or errno: EINTR when a signal handler
 * ran. The kernel gets a deadline also for BASE_NEVER (it lies centuries ahead): without one it
 * restarts the wait after a handler installed with SA_RESTART, and the caller never learns of the
 * signal.
 */
static inline int base_futex_wait_until(void *word, uint32_t value, uint64_t deadline_ns)
{
    struct timespec deadline = base_timespec(deadline_ns);
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value, &deadline,
                          NULL, FUTEX_BITSET_MATCH_ANY);

    return result == 0 ? 0 : errno;
}

/* Wakes at most count sleeping threads. */
static inline void base_futex_wake(void *word, int count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
}

#endif
