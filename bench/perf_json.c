/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_json.h"

#include <itx_api.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct member {
    const char *name;
    size_t offset; /* offset in struct perf_record */
};

#define WORD(name)                                                                                 \
    {                                                                                              \
#name, offsetof(struct perf_record, name)                                                  \
    }

static const struct member words[] = {
    WORD(transport), WORD(ia),  WORD(op),         WORD(measure),
    WORD(mode),      WORD(crc), WORD(congestion), WORD(unit),
};

/* The figures that a result is read with. */
static const struct member figures[] = {
    {"value", offsetof(struct perf_record, own.value.median)},
    {"min", offsetof(struct perf_record, own.value.min)},
    {"max", offsetof(struct perf_record, own.value.max)},
    {"cpu_us_per_message", offsetof(struct perf_record, own.cpu_us_per_message)},
    {"cpu_seconds_per_gb", offsetof(struct perf_record, own.cpu_seconds_per_gb)},
    {"p50_us", offsetof(struct perf_record, own.p50_us)},
    {"p99_us", offsetof(struct perf_record, own.p99_us)},
    {"p999_us", offsetof(struct perf_record, own.p999_us)},
    {"heap_calls", offsetof(struct perf_record, heap_calls)},
};

static const struct member counts[] = {
    {"size", offsetof(struct perf_record, size)},
    {"depth", offsetof(struct perf_record, depth)},
    {"runs", offsetof(struct perf_record, runs)},
    {"spin_us", offsetof(struct perf_record, spin_us)},
    {"iters", offsetof(struct perf_record, own.iters)},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void *member_at(struct perf_record *record, size_t offset)
{
    return (char *)record + offset;
}

/* ---- Writing ------------------------------------------------------------------------------ */

/* Without memory json_object_set_new fails, and so do all later calls on the object. */
static bool set_number(json_t *object, const char *prefix, const char *name, double number)
{
    char key[64];

    (void)snprintf(key, sizeof(key), "%s%s", prefix, name);
    return json_object_set_new(object, key, isfinite(number) ? json_real(number) : json_null()) ==
           0;
}

static bool set_word(json_t *object, const char *name, const char *word)
{
    return json_object_set_new(object, name, json_string_nocheck(word)) == 0;
}

/* An empty word is unknown. */
static bool set_optional(json_t *object, const char *name, const char *word)
{
    return json_object_set_new(object, name,
                               word[0] != '\0' ? json_string_nocheck(word) : json_null()) == 0;
}

static bool set_count(json_t *object, const char *name, uint64_t count)
{
    return json_object_set_new(object, name, json_integer((json_int_t)count)) == 0;
}

static bool set_figures(json_t *object, const char *prefix, const struct perf_figures *of)
{
    return set_number(object, prefix, "min", of->value.min) &&
           set_number(object, prefix, "median", of->value.median) &&
           set_number(object, prefix, "max", of->value.max) &&
           set_number(object, prefix, "cpu_us_per_message", of->cpu_us_per_message) &&
           set_number(object, prefix, "cpu_seconds_per_gb", of->cpu_seconds_per_gb) &&
           set_number(object, prefix, "p50_us", of->p50_us) &&
           set_number(object, prefix, "p99_us", of->p99_us) &&
           set_number(object, prefix, "p999_us", of->p999_us);
}

static bool set_parameters(json_t *object, const struct perf_record *record)
{
    bool spins = record->spin_us != ITX_SPIN_DEFAULT;

    return set_word(object, "transport", record->transport) &&
           set_optional(object, "ia", record->ia) && set_word(object, "op", record->op) &&
           set_word(object, "measure", record->measure) &&
           set_count(object, "size", record->size) && set_word(object, "mode", record->mode) &&
           (spins ? set_count(object, "spin_us", record->spin_us)
                  : set_number(object, "", "spin_us", NAN)) &&
           set_word(object, "crc", record->crc) &&
           set_optional(object, "congestion", record->congestion) &&
           set_count(object, "depth", record->depth) &&
           set_count(object, "iters", record->own.iters) && set_count(object, "runs", record->runs);
}

static bool set_results(json_t *object, const struct perf_record *record)
{
    double value = record->own.value.median;
    double reference = record->has_reference ? record->reference.value.median : NAN;

    return set_number(object, "", "value", value) && set_word(object, "unit", record->unit) &&
           set_number(object, "", "reference", reference) &&
           set_number(object, "", "ratio", value / reference) &&
           set_figures(object, "", &record->own) &&
           (!record->has_reference ||
            (set_figures(object, "reference_", &record->reference) &&
             set_count(object, "reference_iters", record->reference.iters))) &&
           set_number(object, "", "heap_calls", record->heap_calls);
}

bool perf_json_write(FILE *stream, const struct perf_record *record)
{
    json_t *object = json_object();
    bool good = object != NULL && set_parameters(object, record) && set_results(object, record) &&
                json_dumpf(object, stream, JSON_REAL_PRECISION(6)) == 0;

    json_decref(object);
    return good;
}

bool perf_json_write_all(FILE *stream, const struct perf_records *records)
{
    bool good = fputc('[', stream) != EOF;

    for (size_t i = 0; i < records->count && good; i++)
        good = fputs(i == 0 ? "\n " : ",\n ", stream) != EOF &&
               perf_json_write(stream, &records->records[i]);
    return good && fputs("\n]\n", stream) != EOF;
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* A word that is too long for the record is truncated. */
static bool read_words(const json_t *object, struct perf_record *record)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        const json_t *word = json_object_get(object, words[i].name);

        if (word == NULL || json_is_null(word))
            continue;
        if (!json_is_string(word))
            return false;
        (void)snprintf(member_at(record, words[i].offset), PERF_WORD_SIZE, "%s",
                       json_string_value(word));
    }
    return true;
}

static bool read_numbers(const json_t *object, struct perf_record *record)
{
    for (size_t i = 0; i < COUNT(figures); i++) {
        const json_t *number = json_object_get(object, figures[i].name);

        if (json_is_number(number))
            *(double *)member_at(record, figures[i].offset) = json_number_value(number);
    }
    for (size_t i = 0; i < COUNT(counts); i++) {
        const json_t *number = json_object_get(object, counts[i].name);

        if (number == NULL || json_is_null(number))
            continue;
        if (!json_is_integer(number) || json_integer_value(number) < 0)
            return false;
        *(uint64_t *)member_at(record, counts[i].offset) = (uint64_t)json_integer_value(number);
    }
    return true;
}

static void forget(struct perf_record *record)
{
    memset(record, 0, sizeof(*record));
    record->spin_us = ITX_SPIN_DEFAULT;
    for (size_t i = 0; i < COUNT(figures); i++)
        *(double *)member_at(record, figures[i].offset) = NAN;
}

/* A result must have these. */
static bool is_result(const struct perf_record *record)
{
    return record->transport[0] != '\0' && record->op[0] != '\0' && record->measure[0] != '\0' &&
           isfinite(record->own.value.median) && record->own.value.median > 0;
}

static bool read_record(const json_t *object, struct perf_records *records)
{
    struct perf_record record;

    forget(&record);
    return json_is_object(object) && read_words(object, &record) && read_numbers(object, &record) &&
           is_result(&record) && perf_records_add(records, &record);
}

static bool read_records(const json_t *root, struct perf_records *records)
{
    if (!json_is_array(root))
        return read_record(root, records);
    for (size_t i = 0; i < json_array_size(root); i++)
        if (!read_record(json_array_get(root, i), records))
            return false;
    return json_array_size(root) > 0;
}

bool perf_json_read(const char *path, struct perf_records *records)
{
    json_error_t error;
    json_t *root;
    bool good;

    if (access(path, R_OK) != 0) {
        complain_errno(path);
        return false;
    }
    root = json_load_file(path, 0, &error);
    good = root != NULL && read_records(root, records);
    if (root == NULL)
        complain("%s is no JSON: line %d: %s", path, error.line, error.text);
    else if (!good)
        complain("%s has no results of it_perf", path);
    json_decref(root);
    return good;
}
