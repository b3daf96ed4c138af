/* SPDX-License-Identifier: BSD-2-Clause */
/* The elements of exs_sendfile, one part after the other. */
#ifndef ITAPI_ULP_EXS_API_EXS_FILE_PARTS_H
#define ITAPI_ULP_EXS_API_EXS_FILE_PARTS_H

#include "include/exs.h"
#include "memory/exs_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exs_file_element {
    uint64_t length; /* as of the start: a file that is shorter later was cut */
    struct exs_memory own;
    struct exs_memory *memory; /* of a piece of memory */
};

struct exs_file_parts {
    const exs_xferfile_t *vector; /* the program's */
    struct exs_file_element *elements;
    size_t count;
    bool packets;     /* each element is one part, also an empty one */
    uint64_t longest; /* octets of one file */
    size_t index;     /* what comes next */
    uint64_t offset;
    int fd; /* of the path at index, or -1 */
};

struct exs_file_part {
    void *addr;
    size_t length;
    struct exs_memory *memory; /* NULL: the buffer */
};

/* 0 or errno: an element is none of a kind that can be sent. To be closed in either case. */
int exs_file_parts_open(struct exs_file_parts *parts, const exs_xferfile_t *vector, size_t count,
                        bool packets);
void exs_file_parts_close(struct exs_file_parts *parts);

/* The next part, of a file in the buffer; empty if there is none. 0, EIO or errno of open. */
int exs_file_parts_next(struct exs_file_parts *parts, void *buffer, size_t room,
                        struct exs_file_part *part);
bool exs_file_parts_over(const struct exs_file_parts *parts);

#endif /* ITAPI_ULP_EXS_API_EXS_FILE_PARTS_H */
