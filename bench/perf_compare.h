/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two files of results beside each other.
 */
#ifndef ITAPI_BENCH_PERF_COMPARE_H
#define ITAPI_BENCH_PERF_COMPARE_H

#include <stdbool.h>

enum perf_verdict {
    PERF_NO_WORSE,
    PERF_WORSE,
    PERF_INCOMPARABLE, /* after a message: a file cannot be read, or they have nothing in common */
};

/*
 * Prints a table. tolerance: how many percent a result may be worse than it was. Those of plain TCP
 * do not count where there are others.
 */
enum perf_verdict perf_compare(const char *old_path, const char *new_path, double tolerance);

#endif
