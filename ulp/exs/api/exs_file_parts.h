/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits the elements of exs_sendfile into parts. */
#ifndef ITAPI_ULP_EXS_API_EXS_FILE_PARTS_H
#define ITAPI_ULP_EXS_API_EXS_FILE_PARTS_H

#include "api/exs_file_sealed.h"
#include "include/exs.h"
#include "memory/exs_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exs_file_element {
    uint64_t length; /* at the start; a file that is shorter later was truncated */
    struct exs_memory own;
    struct exs_memory *memory;     /* registration of an element in memory, or of a mapped file */
    struct exs_file_sealed sealed; /* a mapped file */
};

struct exs_file_parts {
    const exs_xferfile_t *vector; /* owned by the program */
    struct exs_file_element *elements;
    size_t count;
    bool packets;     /* each element is one part, even an empty one */
    uint64_t longest; /* length of the longest file in octets */
    size_t index;     /* the next element, and the offset in it */
    uint64_t offset;
    int fd; /* descriptor of the path at index, or -1 */
};

struct exs_file_part {
    void *addr;
    size_t length;
    struct exs_memory *memory; /* NULL: the part is in the buffer */
};

/* Returns 0, or errno if an element cannot be sent. The caller must close parts in either case. */
int exs_file_parts_open(struct exs_file_parts *parts, const exs_xferfile_t *vector, size_t count,
                        bool packets);
void exs_file_parts_close(struct exs_file_parts *parts);

/*
 * Gets the next part; a part of a file is read into the buffer, unless the file is mapped. Gets an
 * empty part at the end. Returns 0, EIO, or the errno of open.
 */
int exs_file_parts_next(struct exs_file_parts *parts, void *buffer, size_t room,
                        struct exs_file_part *part);
bool exs_file_parts_over(const struct exs_file_parts *parts);

#endif /* ITAPI_ULP_EXS_API_EXS_FILE_PARTS_H */
