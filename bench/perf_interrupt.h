/* SPDX-License-Identifier: BSD-2-Clause */
/* SIGINT and SIGTERM end a measurement in order: the results so far are written first. */
#ifndef ITAPI_BENCH_PERF_INTERRUPT_H
#define ITAPI_BENCH_PERF_INTERRUPT_H

#include <stdbool.h>

/*
 * From now on such a signal calls write in a thread of its own, and ends the process with 128 plus
 * its number. Must be called before other threads are made, which inherit the blocked signals.
 * Returns false after a message.
 */
bool perf_interrupt_watch(void (*write)(void *context), void *context);

/* Between these two calls write is not called, since its data changes. */
void perf_interrupt_hold(void);
void perf_interrupt_release(void);

#endif
