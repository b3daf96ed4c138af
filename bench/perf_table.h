/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints results for people. */
#ifndef ITAPI_BENCH_PERF_TABLE_H
#define ITAPI_BENCH_PERF_TABLE_H

#include "perf_record.h"

/* Prints the records from this one on, which have the same parameters. */
void perf_table_print(const struct perf_records *records, size_t from);

/*
 * Bytes and messages per second are large numbers, so they are shown in millions with an M in front
 * of the record's unit.
 */
#define PERF_TABLE_UNIT_SIZE (PERF_WORD_SIZE + 1)
double perf_table_value(const struct perf_record *record, double value);
void perf_table_unit(const struct perf_record *record, char unit[PERF_TABLE_UNIT_SIZE]);

/* Returns the table's name of a transport: tcp, uiwarp, siw0. */
const char *perf_table_name(const struct perf_record *record);

#endif
