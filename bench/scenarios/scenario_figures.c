/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario.h"

#include <stdlib.h>

bool figures_open(struct figures *figures, size_t room)
{
    figures->count = 0;
    figures->room = room;
    figures->values = calloc(room, sizeof(figures->values[0]));
    if (figures->values != NULL)
        return true;
    complain("no memory for %zu figures", room);
    return false;
}

void figures_close(struct figures *figures)
{
    free(figures->values);
    figures->values = NULL;
}

void figures_add(struct figures *figures, double value)
{
    if (figures->count < figures->room)
        figures->values[figures->count++] = value;
}

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one;
    double b = *(const double *)other;

    return (a > b) - (a < b);
}

double figures_quantile(struct figures *figures, double share)
{
    size_t index = (size_t)(share * (double)figures->count);

    if (figures->count == 0)
        return 0;
    qsort(figures->values, figures->count, sizeof(figures->values[0]), compare);
    return figures->values[index < figures->count ? index : figures->count - 1];
}
