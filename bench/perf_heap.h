/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the calls of malloc, free and similar functions by all threads of this process, including
 * the library's. it_perf has functions with these names, which forward to the C library.
 */
#ifndef ITAPI_BENCH_PERF_HEAP_H
#define ITAPI_BENCH_PERF_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether counting works here: only with glibc and without a sanitizer. */
bool heap_counts(void);

/* Counts from zero. */
void heap_start(void);

/* Stops counting. Returns the calls since heap_start. */
uint64_t heap_stop(void);

#endif
