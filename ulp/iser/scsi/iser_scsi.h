/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCSI commands for one target's logical units. Everything runs in the loop, except that operations
 * of units may run in the pool. Independent of iSCSI.
 */
#ifndef ITAPI_ULP_ISER_SCSI_ISER_SCSI_H
#define ITAPI_ULP_ISER_SCSI_ISER_SCSI_H

#include "itiser.h"
#include "unit/iser_pool.h"

#define ISER_CDB_SIZE 16u
/* With its two octets of length it fits into the receives that iSER initiators post. */
#define ISER_SENSE_MAX 96u
/* Limit of the data of one command in octets; a larger command is refused. */
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
 * Reads the state file. config and its units must outlive the target. Returns NULL with a line of
 * text in error. Without a pool the caller of iser_scsi_execute calls the units, even if they
 * block.
 */
struct iser_scsi_target *iser_scsi_target_new(const struct itiser_target_config *config,
                                              struct iser_pool *pool, char error[256]);
/* Called when no nexus and no command is left. */
void iser_scsi_target_free(struct iser_scsi_target *target);

/*
 * Creates an I_T nexus of an initiator port (name,i,0xISID) and a target port (portal group tag). A
 * nexus that comes back finds its reservations. preempted is called when PREEMPT AND ABORT of
 * another nexus ends this one's commands on the LUN. Returns NULL if memory runs out, or if the
 * name has octets that names cannot have.
 */
struct iser_scsi_nexus *iser_scsi_nexus_new(struct iser_scsi_target *target,
                                            const char *initiator_port, uint16_t tag,
                                            void (*preempted)(void *argument, const uint8_t lun[8]),
                                            void *argument);
/* Takes the attentions and the reservation of another nexus of the same initiator port. */
void iser_scsi_nexus_inherit(struct iser_scsi_nexus *nexus, struct iser_scsi_nexus *from);
/* Called when its commands have ended. An I_T nexus loss: RESERVE(6) ends, registrations stay. */
void iser_scsi_nexus_free(struct iser_scsi_nexus *nexus);

/* Sense data that is not encoded yet. */
struct iser_fault {
    uint8_t key, asc, ascq;
    bool has_information;
    bool has_field; /* .field is the wrong octet of the CDB, or of the parameters */
    bool in_parameters;
    uint16_t field;
    uint64_t information;
};

struct iser_scsi_command {
    /* Set by the caller before iser_scsi_begin. */
    struct iser_scsi_nexus *nexus;
    uint8_t lun[8];
    uint8_t cdb[ISER_CDB_SIZE];
    uint32_t expected_out; /* octets that the initiator sends for the command */
    uint32_t expected_in;  /* octets that it accepts */
    void (*done)(struct iser_scsi_command *command); /* in the loop, once for each execute */

    /* Set by iser_scsi_begin. */
    uint32_t out_length; /* octets of data-out that execute needs in .data; <= expected_out */
    uint32_t in_length;  /* room needed in .data; beyond expected_in: the rest of a block */
    uint64_t transfer;   /* octets that the CDB itself asks for */
    bool writes;         /* the CDB asks for data-out */
    uint8_t *direct;     /* the place in the unit's memory; or NULL */
    void *region;        /* the whole memory of the unit, if direct lies in it */
    uint64_t region_size;

    /*
     * Set by the caller before iser_scsi_execute: max(out_length, in_length) octets, aligned to
     * 4096, or .direct.
     */
    uint8_t *data;

    /* Set by execute, or by begin if the command ends there. */
    uint8_t status;
    uint32_t in_actual; /* octets of data-in to send; <= expected_in */
    uint8_t sense[ISER_SENSE_MAX];
    size_t sense_length;
    bool aborts; /* has called preempted: it ends when the commands aborted there have ended */

    /* Private to this layer. */
    struct iser_lu *lu;
    const struct iser_command_spec *spec;
    uint64_t lba;
    uint32_t blocks;
    uint32_t allocated;      /* octets of parameters that the CDB allocates */
    struct iser_fault fault; /* key 0: no fault so far */
    struct iser_scsi_command *move_next, **move_previous; /* among those that move; or NULL */
    char *snapshot;                                       /* reservations to save */
    uint64_t sequence;                                    /* of the snapshot */
    struct iser_undo *undo;                               /* if the snapshot is not saved */
    struct iser_work work;
    struct iser_scsi_command *next; /* in the line of a unit */
};

/*
 * Parses the CDB. Returns false if the command has ended: .status and sense are set, no data moves,
 * and done is not called. Returns true if data-out and iser_scsi_execute must follow.
 */
bool iser_scsi_begin(struct iser_scsi_command *command);

/*
 * Called before the first octet if the caller moves data straight from or to .direct. Until
 * iser_scsi_moved no COMPARE AND WRITE of these blocks is executed: it could see, or change, a part
 * of them. Data-out has moved when the command is executed.
 */
void iser_scsi_move(struct iser_scsi_command *command);
/*
 * Called when the data is not accessed any more, also without iser_scsi_move. Returns true if
 * iser_scsi_go_on must be called, outside of everything that may free a command.
 */
bool iser_scsi_moved(struct iser_scsi_command *command);
/* Executes the commands that need to wait no more. */
void iser_scsi_go_on(struct iser_scsi_target *target);
/* Returns true if a command has been found to wait for data that moves, since the last go_on. */
bool iser_scsi_is_held(const struct iser_scsi_target *target);

/* Calls done before it returns, or later. Until then command and .data stay. */
void iser_scsi_execute(struct iser_scsi_command *command);

/*
 * End a command that has not been executed, in place of iser_scsi_execute or of both calls: CHECK
 * CONDITION with key, code and qualifier 0xKKAAQQ, or BUSY. For the unit no data has moved.
 */
void iser_scsi_refuse(struct iser_scsi_command *command, uint32_t number);
void iser_scsi_busy(struct iser_scsi_command *command);

/* Returns the residual of a command that has ended. */
uint32_t iser_scsi_residual(const struct iser_scsi_command *command, bool *overflow);

/* Returns true for the same LUN, however it is addressed. */
bool iser_scsi_lun_is(const uint8_t lun[8], const uint8_t other[8]);
bool iser_scsi_lun_exists(const struct iser_scsi_target *target, const uint8_t lun[8]);
/* LUN RESET. Returns false if there is no such LUN. The caller handles outstanding commands. */
bool iser_scsi_lun_reset(struct iser_scsi_target *target, const uint8_t lun[8]);
void iser_scsi_target_reset(struct iser_scsi_target *target);
/* CLEAR TASK SET by this nexus: sets an attention for the others. */
void iser_scsi_cleared(struct iser_scsi_nexus *nexus, const uint8_t lun[8]);

#endif
