/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results as a picture: an SVG file that needs nothing else, with a panel for each measure.
 */
#ifndef ITAPI_BENCH_PERF_PLOT_H
#define ITAPI_BENCH_PERF_PLOT_H

#include "perf_record.h"

#include <stdio.h>

/* False without memory, after a message; whether all could be written, the stream knows. */
bool perf_plot_draw(FILE *stream, const struct perf_records *records);

/* Now, and not after minutes of measuring. Changes nothing; false after a message. */
bool perf_plot_may_write(const char *path);

/* False after a message. A file of its own that did not become whole is removed. */
bool perf_plot_write(const char *path, const struct perf_records *records);

#endif
