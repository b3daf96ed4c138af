/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of the runs with one set of parameters. */
#ifndef ITAPI_BENCH_PERF_RESULT_H
#define ITAPI_BENCH_PERF_RESULT_H

#include "histogram.h"
#include "perf.h"

#define PERF_RUNS_MAX 1000

/* The runs over one carrier. */
struct perf_series {
    uint64_t iters;
    unsigned int count;
    double values[PERF_RUNS_MAX]; /* in the unit of the measure */
    double cpu_us[PERF_RUNS_MAX]; /* processor time of both sides, microseconds for each message */
    struct histogram round_trips; /* nanoseconds; empty unless requested */
    bool crc_by_device;           /* params.crc has no effect */
    uint64_t heap_calls;          /* of both sides */
};

struct perf_results {
    struct perf_series series[PERF_CARRIERS_MAX];
};

/* Returns the value of a run in the unit of its measure. */
double perf_value(const struct perf_params *params, uint64_t iters, double seconds);

#endif
