/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations of it_iser on a unit. */
#ifndef ITAPI_ULP_ISER_INITIATOR_ISER_BENCH_H
#define ITAPI_ULP_ISER_INITIATOR_ISER_BENCH_H

#include "initiator/iser_client.h"

#include <stdio.h>

struct iser_disk {
    struct iser_client *client;
    uint64_t lun;
    uint64_t blocks;
    uint32_t block_size;
    char vendor[9], product[17], serial[64];
};

/* Waits until the unit is ready, and inquires its properties. */
bool iser_disk_open(struct iser_disk *disk, struct iser_client *client, uint64_t lun);

/* Copy octets from the offset to the file, or from the file to the unit; multiples of a block. */
bool iser_disk_read(struct iser_disk *disk, uint64_t offset, uint64_t length, FILE *to);
bool iser_disk_write(struct iser_disk *disk, uint64_t offset, FILE *from);
/* Writes a pattern over the whole range and reads it back, in pieces of all sizes up to "piece". */
bool iser_disk_verify(struct iser_disk *disk, uint64_t offset, uint64_t length, uint32_t piece);

struct iser_bench {
    bool writes;
    bool sequential;
    uint32_t size; /* octets of a command */
    double seconds;
    /* Results. */
    uint64_t commands;
    double elapsed, cpu; /* seconds; cpu: of this process */
};

bool iser_bench(struct iser_disk *disk, struct iser_bench *bench);

#endif
