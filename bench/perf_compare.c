/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_compare.h"

#include "perf_json.h"
#include "perf_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns whether both records have the same parameters, except how long was measured. */
static bool is_same(const struct perf_record *one, const struct perf_record *other)
{
    return strcmp(one->transport, other->transport) == 0 && strcmp(one->ia, other->ia) == 0 &&
           strcmp(one->op, other->op) == 0 && strcmp(one->measure, other->measure) == 0 &&
           strcmp(one->mode, other->mode) == 0 && strcmp(one->crc, other->crc) == 0 &&
           strcmp(one->congestion, other->congestion) == 0 && one->size == other->size &&
           one->depth == other->depth && one->spin_us == other->spin_us;
}

static const struct perf_record *find_same(const struct perf_records *records,
                                           const struct perf_record *wanted)
{
    for (size_t i = 0; i < records->count; i++)
        if (is_same(&records->records[i], wanted))
            return &records->records[i];
    return NULL;
}

/*
 * Returns by how much a value has become worse: smaller latencies are better, larger values
 * otherwise.
 */
static double loss(const struct perf_record *old, const struct perf_record *now)
{
    double ratio = now->own.value.median / old->own.value.median;

    return strcmp(now->measure, perf_measure_name(PERF_LAT)) == 0 ? ratio - 1 : 1 - ratio;
}

static const char *judgement(double loss, double tolerance)
{
    if (loss > tolerance / 100)
        return "  WORSE";
    return loss < -tolerance / 100 ? "  better" : "";
}

static void print_head(void)
{
    (void)printf("%-10s %-5s %-4s %9s %-4s %-6s %12s %12s %-7s %7s %7s\n", "", "op", "", "size",
                 "mode", "CRC", "old", "new", "", "ratio", "of CPU");
}

static void print_row(const struct perf_record *old, const struct perf_record *now,
                      double tolerance)
{
    char unit[PERF_TABLE_UNIT_SIZE];

    perf_table_unit(now, unit);
    (void)printf("%-10s %-5s %-4s %9" PRIu64 " %-4s %-6s %12.3f %12.3f %-7s %7.3f",
                 perf_table_name(now), now->op, now->measure, now->size, now->mode, now->crc,
                 perf_table_value(old, old->own.value.median),
                 perf_table_value(now, now->own.value.median), unit,
                 now->own.value.median / old->own.value.median);
    if (isfinite(old->own.cpu_us_per_message) && isfinite(now->own.cpu_us_per_message))
        (void)printf(" %7.3f", now->own.cpu_us_per_message / old->own.cpu_us_per_message);
    else
        (void)printf(" %7s", "-");
    (void)printf("%s\n", judgement(loss(old, now), tolerance));
}

struct tally {
    size_t compared;
    size_t worse;
};

static size_t count_missing(const struct perf_records *records, const struct perf_records *others)
{
    size_t count = 0;

    for (size_t i = 0; i < records->count; i++)
        if (find_same(others, &records->records[i]) == NULL)
            count++;
    return count;
}

static enum perf_verdict compare(const struct perf_records *old, const struct perf_records *now,
                                 double tolerance)
{
    struct tally ours = {.compared = 0};
    struct tally tcp = {.compared = 0};
    const struct tally *counts = &ours;

    print_head();
    for (size_t i = 0; i < now->count; i++) {
        const struct perf_record *record = &now->records[i];
        const struct perf_record *before = find_same(old, record);
        bool is_tcp = strcmp(record->transport, perf_transport_name(PERF_TCP)) == 0;
        struct tally *tally = is_tcp ? &tcp : &ours;

        if (before == NULL)
            continue;
        print_row(before, record, tolerance);
        tally->compared++;
        tally->worse += loss(before, record) > tolerance / 100;
    }
    if (ours.compared + tcp.compared == 0) {
        complain("the files have no result in common");
        return PERF_INCOMPARABLE;
    }
    /* TCP figures beside the others show how fast the machine was. */
    if (ours.compared == 0)
        counts = &tcp;
    (void)printf(
        "%zu results, %zu of them worse by more than %g %%; only in the old file: %zu, only "
        "in the new one: %zu\n",
        counts->compared, counts->worse, tolerance, count_missing(old, now),
        count_missing(now, old));
    return counts->worse > 0 ? PERF_WORSE : PERF_NO_WORSE;
}

enum perf_verdict perf_compare(const char *old_path, const char *new_path, double tolerance)
{
    struct perf_records old = {.count = 0};
    struct perf_records now = {.count = 0};
    enum perf_verdict verdict = PERF_INCOMPARABLE;

    if (perf_json_read(old_path, &old) && perf_json_read(new_path, &now))
        verdict = compare(&old, &now, tolerance);
    perf_records_free(&old);
    perf_records_free(&now);
    return verdict;
}
