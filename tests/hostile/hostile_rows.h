/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of bad FPDUs: what is sent, and what must come of it. */
#ifndef ITAPI_TESTS_HOSTILE_HOSTILE_ROWS_H
#define ITAPI_TESTS_HOSTILE_HOSTILE_ROWS_H

#include "hostile/hostile_bed.h"

/* Any other than IT_DTO_SUCCESS. */
#define HOSTILE_NOT_GOOD ((it_dto_status_t)99)

/* What a row sends; the last ULPDU is the one the Terminate is about. */
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
    unsigned codes[2]; /* of the Terminate: either, as the next two */
    it_event_type_t affiliated[2];
    it_dto_status_t first; /* of the first receive */
    it_dto_status_t second;
    bool needs_crc; /* nobody could notice it without */
};

extern const struct hostile_row hostile_rows[];
extern const size_t hostile_row_count;

/* Puts a Write behind what is in the stream with which nothing would be wrong. */
void hostile_add_good(struct hostile_attack *attack);

#endif
