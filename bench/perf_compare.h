/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares two files of results. */
#ifndef ITAPI_BENCH_PERF_COMPARE_H
#define ITAPI_BENCH_PERF_COMPARE_H

#include <stdbool.h>

enum perf_verdict {
    PERF_NO_WORSE,
    PERF_WORSE,
    PERF_INCOMPARABLE, /* after a message: a file cannot be read, or they have nothing in common */
};

/*
 * Prints a table. tolerance: the percentage by which a result may become worse. Results of plain
 * TCP count only if there are no others.
 */
enum perf_verdict perf_compare(const char *old_path, const char *new_path, double tolerance);

#endif
