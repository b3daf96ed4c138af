/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.h - this process's threads as the kernel lists them, and the signals that they block. */
#ifndef ITAPI_TESTS_SUPPORT_THREADS_H
#define ITAPI_TESTS_SUPPORT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS_MAX 64

struct threads {
    int ids[THREADS_MAX];
    size_t count;
};

struct threads threads_now(void);
/*
 * Waits until there are this many threads: pthread_join returns shortly before the thread leaves
 * /proc.
 */
void threads_await(size_t count);
/* Returns the threads of `now` that are not among `before`. */
struct threads threads_since(const struct threads *before, const struct threads *now);

/*
 * Returns a mask whose bit n-1 says that the thread blocks signal n. Fails the test if the thread
 * is gone.
 */
uint64_t threads_blocked(int id);
bool threads_blocks(int id, int signal);

/*
 * Fails unless each thread unblocks the signals that its own faults raise, and blocks those that
 * somebody may send to the process.
 */
void threads_check_masks(const struct threads *threads);

#endif
