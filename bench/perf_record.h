/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One result: the figures of one transport with one set of parameters. Tables and JSON files
 * consist of records, and JSON files are read into records.
 */
#ifndef ITAPI_BENCH_PERF_RECORD_H
#define ITAPI_BENCH_PERF_RECORD_H

#include "perf_result.h"

#include <stddef.h>

#define PERF_WORD_SIZE PERF_NAME_SIZE

struct perf_summary {
    double median;
    double min;
    double max;
};

/* All figures of the runs over one carrier. NAN stands for an unknown one. */
struct perf_figures {
    uint64_t iters;
    struct perf_summary value; /* in the unit of the measure */
    double cpu_us_per_message; /* of both sides */
    double cpu_seconds_per_gb; /* the same for 10^9 bytes; unknown for empty messages */
    double p50_us, p99_us, p999_us;
};

struct perf_record {
    char transport[PERF_WORD_SIZE]; /* "itapi" or "tcp" */
    char ia[PERF_WORD_SIZE];        /* of itapi */
    char op[PERF_WORD_SIZE];
    char measure[PERF_WORD_SIZE];
    char mode[PERF_WORD_SIZE];
    char crc[PERF_WORD_SIZE];        /* "on", "off" or "device"; for TCP "none" or "sums" */
    char congestion[PERF_WORD_SIZE]; /* of plain TCP; empty: the system's */
    char unit[PERF_WORD_SIZE];
    uint64_t size;
    uint64_t depth;
    uint64_t runs;
    uint64_t spin_us; /* ITX_SPIN_DEFAULT */
    double heap_calls;
    struct perf_figures own;
    bool has_reference; /* plain TCP was measured in the same run */
    struct perf_figures reference;
};

/* A growing array. */
struct perf_records {
    struct perf_record *records;
    size_t count;
    size_t room;
};

/* Copies record. Returns false after a message. */
bool perf_records_add(struct perf_records *records, const struct perf_record *record);
void perf_records_free(struct perf_records *records);

/* Sorts the values of the series and adds a record for each carrier. */
bool perf_records_add_results(struct perf_records *records, const struct perf_params *params,
                              unsigned int runs, struct perf_results *results);

#endif
