/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files in memory that no process can change or truncate (memfd_create, F_SEAL_WRITE and
 * F_SEAL_SHRINK). They are mapped, and sent from the mapping.
 */
#ifndef ITAPI_ULP_EXS_API_EXS_FILE_SEALED_H
#define ITAPI_ULP_EXS_API_EXS_FILE_SEALED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a file in the address space; mapped is NULL if there is none. */
struct exs_file_sealed {
    char *mapped; /* whole pages */
    size_t size;
    char *octets; /* the part that was asked for */
};

/* Maps these octets of a sealed file. Otherwise there is no mapping, and the file must be read. */
void exs_file_sealed_map(struct exs_file_sealed *sealed, int fd, uint64_t offset, uint64_t length);
void exs_file_sealed_unmap(struct exs_file_sealed *sealed);

#endif /* ITAPI_ULP_EXS_API_EXS_FILE_SEALED_H */
