/* SPDX-License-Identifier: BSD-2-Clause */
/* A snapshot as a process gives it: lines of a kind and NAME=VALUE. */
#ifndef ITAPI_TOOLS_IT_TRACE_SNAPSHOT_H
#define ITAPI_TOOLS_IT_TRACE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_FIELDS 48

struct snapshot_field {
    const char *name;
    const char *value;
    uint64_t number;
    bool is_number;
};

struct snapshot_line {
    const char *kind; /* "itapi", "ia", "ep" */
    size_t field_count;
    struct snapshot_field fields[SNAPSHOT_FIELDS];
};

struct snapshot {
    char *octets; /* what the others point to */
    struct snapshot_line *lines;
    size_t line_count;
};

/* False after a message. */
bool snapshot_take(struct snapshot *snapshot, const char *path);
void snapshot_free(struct snapshot *snapshot);

const struct snapshot_field *snapshot_find(const struct snapshot_line *line, const char *name);
/* The line of the same object in another snapshot, or NULL. */
const struct snapshot_line *snapshot_same(const struct snapshot *snapshot,
                                          const struct snapshot_line *line);
/* Seconds between the two, by the clock of the process. */
double snapshot_seconds(const struct snapshot *from, const struct snapshot *to);

#endif
