/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_table.h"

#include <inttypes.h>
#include <itx_api.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_latency(const struct perf_record *record)
{
    return strcmp(record->measure, perf_measure_name(PERF_LAT)) == 0;
}

double perf_table_value(const struct perf_record *record, double value)
{
    return is_latency(record) ? value : value / 1e6;
}

void perf_table_unit(const struct perf_record *record, char unit[PERF_TABLE_UNIT_SIZE])
{
    (void)snprintf(unit, PERF_TABLE_UNIT_SIZE, "%s%s", is_latency(record) ? "" : "M", record->unit);
}

const char *perf_table_name(const struct perf_record *record)
{
    return record->ia[0] != '\0' ? record->ia : record->transport;
}

/* Rows have at most 100 columns, whatever the numbers are. */
static void print_number(double number)
{
    if (isfinite(number))
        (void)printf(" %9.*f", number < 1e4 ? 3 : 1, number);
    else
        (void)printf(" %9s", "-");
}

static void print_title(const struct perf_record *record)
{
    char unit[PERF_TABLE_UNIT_SIZE];

    perf_table_unit(record, unit);
    (void)printf("%s %s, %" PRIu64 " bytes, %s", record->op, record->measure, record->size,
                 record->mode);
    if (record->spin_us != ITX_SPIN_DEFAULT)
        (void)printf(" (polling for %" PRIu64 " us)", record->spin_us);
    if (record->congestion[0] != '\0')
        (void)printf(" (plain TCP with %s)", record->congestion);
    (void)printf(", CRC %s, depth %" PRIu64 ", %" PRIu64 " runs of %" PRIu64 " messages; %s\n",
                 record->crc, record->depth, record->runs, record->own.iters, unit);
    (void)printf("  %-8s %9s %9s %9s %9s %9s %9s", "", "median", "min", "max", "x of tcp", "CPU us",
                 "CPU s/GB");
    if (isfinite(record->own.p50_us))
        (void)printf(" %9s %9s %9s", "p50", "p99", "p99.9");
    (void)putchar('\n');
}

static void print_row(const struct perf_record *record)
{
    const struct perf_figures *own = &record->own;

    (void)printf("  %-8s", perf_table_name(record));
    print_number(perf_table_value(record, own->value.median));
    print_number(perf_table_value(record, own->value.min));
    print_number(perf_table_value(record, own->value.max));
    print_number(record->has_reference ? own->value.median / record->reference.value.median : NAN);
    print_number(own->cpu_us_per_message);
    print_number(own->cpu_seconds_per_gb);
    if (isfinite(own->p50_us)) {
        print_number(own->p50_us);
        print_number(own->p99_us);
        print_number(own->p999_us);
    }
    if (record->heap_calls > 0)
        (void)printf("  %.0f heap calls", record->heap_calls);
    (void)putchar('\n');
}

void perf_table_print(const struct perf_records *records, size_t from)
{
    if (from < records->count)
        print_title(&records->records[from]);
    for (size_t i = from; i < records->count; i++)
        print_row(&records->records[i]);
    (void)fflush(stdout);
}
