/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that one command line wants to have measured: points of operation, measure and size.
 */
#ifndef ITAPI_BENCH_PERF_MATRIX_H
#define ITAPI_BENCH_PERF_MATRIX_H

#include "perf_options.h"
#include "perf_record.h"

struct perf_point {
    enum perf_op op;
    enum perf_measure measure;
    uint64_t size;
};

#define PERF_POINTS_MAX (9 * PERF_SIZES_MAX)

/*
 * Fills in the points that make sense, in the order in which they are measured, and returns their
 * number. refusal: why another one does not, or NULL.
 */
size_t perf_matrix_points(const struct perf_options *options, struct perf_point *points,
                          const char **refusal);

/* Measures them all, and prints a table of each unless JSON is wanted. False after a message. */
bool perf_matrix_run(const struct perf_options *options, const char *host, const char *port,
                     struct perf_records *records);

#endif
