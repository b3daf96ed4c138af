/* SPDX-License-Identifier: BSD-2-Clause */
/* A target for tests of SCSI commands, which are made from the octets of a CDB. */
#ifndef ITAPI_TESTS_ISER_SCSI_KIT_H
#define ITAPI_TESTS_ISER_SCSI_KIT_H

#include "scsi/iser_scsi.h"

#define SCSI_BLOCKS 16384u
#define SCSI_BUFFER (5u << 20)

struct scsi_bed {
    struct itiser_target_config config;
    struct iser_scsi_target *target;
    struct iser_scsi_nexus *one, *two; /* two initiators */
    struct iser_scsi_nexus *nexus;     /* the nexus of the next command; first `one` */
    uint16_t lun;                      /* of the next command */
    struct iser_scsi_command command;  /* the last one */
    uint8_t *data; /* SCSI_BUFFER octets: data-out of the next command, data-in of the last */
};

/*
 * Opens a target whose LUN 0 is the unit (NULL: memory of SCSI_BLOCKS blocks). Takes the
 * attentions.
 */
void scsi_open(struct scsi_bed *bed, struct itiser_unit *unit, const char *state_file);
/* Makes a new target with the same units, as after a restart. */
void scsi_restart(struct scsi_bed *bed);
void scsi_close(struct scsi_bed *bed);
struct itiser_unit *scsi_memory(uint64_t blocks);

/*
 * Runs the command of the CDB, given in hexadecimal digits (blanks are skipped, missing octets are
 * zeros). "out" octets of bed->data go out, at most "in" octets come in. Returns the status.
 */
int scsi_run(struct scsi_bed *bed, const char *text, uint32_t out, uint32_t in);
int scsi_run_cdb(struct scsi_bed *bed, const uint8_t cdb[ISER_CDB_SIZE], uint32_t out, uint32_t in);
/* Ends the test unless the command is GOOD. Returns the number of octets that have come in. */
uint32_t scsi_good(struct scsi_bed *bed, const char *cdb, uint32_t out, uint32_t in);
/*
 * Ends the test unless the command ends with CHECK CONDITION and this sense (key, asc, ascq:
 * 0xKKAAQQ).
 */
void scsi_bad(struct scsi_bed *bed, uint32_t sense, const char *cdb, uint32_t out, uint32_t in);
void scsi_conflict(struct scsi_bed *bed, const char *cdb, uint32_t out, uint32_t in);
/* Returns key, asc and ascq of the last command. */
uint32_t scsi_sense(const struct scsi_bed *bed);

#endif
