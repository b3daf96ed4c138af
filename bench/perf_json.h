/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results as JSON, one object each; bench/README.md lists the members.
 */
#ifndef ITAPI_BENCH_PERF_JSON_H
#define ITAPI_BENCH_PERF_JSON_H

#include "perf_record.h"

#include <stdio.h>

/* They return false if memory runs out, or if the stream fails. */
bool perf_json_write(FILE *stream, const struct perf_record *record);
bool perf_json_write_all(FILE *stream, const struct perf_records *records);

/*
 * Reads one object, or an array of objects, as these functions write them. Returns false after a
 * message.
 */
bool perf_json_read(const char *path, struct perf_records *records);

#endif
