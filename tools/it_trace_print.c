/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints a snapshot as text or as JSON. Rates are computed from the growth since the previous
 * snapshot.
 */
#include "it_trace_print.h"

#include "tool_json.h"

#include <stdio.h>
#include <string.h>

/* Returns false for numbers that are no counters. */
static bool is_counter(const struct snapshot_field *field)
{
    static const char *const others[] = {"pid", "time_ns", "version", "eps", "eps_told", "id"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(field->name, others[i]) == 0)
            return false;
    return field->is_number;
}

struct rates {
    const struct snapshot_line *before; /* of the same object; NULL: none, or another object now */
    double seconds;
};

static struct rates rates_of(const struct snapshot *now, const struct snapshot *before,
                             const struct snapshot_line *line)
{
    struct rates rates = {NULL, 0};

    if (before) {
        rates.before = snapshot_same(before, line);
        rates.seconds = snapshot_seconds(before, now);
    }
    if (rates.seconds <= 0)
        rates.before = NULL;
    return rates;
}

/*
 * Returns a negative number if there is no rate. The memory of EPs is reused: a counter that has
 * decreased belongs to another EP.
 */
static double rate_of(const struct rates *rates, const struct snapshot_field *field)
{
    const struct snapshot_field *old =
        rates->before ? snapshot_find(rates->before, field->name) : NULL;

    if (!old || old->number > field->number)
        return -1;
    return (double)(field->number - old->number) / rates->seconds;
}

/* ---------------------------------------------------------------- text */

static void text_line(const struct snapshot_line *line, const struct rates *rates)
{
    bool outer = strcmp(line->kind, "itapi") == 0 || strcmp(line->kind, "ia") == 0;

    printf("%s%s", outer ? "" : "  ", line->kind);
    for (size_t i = 0; i < line->field_count; i++)
        if (!is_counter(&line->fields[i]) && strcmp(line->fields[i].name, "time_ns") != 0)
            printf(" %s=%s", line->fields[i].name, line->fields[i].value);
    putchar('\n');
    for (size_t i = 0; i < line->field_count; i++) {
        const struct snapshot_field *field = &line->fields[i];
        double rate = rate_of(rates, field);

        if (!is_counter(field) || field->number == 0)
            continue;
        printf("      %-24s %20s", field->name, field->value);
        if (rate >= 0)
            printf(" %16.1f/s", rate);
        putchar('\n');
    }
}

void trace_print_text(const struct snapshot *now, const struct snapshot *before)
{
    for (size_t i = 0; i < now->line_count; i++) {
        struct rates rates = rates_of(now, before, &now->lines[i]);

        text_line(&now->lines[i], &rates);
    }
}

/* ---------------------------------------------------------------- JSON */

static void json_fields(const struct snapshot_line *line, const struct rates *rates)
{
    for (size_t i = 0; i < line->field_count; i++) {
        if (line->fields[i].is_number)
            json_number(line->fields[i].name, line->fields[i].number);
        else
            json_text(line->fields[i].name, line->fields[i].value);
    }
    if (!rates->before)
        return;
    json_open("per_second", "{");
    for (size_t i = 0; i < line->field_count; i++)
        if (is_counter(&line->fields[i]) && rate_of(rates, &line->fields[i]) >= 0)
            json_real(line->fields[i].name, rate_of(rates, &line->fields[i]));
    json_close("}");
}

/* One in an array. */
static void json_line(const struct snapshot *now, const struct snapshot *before, size_t at,
                      bool named)
{
    struct rates rates = rates_of(now, before, &now->lines[at]);

    json_open(NULL, "{");
    if (named)
        json_text("kind", now->lines[at].kind);
    json_fields(&now->lines[at], &rates);
    json_close("}");
}

/* The lines of EPs follow that of their IA, and lines of layers above follow those. */
static size_t json_ia(const struct snapshot *now, const struct snapshot *before, size_t at)
{
    struct rates rates = rates_of(now, before, &now->lines[at]);

    json_open(NULL, "{");
    json_fields(&now->lines[at++], &rates);
    json_open("endpoints", "[");
    for (; at < now->line_count && strcmp(now->lines[at].kind, "ep") == 0; at++)
        json_line(now, before, at, false);
    json_close("]");
    json_open("layers", "[");
    for (; at < now->line_count && strcmp(now->lines[at].kind, "ia") != 0; at++)
        json_line(now, before, at, true);
    json_close("]");
    json_close("}");
    return at;
}

void trace_print_json(const struct snapshot *now, const struct snapshot *before)
{
    const struct rates none = {NULL, 0};
    size_t at = 1;

    json_open(NULL, "{");
    json_fields(&now->lines[0], &none);
    json_open("adapters", "[");
    while (at < now->line_count) {
        if (strcmp(now->lines[at].kind, "ia") == 0)
            at = json_ia(now, before, at);
        else
            at++; /* from a later version */
    }
    json_close("]");
    json_close("}");
}
