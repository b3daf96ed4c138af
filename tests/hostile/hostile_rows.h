/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of bad FPDUs: the octets that are sent, and the result. */
#ifndef ITAPI_TESTS_HOSTILE_HOSTILE_ROWS_H
#define ITAPI_TESTS_HOSTILE_HOSTILE_ROWS_H

#include "hostile/hostile_bed.h"

/* Any status except IT_DTO_SUCCESS. */
#define HOSTILE_NOT_GOOD ((it_dto_status_t)99)

/* The octets of a row. The Terminate names the last ULPDU. */
struct hostile_attack {
    const struct hostile_bed *bed;
    struct raw_bytes stream;
    struct raw_bytes ulpdu;
    bool crc;
};

struct hostile_row {
    const char *name;
    void (*build)(struct hostile_attack *attack, const uint64_t *arg);
    uint64_t arg[5];
    unsigned codes[2]; /* codes of the Terminate: one of them, as with the next two */
    it_event_type_t affiliated[2];
    it_dto_status_t first; /* status of the first receive */
    it_dto_status_t second;
    bool needs_crc; /* without CRC nobody could notice it */
};

extern const struct hostile_row hostile_rows[];
extern const size_t hostile_row_count;

/* Appends a Write that would be legal. */
void hostile_add_good(struct hostile_attack *attack);

#endif
