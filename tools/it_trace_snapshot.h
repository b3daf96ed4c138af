/* SPDX-License-Identifier: BSD-2-Clause */
/* A snapshot as a process sends it: lines with a kind and NAME=VALUE pairs. */
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
    char *octets; /* the text that the others point into */
    struct snapshot_line *lines;
    size_t line_count;
};

/* Returns false after a message. */
bool snapshot_take(struct snapshot *snapshot, const char *path);
void snapshot_free(struct snapshot *snapshot);

const struct snapshot_field *snapshot_find(const struct snapshot_line *line, const char *name);
/* Returns the line of the same object in another snapshot, or NULL. */
const struct snapshot_line *snapshot_same(const struct snapshot *snapshot,
                                          const struct snapshot_line *line);
/* Returns the seconds between the two, by the clock of the process. */
double snapshot_seconds(const struct snapshot *from, const struct snapshot *to);

#endif
