/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints one line on stderr that says what is being measured, if that is a terminal. */
#ifndef ITAPI_BENCH_PERF_PROGRESS_H
#define ITAPI_BENCH_PERF_PROGRESS_H

#include "perf.h"

#include <stddef.h>

/* Names the subject of the following runs. */
void perf_progress_point(const struct perf_params *params, size_t number, size_t count);

/* Run 0 finds out how long the others should be. */
void perf_progress_run(const struct perf_carrier *carrier, unsigned int number, unsigned int runs);

/* Removes the line. */
void perf_progress_clear(void);

#endif
