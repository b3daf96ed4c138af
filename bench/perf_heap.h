/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the calls of malloc, free and their kin made by any thread of this process, the library's
 * included: it_perf has functions of these names, which forward to the C library.
 */
#ifndef ITAPI_BENCH_PERF_HEAP_H
#define ITAPI_BENCH_PERF_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Whether counting works here: not with a sanitizer, and with glibc only. */
bool heap_counts(void);

/* Counts from zero. */
void heap_start(void);

/* Stops counting. Returns the calls since heap_start. */
uint64_t heap_stop(void);

#endif
