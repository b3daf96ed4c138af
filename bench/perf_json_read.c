/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what perf_json.c writes, and what others may have made of it: members in any order, unknown
 * ones, of any kind, between them.
 */
#include "perf_json.h"

#include <itx_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAX ((size_t)16 * 1024 * 1024)
#define NESTING_MAX   16

struct reader {
    const char *at; /* in text that ends with a NUL, which no JSON contains */
};

/* ---- JSON --------------------------------------------------------------------------------- */

static void skip_space(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
}

static bool take(struct reader *reader, char wanted)
{
    skip_space(reader);
    if (*reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static bool take_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

/* The character behind a backslash; names and words of ours have none beyond ASCII. */
static bool take_escape(struct reader *reader, char *character)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (*reader->at == 'u') {
        reader->at++;
        for (unsigned int i = 0; i < 4; i++)
            if (*reader->at == '\0' || strchr("0123456789abcdefABCDEF", *reader->at++) == NULL)
                return false;
        *character = '?';
        return true;
    }
    found = *reader->at != '\0' ? strchr(letters, *reader->at) : NULL;
    if (found == NULL)
        return false;
    reader->at++;
    *character = meanings[found - letters];
    return true;
}

/* What is too long for the room, its end included, is cut off. */
static bool take_string(struct reader *reader, char *text, size_t room)
{
    size_t length = 0;

    if (!take(reader, '"'))
        return false;
    while (*reader->at != '"') {
        char character = *reader->at;

        if ((unsigned char)character < 0x20)
            return false;
        reader->at++;
        if (character == '\\' && !take_escape(reader, &character))
            return false;
        if (length + 1 < room)
            text[length++] = character;
    }
    reader->at++;
    text[length] = '\0';
    return true;
}

static bool take_number(struct reader *reader, double *number)
{
    char *end;

    if (*reader->at != '-' && (*reader->at < '0' || *reader->at > '9'))
        return false;
    *number = strtod(reader->at, &end);
    if (end == reader->at || !isfinite(*number))
        return false;
    reader->at = end;
    return true;
}

static bool skip_value(struct reader *reader, unsigned int depth);

static bool skip_members(struct reader *reader, char end, unsigned int depth)
{
    char name[2];

    if (take(reader, end))
        return true;
    do {
        if (end == '}' && (!take_string(reader, name, sizeof(name)) || !take(reader, ':')))
            return false;
        if (!skip_value(reader, depth + 1))
            return false;
    } while (take(reader, ','));
    return take(reader, end);
}

static bool skip_value(struct reader *reader, unsigned int depth)
{
    char text[2];
    double number;

    if (depth > NESTING_MAX)
        return false;
    if (take(reader, '{'))
        return skip_members(reader, '}', depth);
    if (take(reader, '['))
        return skip_members(reader, ']', depth);
    if (*reader->at == '"')
        return take_string(reader, text, sizeof(text));
    return take_word(reader, "null") || take_word(reader, "true") || take_word(reader, "false") ||
           take_number(reader, &number);
}

/* ---- Records ------------------------------------------------------------------------------ */

static const struct word {
    const char *name;
    size_t offset;
} words[] = {
    {"transport", offsetof(struct perf_record, transport)},
    {"ia", offsetof(struct perf_record, ia)},
    {"op", offsetof(struct perf_record, op)},
    {"measure", offsetof(struct perf_record, measure)},
    {"mode", offsetof(struct perf_record, mode)},
    {"crc", offsetof(struct perf_record, crc)},
    {"congestion", offsetof(struct perf_record, congestion)},
    {"unit", offsetof(struct perf_record, unit)},
};

static const struct figure {
    const char *name;
    size_t offset;
} figures[] = {
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

static const struct figure counts[] = {
    {"size", offsetof(struct perf_record, size)},
    {"depth", offsetof(struct perf_record, depth)},
    {"runs", offsetof(struct perf_record, runs)},
    {"spin_us", offsetof(struct perf_record, spin_us)},
    {"iters", offsetof(struct perf_record, own.iters)},
};

static void *member_at(struct perf_record *record, size_t offset)
{
    return (char *)record + offset;
}

static bool read_number_member(struct reader *reader, const char *name, struct perf_record *record)
{
    double number;

    if (!take_number(reader, &number))
        return false;
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        if (strcmp(name, figures[i].name) == 0)
            *(double *)member_at(record, figures[i].offset) = number;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (strcmp(name, counts[i].name) != 0)
            continue;
        if (number < 0 || number >= 0x1p63 || number != floor(number))
            return false;
        *(uint64_t *)member_at(record, counts[i].offset) = (uint64_t)number;
    }
    return true;
}

static bool read_word_member(struct reader *reader, const char *name, struct perf_record *record)
{
    char text[PERF_WORD_SIZE] = "";

    if (!take_string(reader, text, sizeof(text)))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(name, words[i].name) == 0)
            memcpy(member_at(record, words[i].offset), text, sizeof(text));
    return true;
}

static bool read_member(struct reader *reader, struct perf_record *record)
{
    char name[PERF_WORD_SIZE];

    if (!take_string(reader, name, sizeof(name)) || !take(reader, ':'))
        return false;
    skip_space(reader);
    if (*reader->at == '"')
        return read_word_member(reader, name, record);
    if (*reader->at == '-' || (*reader->at >= '0' && *reader->at <= '9'))
        return read_number_member(reader, name, record);
    return skip_value(reader, 0);
}

static void forget(struct perf_record *record)
{
    memset(record, 0, sizeof(*record));
    record->spin_us = ITX_SPIN_DEFAULT;
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        *(double *)member_at(record, figures[i].offset) = NAN;
}

/* Without these it is no result. */
static bool is_result(const struct perf_record *record)
{
    return record->transport[0] != '\0' && record->op[0] != '\0' && record->measure[0] != '\0' &&
           isfinite(record->own.value.median) && record->own.value.median > 0;
}

static bool read_record(struct reader *reader, struct perf_records *records)
{
    struct perf_record record;

    forget(&record);
    if (!take(reader, '{'))
        return false;
    do {
        if (!read_member(reader, &record))
            return false;
    } while (take(reader, ','));
    return take(reader, '}') && is_result(&record) && perf_records_add(records, &record);
}

static bool read_records(struct reader *reader, struct perf_records *records)
{
    if (!take(reader, '['))
        return read_record(reader, records);
    do {
        if (!read_record(reader, records))
            return false;
    } while (take(reader, ','));
    return take(reader, ']');
}

/* ---- The file ----------------------------------------------------------------------------- */

/* The whole file, to be freed, or NULL after a message. */
static char *read_file(const char *path)
{
    FILE *stream = fopen(path, "re");
    char *text = NULL;
    size_t length;

    if (stream == NULL) {
        complain_errno(path);
        return NULL;
    }
    text = malloc(FILE_SIZE_MAX + 1);
    length = text != NULL ? fread(text, 1, FILE_SIZE_MAX + 1, stream) : 0;
    if (text != NULL && (ferror(stream) || length > FILE_SIZE_MAX)) {
        free(text);
        text = NULL;
    }
    (void)fclose(stream);
    if (text == NULL)
        complain("%s cannot be read", path);
    else
        text[length] = '\0';
    return text;
}

bool perf_json_read(const char *path, struct perf_records *records)
{
    char *text = read_file(path);
    struct reader reader = {.at = text};
    bool good;

    if (text == NULL)
        return false;
    good = read_records(&reader, records);
    skip_space(&reader);
    good = good && *reader.at == '\0';
    if (!good)
        complain("%s has no results of it_perf: see the text from its byte %zu on", path,
                 (size_t)(reader.at - text));
    free(text);
    return good;
}
