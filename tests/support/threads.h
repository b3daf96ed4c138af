/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads.h - the threads of this process, as the kernel knows them, and what signals they block.
 */
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
/* Waits until there are as many: pthread_join returns a moment before the thread leaves /proc. */
void threads_await(size_t count);
/* Those of `now` that are not among `before`. */
struct threads threads_since(const struct threads *before, const struct threads *now);

/* Bit n-1: signal n is blocked in that thread. Fails the test when the thread is gone. */
uint64_t threads_blocked(int id);
bool threads_blocks(int id, int signal);

/*
 * Fails unless each of these threads lets the signals through that its own faults raise, and blocks
 * those that somebody may send to the process.
 */
void threads_check_masks(const struct threads *threads);

#endif
