/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_report.h"

#include "perf_heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct summary {
    double median;
    double min;
    double max;
};

double report_value(const struct perf_params *params, uint64_t iters, double seconds)
{
    double count = (double)iters;

    switch (params->measure) {
    case PERF_LAT:
        return seconds * 1e6 / count / (params->op == PERF_READ ? 1 : 2);
    case PERF_BW:
        return count * (double)params->size / seconds;
    case PERF_RATE:
        return count / seconds;
    }
    return 0;
}

static int compare(const void *one, const void *other)
{
    double left = *(const double *)one;
    double right = *(const double *)other;

    return (left > right) - (left < right);
}

static struct summary summarize(struct perf_series *series)
{
    unsigned int last = series->count - 1;
    struct summary summary;

    qsort(series->values, series->count, sizeof(series->values[0]), compare);
    summary.min = series->values[0];
    summary.max = series->values[last];
    /* Of an even number, the mean of the two in the middle. */
    summary.median = (series->values[last / 2] + series->values[(last + 1) / 2]) / 2;
    return summary;
}

static void print_json_values(const char *prefix, const struct summary *summary)
{
    (void)printf(", \"%smin\": %.6g, \"%smedian\": %.6g, \"%smax\": %.6g", prefix, summary->min,
                 prefix, summary->median, prefix, summary->max);
}

static const char *crc_name(const struct perf_options *options, const struct perf_results *results)
{
    if (results->crc_by_device)
        return "device";
    return options->params.crc ? "on" : "off";
}

static void print_json(const struct perf_options *options, const struct perf_results *results,
                       const struct summary *value, const struct summary *reference)
{
    const struct perf_params *params = &options->params;

    (void)printf("{\"transport\": \"%s\", \"op\": \"%s\", \"measure\": \"%s\", \"size\": %" PRIu64
                 ", \"mode\": \"%s\", \"crc\": \"%s\", \"depth\": %" PRIu64 ", \"iters\": %" PRIu64
                 ", \"runs\": %u, \"value\": %.6g, \"unit\": \"%s\"",
                 perf_transport_name(options->transport), perf_op_name(params->op),
                 perf_measure_name(params->measure), params->size, perf_mode_name(params->mode),
                 crc_name(options, results), params->depth,
                 results->series[options->transport].iters, options->runs, value->median,
                 perf_unit(params->measure));
    if (reference != NULL)
        (void)printf(", \"reference\": %.6g, \"ratio\": %.4f", reference->median,
                     value->median / reference->median);
    else
        (void)printf(", \"reference\": null, \"ratio\": null");
    print_json_values("", value);
    if (reference != NULL) {
        print_json_values("reference_", reference);
        (void)printf(", \"reference_iters\": %" PRIu64, results->series[PERF_TCP].iters);
    }
    if (options->transport == PERF_ITAPI && heap_counts())
        (void)printf(", \"heap_calls\": %" PRIu64 "}\n", results->heap_calls);
    else
        (void)printf(", \"heap_calls\": null}\n");
}

/* Bytes and messages per second are large numbers. */
static double readable(enum perf_measure measure, double value)
{
    return measure == PERF_LAT ? value : value / 1e6;
}

static void print_row(const struct perf_params *params, const char *name,
                      const struct summary *summary)
{
    (void)printf("  %-8s %12.3f %12.3f %12.3f\n", name, readable(params->measure, summary->median),
                 readable(params->measure, summary->min), readable(params->measure, summary->max));
}

static void print_table(const struct perf_options *options, const struct perf_results *results,
                        const struct summary *value, const struct summary *reference)
{
    static const char *const units[] = {"us", "MB/s", "million messages/s"};
    const struct perf_params *params = &options->params;

    (void)printf("%s %s, %" PRIu64 " bytes, %s, CRC %s, depth %" PRIu64 ", %u runs of %" PRIu64
                 " messages; %s\n",
                 perf_op_name(params->op), perf_measure_name(params->measure), params->size,
                 perf_mode_name(params->mode), crc_name(options, results), params->depth,
                 options->runs, results->series[options->transport].iters, units[params->measure]);
    (void)printf("  %-8s %12s %12s %12s\n", "", "median", "min", "max");
    print_row(params, perf_transport_name(options->transport), value);
    if (reference != NULL) {
        print_row(params, perf_transport_name(PERF_TCP), reference);
        (void)printf("  %-8s %12.3f\n", "ratio", value->median / reference->median);
    }
    if (options->transport == PERF_ITAPI && heap_counts())
        (void)printf("  %-8s %12" PRIu64 " calls\n", "heap", results->heap_calls);
}

void report_print(const struct perf_options *options, struct perf_results *results)
{
    bool compared = options->transport == PERF_ITAPI && options->params.uses[PERF_TCP];
    struct summary value = summarize(&results->series[options->transport]);
    struct summary tcp;

    if (compared)
        tcp = summarize(&results->series[PERF_TCP]);
    if (options->json)
        print_json(options, results, &value, compared ? &tcp : NULL);
    else
        print_table(options, results, &value, compared ? &tcp : NULL);
}
