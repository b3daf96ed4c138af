/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_json.h"

#include <criterion/criterion.h>

#include <itx_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];
static struct perf_records records;

static void setup(void)
{
    int fd;

    (void)snprintf(path, sizeof(path), "/tmp/perf_json_test.XXXXXX");
    fd = mkstemp(path);
    cr_assert(fd >= 0);
    (void)close(fd);
}

static void teardown(void)
{
    (void)unlink(path);
    perf_records_free(&records);
}

TestSuite(perf_json, .init = setup, .fini = teardown);

static bool read_text(const char *text)
{
    FILE *stream = fopen(path, "we");

    cr_assert_not_null(stream);
    (void)fputs(text, stream);
    cr_assert_eq(fclose(stream), 0);
    perf_records_free(&records);
    return perf_json_read(path, &records);
}

static struct perf_record sample(uint64_t size)
{
    struct perf_record record;

    memset(&record, 0, sizeof(record));
    (void)strcpy(record.transport, "itapi");
    (void)strcpy(record.ia, "odd \"name\\ \001");
    (void)strcpy(record.op, "write");
    (void)strcpy(record.measure, "bw");
    (void)strcpy(record.mode, "poll");
    (void)strcpy(record.crc, "off");
    (void)strcpy(record.congestion, "reno");
    (void)strcpy(record.unit, "B/s");
    record.size = size;
    record.depth = 16;
    record.runs = 5;
    record.spin_us = size == 64 ? 0 : ITX_SPIN_DEFAULT;
    record.heap_calls = NAN;
    record.own.iters = 1000;
    record.own.value = (struct perf_summary){.median = 2e9, .min = 1.5e9, .max = 3e9};
    record.own.cpu_us_per_message = 1.25;
    record.own.cpu_seconds_per_gb = 0.5;
    record.own.p50_us = record.own.p99_us = record.own.p999_us = NAN;
    record.has_reference = true;
    record.reference = record.own;
    record.reference.value.median = 1e9;
    return record;
}

Test(perf_json, what_is_written_is_read)
{
    struct perf_records written = {.count = 0};
    FILE *stream = fopen(path, "we");

    cr_assert_not_null(stream);
    for (uint64_t size = 64; size <= 256; size *= 2) {
        struct perf_record record = sample(size);

        cr_assert(perf_records_add(&written, &record));
    }
    perf_json_write_all(stream, &written);
    cr_assert_eq(fclose(stream), 0);
    cr_assert(perf_json_read(path, &records));
    cr_assert_eq(records.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct perf_record *record = &records.records[i];

        cr_assert_str_eq(record->transport, "itapi");
        cr_assert_str_eq(record->ia, "odd \"name\\ \001");
        cr_assert_str_eq(record->op, "write");
        cr_assert_str_eq(record->measure, "bw");
        cr_assert_str_eq(record->mode, "poll");
        cr_assert_str_eq(record->crc, "off");
        cr_assert_str_eq(record->congestion, "reno");
        cr_assert_eq(record->size, 64u << i);
        cr_assert_eq(record->depth, 16);
        cr_assert_eq(record->runs, 5);
        cr_assert_eq(record->own.iters, 1000);
        cr_assert_eq(record->spin_us, i == 0 ? 0 : ITX_SPIN_DEFAULT);
        cr_assert_eq(record->own.value.median, 2e9);
        cr_assert_eq(record->own.value.min, 1.5e9);
        cr_assert_eq(record->own.value.max, 3e9);
        cr_assert_eq(record->own.cpu_us_per_message, 1.25);
        cr_assert_eq(record->own.cpu_seconds_per_gb, 0.5);
        cr_assert(isnan(record->own.p99_us));
        cr_assert(isnan(record->heap_calls));
    }
    perf_records_free(&written);
}

#define BARE "{\"transport\": \"tcp\", \"op\": \"send\", \"measure\": \"lat\", \"value\": 3.5"

/* Members that others have added, of any type, are skipped. */
Test(perf_json, unknown_members)
{
    cr_assert(read_text(BARE ", \"more\": {\"a\": [1, -2.5e-3, {}], \"b\": null}, \"x\": [], "
                             "\"y\": true, \"\\u0041\\n\": \"\\\"\", \"size\": 64}"));
    cr_assert_eq(records.count, 1);
    cr_assert_str_eq(records.records[0].transport, "tcp");
    cr_assert_eq(records.records[0].size, 64);
    cr_assert_eq(records.records[0].own.value.median, 3.5);
    cr_assert_eq(records.records[0].spin_us, ITX_SPIN_DEFAULT);
}

Test(perf_json, bad_files)
{
    static const char *const texts[] = {
        "",
        "[",
        "[]",
        "{}",
        "7",
        "null",
        BARE,
        BARE "}}",
        BARE "},",
        "[" BARE "}",
        "[" BARE "},]",
        "[" BARE "} " BARE "}]",
        BARE ",}",
        BARE ", \"a\"}",
        BARE ", \"a\": }",
        BARE ", \"a\": tru}",
        BARE ", \"a\": 1e999}",
        BARE ", \"a\": nan}",
        BARE ", \"a\": \"\\u00g0\"}",
        BARE ", \"a\": \"\\x\"}",
        BARE ", \"a\": \"\\",
        BARE ", \"a\": \"\\u12",
        BARE ", \"a\": \"no end}",
        BARE ", \"a\": \"a\nb\"}",
        BARE ", \"a\": [1 2]}",
        "{\"transport\": \"tcp\", \"op\": \"send\", \"measure\": \"lat\", \"value\": null}",
        "{\"transport\": \"tcp\", \"op\": \"send\", \"measure\": \"lat\", \"value\": 0}",
        "{\"transport\": 7, \"op\": \"send\", \"measure\": \"lat\", \"value\": 1}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        cr_assert_not(read_text(texts[i]), "%s", texts[i]);
    (void)unlink(path);
    cr_assert_not(perf_json_read(path, &records));
}

/* Words that are too long are truncated and terminated. */
Test(perf_json, long_words)
{
    char text[1024];
    char word[400];

    memset(word, 'a', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    (void)snprintf(text, sizeof(text), BARE ", \"ia\": \"%s\", \"%s\": 1}", word, word);
    cr_assert(read_text(text));
    cr_assert_eq(strlen(records.records[0].ia), PERF_WORD_SIZE - 1);
}

/* A file cannot exhaust the stack. */
Test(perf_json, deep_nesting)
{
    enum {
        DEPTH = 100000
    };
    char *text = malloc(sizeof(BARE ", \"a\": ") + DEPTH);

    cr_assert_not_null(text);
    (void)strcpy(text, BARE ", \"a\": ");
    memset(text + strlen(text), '[', DEPTH);
    text[sizeof(BARE ", \"a\": ") - 1 + DEPTH] = '\0';
    cr_assert_not(read_text(text));
    free(text);
}
