/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results: the runs' values, their median, and how they are printed.
 */
#ifndef ITAPI_BENCH_PERF_REPORT_H
#define ITAPI_BENCH_PERF_REPORT_H

#include "perf_options.h"

struct perf_series {
    uint64_t iters;
    unsigned int count;
    double values[PERF_RUNS_MAX]; /* in the unit of the measure */
};

struct perf_results {
    struct perf_series series[PERF_TRANSPORTS];
    bool crc_by_device;  /* params.crc says nothing */
    uint64_t heap_calls; /* of both sides, in the runs over the API */
};

/* The value of a run, in the unit of its measure. */
double report_value(const struct perf_params *params, uint64_t iters, double seconds);

/* Prints the results, as a table or as JSON. */
void report_print(const struct perf_options *options, struct perf_results *results);

#endif
