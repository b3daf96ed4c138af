/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario.h"

#include <stdio.h>
#include <string.h>

static double row_compared(const struct scenario_row *row)
{
    return row->reference > 0 ? row->value / row->reference : row->value;
}

static bool row_is_good(const struct scenario_row *row)
{
    return row->sign[0] == '<' ? row_compared(row) <= row->limit : row_compared(row) >= row->limit;
}

static void print_json(const struct scenario_row *row)
{
    (void)printf("{\"scenario\": \"%s\", \"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"",
                 row->scenario, row->name, row->value, row->unit);
    if (row->reference > 0)
        (void)printf(", \"reference\": %.6g, \"ratio\": %.4f", row->reference, row_compared(row));
    else
        (void)printf(", \"reference\": null, \"ratio\": null");
    if (row->sign != NULL)
        (void)printf(", \"sign\": \"%s\", \"limit\": %g, \"verdict\": \"%s\"}\n", row->sign,
                     row->limit, row_is_good(row) ? "ok" : "missed");
    else
        (void)printf(", \"sign\": null, \"limit\": null, \"verdict\": null}\n");
}

static void print_line(const struct scenario_row *row)
{
    char reference[32] = "";
    char ratio[16] = "";
    char limit[32] = "";

    if (row->reference > 0) {
        (void)snprintf(reference, sizeof(reference), "%.2f", row->reference);
        (void)snprintf(ratio, sizeof(ratio), "%.2f", row_compared(row));
    }
    if (row->sign != NULL)
        (void)snprintf(limit, sizeof(limit), "%s %g", row->sign, row->limit);
    (void)printf("%-8s %-52s %10.2f %-6s %10s %6s %8s %s\n", row->scenario, row->name, row->value,
                 row->unit, reference, ratio, limit,
                 row->sign == NULL  ? ""
                 : row_is_good(row) ? "ok"
                                    : "MISSED");
}

void scenario_report_head(const struct scenario *scenario)
{
    if (!scenario->json)
        (void)printf("%-8s %-52s %10s %-6s %10s %6s %8s\n", "", "measure", "value", "", "reference",
                     "ratio", "limit");
}

void scenario_report(struct scenario *scenario, const struct scenario_row *row)
{
    if (row->sign != NULL && !row_is_good(row))
        scenario->missed = true;
    if (scenario->json)
        print_json(row);
    else
        print_line(row);
    (void)fflush(stdout);
}
