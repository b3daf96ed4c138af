/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_json.h"

#include <inttypes.h>
#include <itx_api.h>
#include <math.h>

static void write_word(FILE *stream, const char *name, const char *text)
{
    (void)fprintf(stream, ", \"%s\": \"", name);
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20)
            (void)fprintf(stream, "\\u%04x", (unsigned int)(unsigned char)*c);
        else if (*c == '"' || *c == '\\')
            (void)fprintf(stream, "\\%c", *c);
        else
            (void)fputc(*c, stream);
    }
    (void)fputc('"', stream);
}

static void write_count(FILE *stream, const char *name, uint64_t count)
{
    (void)fprintf(stream, ", \"%s\": %" PRIu64, name, count);
}

static void write_number(FILE *stream, const char *prefix, const char *name, double number)
{
    if (isfinite(number))
        (void)fprintf(stream, ", \"%s%s\": %.6g", prefix, name, number);
    else
        (void)fprintf(stream, ", \"%s%s\": null", prefix, name);
}

static void write_figures(FILE *stream, const char *prefix, const struct perf_figures *figures)
{
    write_number(stream, prefix, "min", figures->value.min);
    write_number(stream, prefix, "median", figures->value.median);
    write_number(stream, prefix, "max", figures->value.max);
    write_number(stream, prefix, "cpu_us_per_message", figures->cpu_us_per_message);
    write_number(stream, prefix, "cpu_seconds_per_gb", figures->cpu_seconds_per_gb);
    write_number(stream, prefix, "p50_us", figures->p50_us);
    write_number(stream, prefix, "p99_us", figures->p99_us);
    write_number(stream, prefix, "p999_us", figures->p999_us);
}

void perf_json_write(FILE *stream, const struct perf_record *record)
{
    const struct perf_figures *own = &record->own;
    const struct perf_figures *reference = &record->reference;

    (void)fprintf(stream, "{\"transport\": \"%s\"", record->transport);
    if (record->ia[0] != '\0')
        write_word(stream, "ia", record->ia);
    else
        write_number(stream, "", "ia", NAN);
    write_word(stream, "op", record->op);
    write_word(stream, "measure", record->measure);
    write_count(stream, "size", record->size);
    write_word(stream, "mode", record->mode);
    write_number(stream, "", "spin_us",
                 record->spin_us == ITX_SPIN_DEFAULT ? NAN : (double)record->spin_us);
    write_word(stream, "crc", record->crc);
    if (record->congestion[0] != '\0')
        write_word(stream, "congestion", record->congestion);
    else
        write_number(stream, "", "congestion", NAN);
    write_count(stream, "depth", record->depth);
    write_count(stream, "iters", own->iters);
    write_count(stream, "runs", record->runs);
    write_number(stream, "", "value", own->value.median);
    write_word(stream, "unit", record->unit);
    write_number(stream, "", "reference", record->has_reference ? reference->value.median : NAN);
    write_number(stream, "", "ratio",
                 record->has_reference ? own->value.median / reference->value.median : NAN);
    write_figures(stream, "", own);
    if (record->has_reference) {
        write_figures(stream, "reference_", reference);
        write_count(stream, "reference_iters", reference->iters);
    }
    write_number(stream, "", "heap_calls", record->heap_calls);
    (void)fputc('}', stream);
}

void perf_json_write_all(FILE *stream, const struct perf_records *records)
{
    (void)fputc('[', stream);
    for (size_t i = 0; i < records->count; i++) {
        (void)fputs(i == 0 ? "\n " : ",\n ", stream);
        perf_json_write(stream, &records->records[i]);
    }
    (void)fputs("\n]\n", stream);
}
