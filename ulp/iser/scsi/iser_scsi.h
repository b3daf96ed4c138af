/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCSI commands of one target's logical units. Everything runs in the loop; only what a unit does
 * itself may run in the pool. Knows nothing of iSCSI.
 */
#ifndef ITAPI_ULP_ISER_SCSI_ISER_SCSI_H
#define ITAPI_ULP_ISER_SCSI_ISER_SCSI_H

#include "itiser.h"

#define ISER_CDB_SIZE 16u
#define ISER_SENSE_MAX                                                                             \
    96u /* with its two octets of length it fits into what iSER's initiators post */

struct iser_scsi_target;
struct iser_scsi_nexus;
struct iser_pool;

/* config and its units must outlive the target. NULL without memory. */
struct iser_scsi_target *iser_scsi_target_new(const struct itiser_target_config *config,
                                              struct iser_pool *pool);
/* No nexus and no command is left. */
void iser_scsi_target_free(struct iser_scsi_target *target);

/*
 * An I_T nexus: initiator port (name,i,0xISID) and target port (portal group tag). One that comes
 * again finds its reservations. NULL without memory.
 */
struct iser_scsi_nexus *iser_scsi_nexus_new(struct iser_scsi_target *target,
                                            const char *initiator_port, uint16_t tag);
/* Its commands are over. An I_T nexus loss: RESERVE(6) is given up, registrations stay. */
void iser_scsi_nexus_free(struct iser_scsi_nexus *nexus);

struct iser_scsi_command {
    /* From the caller, before iser_scsi_begin. */
    struct iser_scsi_nexus *nexus;
    uint8_t lun[8];
    uint8_t cdb[ISER_CDB_SIZE];
    bool reads, writes;    /* bits R and W */
    uint32_t expected_out; /* octets that the initiator has for the command */
    uint32_t expected_in;  /* octets that it takes */
    void (*done)(struct iser_scsi_command *command); /* in the loop, once for each execute */

    /* From iser_scsi_begin. */
    uint32_t
        out_length; /* octets of data-out that have to be in .data for execute; <= expected_out */
    uint32_t in_length; /* room that execute needs in .data for data-in; <= expected_in */
    uint64_t transfer;  /* what the CDB itself asks for: residuals are expected minus this */

    /* From the caller, before iser_scsi_execute: max(out_length, in_length) octets. */
    uint8_t *data;

    /* From execute, or from begin when that is the end. */
    uint8_t status; /* SCSI status: 0, 2 CHECK CONDITION, 8 BUSY, 0x18 RESERVATION CONFLICT ... */
    uint32_t in_actual; /* octets of data-in that are to be sent */
    uint8_t sense[ISER_SENSE_MAX];
    size_t sense_length;

    /* The layer's own. */
    void *unit;
    struct iser_scsi_command *next;
    int error;
    uint64_t detail[4];
};

/*
 * Looks at the CDB. False: the command is over, .status and sense are set, no data moves; done is
 * not called. True: data-out, then iser_scsi_execute. At most one execute follows a begin.
 */
bool iser_scsi_begin(struct iser_scsi_command *command);

/* done follows: before the call returns, or later. Until then command and .data stay. */
void iser_scsi_execute(struct iser_scsi_command *command);

/* LUN RESET; false: there is no such LUN. Commands under way are the caller's business. */
bool iser_scsi_lun_reset(struct iser_scsi_target *target, const uint8_t lun[8]);
bool iser_scsi_lun_exists(const struct iser_scsi_target *target, const uint8_t lun[8]);
void iser_scsi_target_reset(struct iser_scsi_target *target);

#endif
