/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A logarithmic axis.
 */
#ifndef ITAPI_BENCH_PERF_SCALE_H
#define ITAPI_BENCH_PERF_SCALE_H

#include <stdbool.h>
#include <stddef.h>

struct perf_scale {
    double low; /* at the axis' begin, and its end; both positive */
    double high;
    double begin; /* in the picture's units */
    double end;
};

/* The same with room for a value, unless that is not positive. An axis of no values has low 0. */
void perf_scale_include(struct perf_scale *scale, double value);

/* Opens up an axis that would be a point, and has both its ends at round numbers 1, 2, 5 x 10^n. */
void perf_scale_round(struct perf_scale *scale);

double perf_scale_place(const struct perf_scale *scale, double value);

/* The round number after this one: 1, 2, 5, 10, 20, ... */
double perf_scale_next(double value);

#endif
