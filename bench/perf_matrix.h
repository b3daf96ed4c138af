/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything that one command line measures: points of operation, measure and size. */
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
 * Fills in the points that make sense, in the order of measurement. Returns their number. refusal
 * receives why another one does not make sense, or NULL.
 */
size_t perf_matrix_points(const struct perf_options *options, struct perf_point *points,
                          const char **refusal);

/*
 * Measures all points, and prints a table of each unless JSON is wanted. Returns false after a
 * message.
 */
bool perf_matrix_run(const struct perf_options *options, const char *host, const char *port,
                     struct perf_records *records);

#endif
