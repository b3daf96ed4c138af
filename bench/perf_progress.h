/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line on stderr that says what is being measured, where that is a terminal.
 */
#ifndef ITAPI_BENCH_PERF_PROGRESS_H
#define ITAPI_BENCH_PERF_PROGRESS_H

#include "perf.h"

#include <stddef.h>

/* What the runs that follow are about. */
void perf_progress_point(const struct perf_params *params, size_t number, size_t count);

/* Run 0 is the one that finds out how long they should be. */
void perf_progress_run(const struct perf_carrier *carrier, unsigned int number, unsigned int runs);

/* Takes the line away. */
void perf_progress_clear(void);

#endif
