/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes records from the results of runs. */
#include "perf_heap.h"
#include "perf_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Figures ------------------------------------------------------------------------------ */

static int compare(const void *one, const void *other)
{
    double left = *(const double *)one;
    double right = *(const double *)other;

    return (left > right) - (left < right);
}

static struct perf_summary summarize(double *values, unsigned int count)
{
    unsigned int last = count - 1;
    struct perf_summary summary;

    qsort(values, count, sizeof(values[0]), compare);
    summary.min = values[0];
    summary.max = values[last];
    /* For an even number it is the mean of the two in the middle. */
    summary.median = (values[last / 2] + values[(last + 1) / 2]) / 2;
    return summary;
}

/* Like the value, it is half of a round trip, except for Reads. */
static double quantile_us(const struct perf_params *params, const struct perf_series *series,
                          double share)
{
    double round_trip_us = (double)histogram_quantile(&series->round_trips, share) / 1e3;

    if (series->round_trips.count == 0)
        return NAN;
    return round_trip_us / (double)perf_messages(params, 1);
}

static struct perf_figures figures_of(const struct perf_params *params, struct perf_series *series)
{
    struct perf_figures figures = {.iters = series->iters};

    figures.value = summarize(series->values, series->count);
    figures.cpu_us_per_message = summarize(series->cpu_us, series->count).median;
    figures.cpu_seconds_per_gb =
        params->size > 0 ? figures.cpu_us_per_message * 1e3 / (double)params->size : NAN;
    figures.p50_us = quantile_us(params, series, 0.5);
    figures.p99_us = quantile_us(params, series, 0.99);
    figures.p999_us = quantile_us(params, series, 0.999);
    return figures;
}

/* ---- Records ------------------------------------------------------------------------------ */

static void set_word(char *word, const char *text)
{
    (void)snprintf(word, PERF_WORD_SIZE, "%s", text);
}

static struct perf_record record_of(const struct perf_params *params, unsigned int carrier,
                                    unsigned int runs, struct perf_series *series)
{
    bool itapi = params->carriers[carrier].transport == PERF_ITAPI;
    struct perf_record record;

    memset(&record, 0, sizeof(record));
    set_word(record.transport, perf_transport_name(params->carriers[carrier].transport));
    set_word(record.ia, params->carriers[carrier].ia);
    set_word(record.op, perf_op_name(params->op));
    set_word(record.measure, perf_measure_name(params->measure));
    set_word(record.mode, perf_mode_name(params->mode));
    if (itapi)
        set_word(record.crc, series->crc_by_device ? "device" : params->crc ? "on" : "off");
    else
        set_word(record.crc, params->sums ? "sums" : "none");
    set_word(record.congestion, params->congestion);
    set_word(record.unit, perf_unit(params->measure));
    record.size = params->size;
    record.depth = params->depth;
    record.runs = runs;
    record.spin_us = params->spin_us;
    record.heap_calls = itapi && heap_counts() ? (double)series->heap_calls : NAN;
    record.own = figures_of(params, series);
    return record;
}

/* Returns the record of plain TCP, if it was measured. */
static const struct perf_record *find_tcp(const struct perf_records *records, size_t from)
{
    for (size_t i = from; i < records->count; i++)
        if (strcmp(records->records[i].transport, perf_transport_name(PERF_TCP)) == 0)
            return &records->records[i];
    return NULL;
}

bool perf_records_add_results(struct perf_records *records, const struct perf_params *params,
                              unsigned int runs, struct perf_results *results)
{
    size_t from = records->count;
    const struct perf_record *tcp;

    for (unsigned int i = 0; i < params->carrier_count; i++) {
        struct perf_series *series = &results->series[i];
        struct perf_record record;

        if (series->count == 0)
            continue;
        record = record_of(params, i, runs, series);
        if (!perf_records_add(records, &record))
            return false;
    }
    tcp = find_tcp(records, from);
    for (size_t i = from; tcp != NULL && i < records->count; i++) {
        struct perf_record *record = &records->records[i];

        record->has_reference = record != tcp;
        if (record->has_reference)
            record->reference = tcp->own;
    }
    return true;
}
