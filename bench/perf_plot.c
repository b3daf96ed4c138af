/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_plot.h"

#include "perf_scale.h"
#include "perf_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WIDTH = 900,
    HEAD = 60,          /* above the first panel */
    PANEL_HEIGHT = 360, /* of which the axes leave: */
    LEFT = 80,
    RIGHT = 680, /* the legend is behind it */
    TOP = 30,
    BOTTOM = 300,
    LEGEND = 700,
    LEGEND_LINE = 20,
    LINES_MAX = 64,
};

/* An empty message has a place beside that of one byte. */
#define SIZE_OF_NOTHING 0.5

static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                                      "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"};

/* What one transport has shown of one operation, over all sizes: the record that it begins with. */
struct panel {
    const struct perf_records *records; /* by size */
    const struct perf_record *lines[LINES_MAX];
    size_t line_count;
    struct perf_scale sizes;
    struct perf_scale values;
};

/* ---- What belongs together ---------------------------------------------------------------- */

static bool is_on_line(const struct perf_record *one, const struct perf_record *other)
{
    return strcmp(one->measure, other->measure) == 0 &&
           strcmp(one->transport, other->transport) == 0 && strcmp(one->ia, other->ia) == 0 &&
           strcmp(one->op, other->op) == 0;
}

static bool is_known(const struct panel *panel, const struct perf_record *record)
{
    for (size_t i = 0; i < panel->line_count; i++)
        if (is_on_line(panel->lines[i], record))
            return true;
    return false;
}

static double size_of(const struct perf_record *record)
{
    return record->size > 0 ? (double)record->size : SIZE_OF_NOTHING;
}

static void include(struct panel *panel, const struct perf_record *record)
{
    perf_scale_include(&panel->sizes, size_of(record));
    perf_scale_include(&panel->values, perf_table_value(record, record->own.value.min));
    perf_scale_include(&panel->values, perf_table_value(record, record->own.value.median));
    perf_scale_include(&panel->values, perf_table_value(record, record->own.value.max));
    if (panel->line_count < LINES_MAX && !is_known(panel, record))
        panel->lines[panel->line_count++] = record;
}

/* Lines are listed in the order of records. False: there is nothing of that measure. */
static bool collect(struct panel *panel, const struct perf_records *records,
                    const struct perf_records *sorted, enum perf_measure measure)
{
    memset(panel, 0, sizeof(*panel));
    panel->records = sorted;
    for (size_t i = 0; i < records->count; i++)
        if (strcmp(records->records[i].measure, perf_measure_name(measure)) == 0)
            include(panel, &records->records[i]);
    if (panel->line_count == 0)
        return false;
    panel->sizes.begin = LEFT;
    panel->sizes.end = RIGHT;
    panel->values.begin = BOTTOM;
    panel->values.end = TOP;
    if (panel->sizes.low >= panel->sizes.high) {
        panel->sizes.low /= 2;
        panel->sizes.high *= 2;
    }
    perf_scale_round(&panel->values);
    return true;
}

/* ---- Text --------------------------------------------------------------------------------- */

static void write_escaped(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("<>&\"'", *text) != NULL)
            (void)fprintf(stream, "&#%d;", *text);
        else if ((unsigned char)*text >= 0x20)
            (void)fputc(*text, stream);
    }
}

static void write_size(FILE *stream, double size)
{
    if (size < 1)
        (void)fputs("0", stream);
    else if (size >= 1 << 20)
        (void)fprintf(stream, "%.4g MiB", size / (1 << 20));
    else if (size >= 1 << 10)
        (void)fprintf(stream, "%.4g KiB", size / (1 << 10));
    else
        (void)fprintf(stream, "%.0f", size);
}

/* ---- Axes --------------------------------------------------------------------------------- */

static void write_value_axis(FILE *stream, const struct panel *panel)
{
    double value = panel->values.low;

    while (value < panel->values.high * 1.001) {
        double y = perf_scale_place(&panel->values, value);

        (void)fprintf(stream,
                      "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", LEFT,
                      y, RIGHT, y);
        (void)fprintf(stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
                      LEFT - 8, y + 4, value);
        value = perf_scale_next(value);
    }
    (void)fprintf(
        stream,
        "<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
        (TOP + BOTTOM) / 2, perf_table_unit(panel->lines[0]));
}

/* Powers of four: labels have room for as many as there may be. */
static void write_size_axis(FILE *stream, const struct panel *panel)
{
    double size = pow(4, ceil(log2(panel->sizes.low) / 2 - 1e-9));

    while (size <= panel->sizes.high * 1.001) {
        double x = perf_scale_place(&panel->sizes, size);

        (void)fprintf(stream,
                      "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x,
                      TOP, x, BOTTOM);
        (void)fprintf(stream, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x, BOTTOM + 18);
        write_size(stream, size);
        (void)fputs("</text>\n", stream);
        size *= 4;
    }
    (void)fprintf(stream,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">message size, bytes</text>\n",
                  (LEFT + RIGHT) / 2, BOTTOM + 38);
}

/* ---- Lines -------------------------------------------------------------------------------- */

static void write_corner(FILE *stream, const struct panel *panel, const struct perf_record *record,
                         double value)
{
    (void)fprintf(stream, "%.1f,%.1f ", perf_scale_place(&panel->sizes, size_of(record)),
                  perf_scale_place(&panel->values, perf_table_value(record, value)));
}

/* From the least to the most of the runs: there along the bottom, back along the top. */
static void write_band(FILE *stream, const struct panel *panel, const struct perf_record *line,
                       const char *colour)
{
    const struct perf_records *records = panel->records;

    (void)fprintf(stream, "<polygon fill=\"%s\" fill-opacity=\"0.15\" points=\"", colour);
    for (size_t i = 0; i < records->count; i++)
        if (is_on_line(line, &records->records[i]))
            write_corner(stream, panel, &records->records[i], records->records[i].own.value.min);
    for (size_t i = records->count; i-- > 0;)
        if (is_on_line(line, &records->records[i]))
            write_corner(stream, panel, &records->records[i], records->records[i].own.value.max);
    (void)fputs("\"/>\n", stream);
}

static void write_line(FILE *stream, const struct panel *panel, const struct perf_record *line,
                       const char *colour, const char *dashes)
{
    const struct perf_records *records = panel->records;

    (void)fprintf(stream, "<polyline class=\"line\" stroke=\"%s\"%s points=\"", colour, dashes);
    for (size_t i = 0; i < records->count; i++)
        if (is_on_line(line, &records->records[i]))
            write_corner(stream, panel, &records->records[i], records->records[i].own.value.median);
    (void)fputs("\"/>\n", stream);
}

/* Each with its numbers, which a viewer may show. */
static void write_points(FILE *stream, const struct panel *panel, const struct perf_record *line,
                         const char *colour)
{
    const struct perf_records *records = panel->records;

    for (size_t i = 0; i < records->count; i++) {
        const struct perf_record *record = &records->records[i];
        const struct perf_summary *value = &record->own.value;

        if (!is_on_line(line, record))
            continue;
        (void)fprintf(stream, "<circle fill=\"%s\" r=\"3\" cx=\"%.1f\" cy=\"%.1f\"><title>", colour,
                      perf_scale_place(&panel->sizes, size_of(record)),
                      perf_scale_place(&panel->values, perf_table_value(record, value->median)));
        write_escaped(stream, perf_table_name(record));
        (void)fprintf(stream, " %s, %" PRIu64 " bytes: %.4g %s (%.4g to %.4g)</title></circle>\n",
                      record->op, record->size, perf_table_value(record, value->median),
                      perf_table_unit(record), perf_table_value(record, value->min),
                      perf_table_value(record, value->max));
    }
}

static void write_legend(FILE *stream, size_t number, const struct perf_record *line,
                         const char *colour, const char *dashes)
{
    int y = TOP + 10 + (int)number * LEGEND_LINE;

    (void)fprintf(
        stream, "<line class=\"line\" stroke=\"%s\"%s x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
        colour, dashes, LEGEND, y, LEGEND + 30, y);
    (void)fprintf(stream, "<text x=\"%d\" y=\"%d\">", LEGEND + 38, y + 4);
    write_escaped(stream, perf_table_name(line));
    (void)fprintf(stream, " %s</text>\n", line->op);
}

/* ---- The picture -------------------------------------------------------------------------- */

static void write_panel(FILE *stream, const struct panel *panel, enum perf_measure measure,
                        size_t number)
{
    static const char *const titles[] = {"Latency", "Bandwidth", "Message rate"};

    (void)fprintf(stream, "<g transform=\"translate(0 %zu)\">\n", HEAD + number * PANEL_HEIGHT);
    (void)fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT, TOP - 10,
                  titles[measure]);
    write_value_axis(stream, panel);
    write_size_axis(stream, panel);
    for (size_t i = 0; i < panel->line_count; i++) {
        const struct perf_record *line = panel->lines[i];
        const char *colour = colours[i % (sizeof(colours) / sizeof(colours[0]))];
        bool tcp = strcmp(line->transport, perf_transport_name(PERF_TCP)) == 0;
        const char *dashes = tcp ? " stroke-dasharray=\"6 4\"" : "";

        write_band(stream, panel, line, colour);
        write_line(stream, panel, line, colour, dashes);
        write_points(stream, panel, line, colour);
        write_legend(stream, i, line, colour, dashes);
    }
    (void)fputs("</g>\n", stream);
}

static void write_head(FILE *stream, const struct perf_record *record, size_t panels)
{
    size_t height = HEAD + panels * PANEL_HEIGHT;

    (void)fprintf(stream,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
                  "viewBox=\"0 0 %d %zu\" font-family=\"sans-serif\" font-size=\"12\">\n",
                  WIDTH, height, WIDTH, height);
    (void)fputs("<style>.grid{stroke:#ddd}.line{fill:none;stroke-width:2}.title{font-size:15px}"
                "</style>\n"
                "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                stream);
    (void)fprintf(stream,
                  "<text x=\"%d\" y=\"30\" font-size=\"15\">it_perf: mode %s, CRC %s; medians of "
                  "%" PRIu64 " runs, bands from the least to the most</text>\n",
                  LEFT, record->mode, record->crc, record->runs);
}

static void write_picture(FILE *stream, const struct perf_records *records,
                          const struct perf_records *sorted)
{
    static const enum perf_measure measures[] = {PERF_LAT, PERF_BW, PERF_RATE};
    enum {
        COUNT = sizeof(measures) / sizeof(measures[0])
    };
    struct panel panels[COUNT];
    bool used[COUNT];
    size_t number = 0;

    for (size_t i = 0; i < COUNT; i++) {
        used[i] = collect(&panels[i], records, sorted, measures[i]);
        number += used[i];
    }
    write_head(stream, &records->records[0], number);
    number = 0;
    for (size_t i = 0; i < COUNT; i++)
        if (used[i])
            write_panel(stream, &panels[i], measures[i], number++);
    (void)fputs("</svg>\n", stream);
}

static int compare_sizes(const void *one, const void *other)
{
    uint64_t left = ((const struct perf_record *)one)->size;
    uint64_t right = ((const struct perf_record *)other)->size;

    return (left > right) - (left < right);
}

/* Lines go from left to right. */
bool perf_plot_draw(FILE *stream, const struct perf_records *records)
{
    struct perf_records sorted = {.count = 0};
    bool good = true;

    for (size_t i = 0; i < records->count && good; i++)
        good = perf_records_add(&sorted, &records->records[i]);
    if (good && sorted.count > 0) {
        qsort(sorted.records, sorted.count, sizeof(sorted.records[0]), compare_sizes);
        write_picture(stream, records, &sorted);
    }
    perf_records_free(&sorted);
    return good;
}

/* ---- The file ----------------------------------------------------------------------------- */

bool perf_plot_may_write(const char *path)
{
    bool made = true;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0 && errno == EEXIST) {
        made = false;
        /* A pipe may not have its reader yet. */
        fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == ENXIO)
            return true;
    }
    if (fd < 0) {
        complain_errno(path);
        return false;
    }
    (void)close(fd);
    if (made)
        (void)unlink(path);
    return true;
}

bool perf_plot_write(const char *path, const struct perf_records *records)
{
    FILE *stream = fopen(path, "we");
    struct stat file;
    bool regular;
    bool good;

    if (stream == NULL) {
        complain_errno(path);
        return false;
    }
    regular = fstat(fileno(stream), &file) == 0 && S_ISREG(file.st_mode);
    good = perf_plot_draw(stream, records) && !ferror(stream);
    good = fclose(stream) == 0 && good;
    if (good)
        return true;
    complain("%s could not be written", path);
    if (regular)
        (void)unlink(path);
    return false;
}
