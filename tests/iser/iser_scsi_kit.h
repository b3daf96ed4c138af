/* SPDX-License-Identifier: BSD-2-Clause */
/* A target for tests of SCSI commands, and commands from the octets of a CDB. */
#ifndef ITAPI_TESTS_ISER_SCSI_KIT_H
#define ITAPI_TESTS_ISER_SCSI_KIT_H

#include "scsi/iser_scsi.h"

#define SCSI_BLOCKS 16384u
#define SCSI_BUFFER (5u << 20)

struct scsi_bed {
    struct itiser_target_config config;
    struct iser_scsi_target *target;
    struct iser_scsi_nexus *one, *two; /* two initiators */
    struct iser_scsi_nexus *nexus;     /* whose the next command is; at first: one */
    uint16_t lun;                      /* of the next command */
    struct iser_scsi_command command;  /* the last one */
    uint8_t *data; /* SCSI_BUFFER octets: data-out of the next, -in of the last */
};

/* A target whose LUN 0 is the unit (NULL: memory of SCSI_BLOCKS blocks). Attentions are taken. */
void scsi_open(struct scsi_bed *bed, struct itiser_unit *unit, const char *state_file);
/* The target is made anew, as after a restart; the same units. */
void scsi_restart(struct scsi_bed *bed);
void scsi_close(struct scsi_bed *bed);
struct itiser_unit *scsi_memory(uint64_t blocks);

/*
 * The command of the CDB, in hexadecimal digits (blanks are skipped, the rest are zeros); "out"
 * octets of bed->data go, at most "in" come. Its status.
 */
int scsi_run(struct scsi_bed *bed, const char *text, uint32_t out, uint32_t in);
int scsi_run_cdb(struct scsi_bed *bed, const uint8_t cdb[ISER_CDB_SIZE], uint32_t out, uint32_t in);
/* Ends the test unless the command is GOOD. The octets that have come. */
uint32_t scsi_good(struct scsi_bed *bed, const char *cdb, uint32_t out, uint32_t in);
/* Ends the test unless it ends with CHECK CONDITION and these (key, asc, ascq: 0xKKAAQQ). */
void scsi_bad(struct scsi_bed *bed, uint32_t sense, const char *cdb, uint32_t out, uint32_t in);
void scsi_conflict(struct scsi_bed *bed, const char *cdb, uint32_t out, uint32_t in);
/* Key, asc, ascq of the last command. */
uint32_t scsi_sense(const struct scsi_bed *bed);

#endif
