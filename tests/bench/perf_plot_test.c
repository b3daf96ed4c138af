/* SPDX-License-Identifier: BSD-2-Clause */
/* Axes, and that a picture has all that it should have. */
#include "perf_plot.h"
#include "perf_scale.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct perf_scale scale_of(double low, double high)
{
    struct perf_scale scale = {.begin = 100, .end = 500};

    perf_scale_include(&scale, low);
    perf_scale_include(&scale, high);
    perf_scale_round(&scale);
    return scale;
}

static bool is_near(double one, double other)
{
    return fabs(one - other) <= 1e-6 * fabs(other);
}

Test(perf_plot, round_numbers)
{
    static const double cases[][4] = {
        {3.1, 420, 2, 500},        {1, 10, 1, 10},   {5, 5, 5, 10},
        {0.013, 0.02, 0.01, 0.02}, {20, 21, 20, 50}, {999, 1001, 500, 2e3},
        {1e-9, 1e12, 1e-9, 1e12},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct perf_scale scale = scale_of(cases[i][0], cases[i][1]);

        cr_assert(is_near(scale.low, cases[i][2]), "%g begins at %g", cases[i][0], scale.low);
        cr_assert(is_near(scale.high, cases[i][3]), "%g ends at %g", cases[i][1], scale.high);
    }
}

Test(perf_plot, steps)
{
    double value = 0.001;

    for (int power = -3; power < 10; power++) {
        cr_assert(is_near(value, pow(10, power)), "%g", value);
        cr_assert(is_near(value = perf_scale_next(value), 2 * pow(10, power)), "%g", value);
        cr_assert(is_near(value = perf_scale_next(value), 5 * pow(10, power)), "%g", value);
        value = perf_scale_next(value);
    }
}

Test(perf_plot, places)
{
    struct perf_scale scale = scale_of(1, 100);

    cr_assert(is_near(perf_scale_place(&scale, 1), 100));
    cr_assert(is_near(perf_scale_place(&scale, 10), 300));
    cr_assert(is_near(perf_scale_place(&scale, 100), 500));
    cr_assert(is_near(perf_scale_place(&scale, 0), 100));
    cr_assert(is_near(perf_scale_place(&scale, 1e9), 500));
}

static void add(struct perf_records *records, const char *transport, const char *measure,
                uint64_t size)
{
    struct perf_record record;

    memset(&record, 0, sizeof(record));
    (void)snprintf(record.transport, sizeof(record.transport), "%s", transport);
    (void)snprintf(record.measure, sizeof(record.measure), "%s", measure);
    (void)strcpy(record.ia, strcmp(transport, "tcp") == 0 ? "" : "<a&b>");
    (void)strcpy(record.op, "send");
    record.size = size;
    record.own.value = (struct perf_summary){.median = 2e6, .min = 1e6, .max = 3e6};
    cr_assert(perf_records_add(records, &record));
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        count++;
    }
    return count;
}

static char *picture_of(const struct perf_records *records)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);

    cr_assert_not_null(stream);
    cr_assert(perf_plot_draw(stream, records));
    cr_assert_eq(fclose(stream), 0);
    return text;
}

Test(perf_plot, picture)
{
    static const uint64_t sizes[] = {4096, 0, 64};
    struct perf_records records = {.count = 0};
    char *text;

    for (size_t i = 0; i < 3; i++) {
        add(&records, "itapi", "lat", sizes[i]);
        add(&records, "tcp", "lat", sizes[i]);
        add(&records, "itapi", "bw", sizes[i]);
    }
    text = picture_of(&records);
    cr_assert_eq(strncmp(text, "<svg ", 5), 0);
    cr_assert_str_eq(text + strlen(text) - strlen("</svg>\n"), "</svg>\n");
    cr_assert_eq(count_of(text, "<g "), 2); /* latency and bandwidth */
    cr_assert_eq(count_of(text, "</g>"), 2);
    cr_assert_eq(count_of(text, "<polyline"), 3);
    cr_assert_eq(count_of(text, "<polygon"), 3);
    cr_assert_eq(count_of(text, "<circle"), 9);
    cr_assert_eq(count_of(text, "stroke-dasharray"), 2); /* TCP's line, and in the legend */
    cr_assert_eq(count_of(text, "<a&b>"), 0);
    cr_assert(count_of(text, "&#60;a&#38;b&#62;") > 0);
    cr_assert_eq(count_of(text, "nan") + count_of(text, "inf"), 0);
    free(text);
    perf_records_free(&records);
}

/* One size alone is a point on an axis. */
Test(perf_plot, one_point)
{
    struct perf_records records = {.count = 0};
    char *text;

    add(&records, "tcp", "rate", 64);
    text = picture_of(&records);
    cr_assert_eq(count_of(text, "<circle"), 1);
    cr_assert_eq(count_of(text, "nan") + count_of(text, "inf"), 0);
    free(text);
    perf_records_free(&records);
}
