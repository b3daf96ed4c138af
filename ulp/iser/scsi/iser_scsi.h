/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCSI commands of one target's logical units. Everything runs in the loop; only what a unit does
 * itself may run in the pool. Knows nothing of iSCSI.
 */
#ifndef ITAPI_ULP_ISER_SCSI_ISER_SCSI_H
#define ITAPI_ULP_ISER_SCSI_ISER_SCSI_H

#include "itiser.h"
#include "unit/iser_pool.h"

#define ISER_CDB_SIZE 16u
/* With its two octets of length it fits into what iSER's initiators post. */
#define ISER_SENSE_MAX 96u
/* Octets of data of one command; a larger one is refused. */
#define ISER_TRANSFER_MAX (4u << 20)

enum {
    ISER_GOOD = 0x00,
    ISER_CHECK_CONDITION = 0x02,
    ISER_BUSY = 0x08,
    ISER_RESERVATION_CONFLICT = 0x18,
    ISER_TASK_SET_FULL = 0x28,
    ISER_TASK_ABORTED = 0x40
};

struct iser_scsi_target;
struct iser_scsi_nexus;
struct iser_lu;
struct iser_command_spec;

/*
 * Reads the state file. config and its units must outlive the target. NULL: error has a line for
 * people. Without a pool units are called by the caller of iser_scsi_execute, even if they block.
 */
struct iser_scsi_target *iser_scsi_target_new(const struct itiser_target_config *config,
                                              struct iser_pool *pool, char error[256]);
/* No nexus and no command is left. */
void iser_scsi_target_free(struct iser_scsi_target *target);

/*
 * An I_T nexus: initiator port (name,i,0xISID) and target port (portal group tag). One that comes
 * again finds its reservations. preempted is called when another one's PREEMPT AND ABORT ends the
 * commands of this one on the LUN. NULL: no memory, or a name with octets that names cannot have.
 */
struct iser_scsi_nexus *iser_scsi_nexus_new(struct iser_scsi_target *target,
                                            const char *initiator_port, uint16_t tag,
                                            void (*preempted)(void *argument, const uint8_t lun[8]),
                                            void *argument);
/* Its commands are over. An I_T nexus loss: RESERVE(6) is given up, registrations stay. */
void iser_scsi_nexus_free(struct iser_scsi_nexus *nexus);

/* Sense data that are still to be encoded. */
struct iser_fault {
    uint8_t key, asc, ascq;
    bool has_information;
    bool has_field; /* the octet .field of the CDB, or of the parameters, was wrong */
    bool in_parameters;
    uint16_t field;
    uint64_t information;
};

struct iser_scsi_command {
    /* From the caller, before iser_scsi_begin. */
    struct iser_scsi_nexus *nexus;
    uint8_t lun[8];
    uint8_t cdb[ISER_CDB_SIZE];
    uint32_t expected_out; /* octets that the initiator has for the command */
    uint32_t expected_in;  /* octets that it takes */
    void (*done)(struct iser_scsi_command *command); /* in the loop, once for each execute */

    /* From iser_scsi_begin. */
    uint32_t out_length; /* octets of data-out that execute needs in .data; <= expected_out */
    uint32_t in_length;  /* room that execute needs in .data; what is beyond expected_in is the
                            rest of a block */
    uint64_t transfer;   /* what the CDB itself asks for */
    bool writes;         /* the CDB asks for data-out */
    uint8_t *direct;     /* the place in the memory of the unit; NULL: there is none */
    void *region;        /* all the memory of the unit, if direct is in it */
    uint64_t region_size;

    /*
     * From the caller, before iser_scsi_execute: max(out_length, in_length) octets at a multiple of
     * 4096, or .direct.
     */
    uint8_t *data;

    /* From execute, or from begin when that is the end. */
    uint8_t status;
    uint32_t in_actual; /* octets of data-in that are to be sent; <= expected_in */
    uint8_t sense[ISER_SENSE_MAX];
    size_t sense_length;

    /* The layer's own. */
    struct iser_lu *lu;
    const struct iser_command_spec *spec;
    uint64_t lba;
    uint32_t blocks;
    uint32_t allocated;      /* octets of parameters that the CDB has room for */
    struct iser_fault fault; /* key 0: none so far */
    char *snapshot;          /* reservations that are to be saved */
    uint64_t sequence;       /* of the snapshot */
    struct iser_work work;
    struct iser_scsi_command *next; /* in the line of a unit */
};

/*
 * Looks at the CDB. False: the command is over, .status and sense are set, no data moves; done is
 * not called. True: data-out, then iser_scsi_execute.
 */
bool iser_scsi_begin(struct iser_scsi_command *command);

/* done follows: before the call returns, or later. Until then command and .data stay. */
void iser_scsi_execute(struct iser_scsi_command *command);

/* The residual of a command that is over. */
uint32_t iser_scsi_residual(const struct iser_scsi_command *command, bool *overflow);

bool iser_scsi_lun_exists(const struct iser_scsi_target *target, const uint8_t lun[8]);
/* LUN RESET; false: there is no such LUN. Commands under way are the caller's business. */
bool iser_scsi_lun_reset(struct iser_scsi_target *target, const uint8_t lun[8]);
void iser_scsi_target_reset(struct iser_scsi_target *target);
/* CLEAR TASK SET by this nexus: the others are told. */
void iser_scsi_cleared(struct iser_scsi_nexus *nexus, const uint8_t lun[8]);

#endif
