/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results as a picture: an SVG file that needs nothing else, with a panel for each measure.
 */
#ifndef ITAPI_BENCH_PERF_PLOT_H
#define ITAPI_BENCH_PERF_PLOT_H

#include "perf_record.h"

#include <stdio.h>

/* Closes the stream. False after a message, which names the path. */
bool perf_plot_write(FILE *stream, const char *path, const struct perf_records *records);

#endif
