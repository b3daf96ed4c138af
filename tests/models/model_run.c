/* SPDX-License-Identifier: BSD-2-Clause */
#include "models/model_run.h"

#include "models/model.h"

#include <stdio.h>

#define LINES 64u

/* The operations with a stronger order than relaxed. Each line has one. */
static struct {
    int line;
    unsigned models; /* a bit for each that runs it */
} operations[LINES];
static unsigned operation_count;

static void note_line(int line, unsigned model)
{
    unsigned i = 0;

    while (i < operation_count && operations[i].line != line)
        i++;
    if (i == operation_count && i < LINES)
        operations[operation_count++].line = line;
    if (i < LINES)
        operations[i].models |= 1u << model;
}

static bool is_right(const struct model *model, unsigned number)
{
    int found_lines[LINES];
    unsigned long executions;
    unsigned count;
    const char *found = model_explore(model, -1, memory_order_relaxed, &executions);

    count = model_lines(found_lines, LINES);
    for (unsigned i = 0; i < count; i++)
        note_line(found_lines[i], number);
    printf("%s: %lu executions, %s\n", model->name, executions, found ? found : "all right");
    return !found;
}

static bool is_noticed(const struct model *models, unsigned operation, memory_order order)
{
    int line = operations[operation].line;

    for (unsigned i = 0; operations[operation].models >> i; i++) {
        unsigned long executions;
        const char *found = operations[operation].models >> i & 1
                                ? model_explore(&models[i], line, order, &executions)
                                : NULL;

        if (found) {
            printf("line %d %s: %s: not so: %s\n", line,
                   order == memory_order_relaxed ? "relaxed" : "not in the single total order",
                   models[i].name, found);
            return true;
        }
    }
    return false;
}

int model_run(const struct model *models, unsigned count, unsigned total, unsigned unneeded)
{
    bool good = true;

    for (unsigned i = 0; i < count; i++)
        good = is_right(&models[i], i) && good;
    for (unsigned i = 0; i < operation_count; i++) {
        if (is_noticed(models, i, memory_order_relaxed)) {
            total -= is_noticed(models, i, memory_order_acq_rel);
        } else {
            printf("line %d relaxed: nothing notices\n", operations[i].line);
            unneeded--;
        }
    }
    if (total != 0 || unneeded != 0)
        printf("too few by %d are noticed out of the total order, %d unneeded\n", (int)total,
               (int)unneeded);
    return good && total == 0 && unneeded == 0 ? 0 : 1;
}
