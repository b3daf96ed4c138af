/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations that the files of this folder share: units, nexuses, the table of commands. */
#ifndef ITAPI_ULP_ISER_SCSI_ISER_LU_H
#define ITAPI_ULP_ISER_SCSI_ISER_LU_H

#include "scsi/iser_scsi.h"

#define ISER_PORT_MAX          256u  /* octets of the name of an initiator port, with the NUL */
#define ISER_PHYSICAL_BLOCK    4096u /* unit of UNMAP, and alignment of direct I/O */
#define ISER_UNMAP_MAX         (32u << 20) /* octets of one UNMAP */
#define ISER_UNMAP_DESCRIPTORS 256u
#define ISER_COMPARE_MAX       255u /* blocks of one COMPARE AND WRITE */

/* ---- Unit attentions ------------------------------------------------------- */

/* In the order of reporting; each is a bit in iser_scsi_nexus.attention. */
typedef enum {
    ISER_ATTENTION_POWER_ON,
    ISER_ATTENTION_RESET,
    ISER_ATTENTION_PREEMPTED,    /* RESERVATIONS PREEMPTED */
    ISER_ATTENTION_RELEASED,     /* RESERVATIONS RELEASED */
    ISER_ATTENTION_UNREGISTERED, /* REGISTRATIONS PREEMPTED */
    ISER_ATTENTION_MODE,         /* MODE PARAMETERS CHANGED */
    ISER_ATTENTION_CLEARED,      /* COMMANDS CLEARED BY ANOTHER INITIATOR */
    ISER_ATTENTIONS
} iser_attention_t;

/* ---- Objects --------------------------------------------------------------- */

struct iser_registration {
    struct iser_registration *next;
    uint64_t key;
    uint16_t tag; /* of the target port */
    bool holder;  /* holds the reservation, if not all registrants do */
    char port[ISER_PORT_MAX];
};

struct iser_scsi_nexus {
    struct iser_scsi_nexus *next; /* of the target */
    struct iser_scsi_target *target;
    void (*preempted)(void *argument, const uint8_t lun[8]);
    void *argument;
    uint16_t tag;
    char port[ISER_PORT_MAX];
    uint16_t attention[ITISER_LUNS_MAX]; /* by LUN: bits 1 << iser_attention_t */
};

struct iser_lu {
    struct iser_scsi_target *target;
    struct itiser_unit *unit;
    uint16_t number;

    /* Changeable mode parameters. */
    bool write_protected; /* SWP */
    bool descriptor_sense;
    bool stopped;

    struct iser_scsi_nexus *reserved_by; /* RESERVE(6) */

    struct iser_registration *registrations;
    uint32_t registration_count;
    uint32_t generation;
    uint8_t reservation; /* type; 0: no reservation */
    bool persists;       /* APTPL */

    /*
     * COMPARE AND WRITE and ORWRITE run alone among the commands that write on a unit that blocks,
     * and not while data moves straight from or to their blocks.
     */
    unsigned writing;
    bool alone;
    bool admitting; /* commands of the line are being started */
    struct iser_scsi_command *line, **line_end;
    struct iser_scsi_command *moves; /* commands whose data moves straight from or to the unit */
};

struct iser_scsi_target {
    const struct itiser_target_config *config;
    struct iser_pool *pool;
    struct iser_scsi_nexus *nexuses;
    struct iser_lu *lus[ITISER_LUNS_MAX];
    bool held;                /* a command waits until data has moved */
    uint64_t changes;         /* of reservations; a snapshot contains those of all units */
    struct iser_state *state; /* state of the state file; NULL: no file */
};

/* ---- Commands -------------------------------------------------------------- */

#define ISER_NO_ACTION 0xffu

/* The access that a command needs, and which reservations of others deny it. */
typedef enum {
    ISER_ACCESS_ANY,   /* never denied */
    ISER_ACCESS_CHECK, /* denied by RESERVE(6), but by no persistent reservation */
    ISER_ACCESS_READ,  /* denied by exclusive access */
    ISER_ACCESS_WRITE  /* denied by write exclusive too */
} iser_access_t;

#define ISER_SPEC_MEDIUM 0x01u /* not while the unit is stopped */
#define ISER_SPEC_WRITES 0x02u /* not while the unit is write-protected */
#define ISER_SPEC_ALONE  0x04u /* not while another command writes, or moves the same blocks */
#define ISER_SPEC_THIN   0x08u /* only where blocks can be unmapped */
#define ISER_SPEC_POOL   0x10u /* .work may block even if the unit does not */

struct iser_command_spec {
    uint8_t opcode;
    uint8_t action; /* service action, in the low 5 bits of octet 1; ISER_NO_ACTION */
    uint8_t length; /* of the CDB */
    iser_access_t access;
    unsigned flags; /* ISER_SPEC_ bits */
    /*
     * Sets .lba, .blocks, .transfer, out_length and in_length. Returns false with the fault set.
     * May be NULL.
     */
    bool (*begin)(struct iser_scsi_command *command);
    /* Runs in the loop. May be NULL. */
    void (*run)(struct iser_scsi_command *command);
    /* Runs after run, unless that failed; in the pool if the unit blocks. May be NULL. */
    void (*work)(struct iser_scsi_command *command);
    uint8_t usage[ISER_CDB_SIZE]; /* the bits of the CDB that may be set */
};

/* Returns NULL with the fault set. */
const struct iser_command_spec *iser_command_find(struct iser_scsi_command *command);
/* REPORT SUPPORTED OPERATION CODES. */
bool iser_opcodes_begin(struct iser_scsi_command *command);
void iser_opcodes_run(struct iser_scsi_command *command);

/* ---- Sense (iser_sense.c) --------------------------------------------------- */

/* A fault is numbered by key, asc and ascq: 0xKKAAQQ. */
#define ISER_STOPPED          0x020402u /* LOGICAL UNIT NOT READY, INITIALIZING COMMAND REQUIRED */
#define ISER_WRITE_ERROR      0x030c00u
#define ISER_READ_ERROR       0x031100u
#define ISER_INTERNAL_FAILURE 0x044400u
#define ISER_LIST_LENGTH      0x051a00u /* PARAMETER LIST LENGTH ERROR */
#define ISER_NO_OPCODE        0x052000u
#define ISER_OUT_OF_RANGE     0x052100u
#define ISER_FIELD_CDB        0x052400u
#define ISER_NO_LUN           0x052500u
#define ISER_FIELD_LIST       0x052600u
#define ISER_BAD_RELEASE      0x052604u
#define ISER_NO_SAVING        0x053900u
#define ISER_UNIT_DATA_LENGTH 0x050e03u /* INVALID FIELD IN COMMAND INFORMATION UNIT */
#define ISER_NO_REGISTRATIONS 0x055504u /* INSUFFICIENT REGISTRATION RESOURCES */
#define ISER_WRITE_PROTECTED  0x072700u
#define ISER_SPACE_FAILED     0x072707u /* SPACE ALLOCATION FAILED WRITE PROTECT */
#define ISER_COMMAND_ABORTED  0x0b0000u
#define ISER_MISCOMPARE       0x0e1d00u

/* Sets the fault and returns false, so that a caller can return with it. */
bool iser_fault(struct iser_scsi_command *command, uint32_t number);
bool iser_fault_at(struct iser_scsi_command *command, uint32_t number, uint64_t information);
/* For a field of the CDB or, with ISER_FIELD_LIST, of the parameters. */
bool iser_fault_field(struct iser_scsi_command *command, uint32_t number, uint16_t field);
/* Takes the result of a unit's operation, 0 or an errno. Returns true for 0. */
bool iser_fault_unit(struct iser_scsi_command *command, int error, bool writing);

/* Returns the length of the sense data, in descriptor or fixed format. */
size_t iser_sense_encode(const struct iser_fault *fault, bool descriptor,
                         uint8_t sense[ISER_SENSE_MAX]);

/* ---- Parameters (iser_parameters.c), attentions (iser_target.c) ---------------- */

/*
 * Prepares parameters for the initiator: as many octets as the CDB allocates, but at most "most".
 */
void iser_parameters_in(struct iser_scsi_command *command, uint32_t allocated, uint32_t most);
/* Appends octets; drops those for which the CDB has no room. */
void iser_parameters_put(struct iser_scsi_command *command, const uint8_t *octets, size_t length);
/* Prepares parameters of "length" octets from the initiator. Returns false if it sends fewer. */
bool iser_parameters_out(struct iser_scsi_command *command, uint32_t length);

void iser_attention_set(struct iser_scsi_nexus *nexus, const struct iser_lu *lu,
                        iser_attention_t attention);
/* The same for all nexuses except one (NULL: for all). */
void iser_attention_others(const struct iser_scsi_nexus *but, const struct iser_lu *lu,
                           iser_attention_t attention);
/* Takes the first pending attention. Returns false if there is none. */
bool iser_attention_take(struct iser_scsi_nexus *nexus, const struct iser_lu *lu,
                         struct iser_fault *fault);

/* Returns the number of the LUN, or -1. */
int iser_lun_number(const uint8_t lun[8]);

/* ---- Reservations (iser_reserve.c, iser_register.c) ------------------------- */

/* Returns true if another nexus's reservation denies this one the access. */
bool iser_reserve_conflicts(const struct iser_scsi_nexus *nexus, const struct iser_lu *lu,
                            iser_access_t access);
struct iser_registration *iser_registration_find(const struct iser_lu *lu, const char *port,
                                                 uint16_t tag);
/* Returns NULL if there are too many, or if memory runs out. */
struct iser_registration *iser_registration_add(struct iser_lu *lu, const char *port, uint16_t tag,
                                                uint64_t key);
bool iser_reservation_is_all(uint8_t type);  /* all registrants hold it */
bool iser_reservation_is_type(uint8_t type); /* the standard defines it */
void iser_registrations_free(struct iser_lu *lu);

/*
 * Keeps registrations and reservation as they are before a command that must be saved. Returns
 * false without memory.
 */
bool iser_undo_begin(struct iser_scsi_command *command);
/* Called when the command ends: brings them back if it has not been saved. */
void iser_undo_end(struct iser_scsi_command *command);

bool iser_prin_begin(struct iser_scsi_command *command);
void iser_prin_run(struct iser_scsi_command *command);
bool iser_prout_begin(struct iser_scsi_command *command);
void iser_prout_run(struct iser_scsi_command *command);
void iser_reserve6_run(struct iser_scsi_command *command);
void iser_release6_run(struct iser_scsi_command *command);

/* ---- The state file (iser_state.c) ------------------------------------------ */

/* Reads the file into the units of the target. Returns false with a line of text in error. */
bool iser_state_open(struct iser_scsi_target *target, char error[256]);
void iser_state_free(struct iser_state *state);
/* Runs in the loop: stores in the command what must be saved. Returns false if memory runs out. */
bool iser_state_snapshot(struct iser_scsi_command *command);
/* Runs in the pool. */
void iser_state_save(struct iser_scsi_command *command);

/* ---- Handlers by file -------------------------------------------------------- */

/* iser_inquiry.c */
bool iser_inquiry_begin(struct iser_scsi_command *command);
void iser_inquiry_run(struct iser_scsi_command *command);
void iser_inquiry_absent(struct iser_scsi_command *command); /* for a LUN without a unit */

/* iser_primary.c */
bool iser_luns_begin(struct iser_scsi_command *command);
void iser_luns_run(struct iser_scsi_command *command);
bool iser_sense_begin(struct iser_scsi_command *command);
void iser_sense_run(struct iser_scsi_command *command);
bool iser_start_begin(struct iser_scsi_command *command);
void iser_start_run(struct iser_scsi_command *command);
bool iser_prevent_begin(struct iser_scsi_command *command);
bool iser_log_begin(struct iser_scsi_command *command);
void iser_log_run(struct iser_scsi_command *command);

/* iser_mode.c */
bool iser_mode_sense_begin(struct iser_scsi_command *command);
void iser_mode_sense_run(struct iser_scsi_command *command);
bool iser_mode_select_begin(struct iser_scsi_command *command);
void iser_mode_select_run(struct iser_scsi_command *command);

/* iser_block.c */
bool iser_read_begin(struct iser_scsi_command *command);
void iser_read_work(struct iser_scsi_command *command);
bool iser_write_begin(struct iser_scsi_command *command);
void iser_write_work(struct iser_scsi_command *command);
/*
 * Runs in the loop, in place of .work. Returns false, with nothing done, if the unit would block.
 */
bool iser_block_move_now(struct iser_scsi_command *command);
bool iser_write_verify_begin(struct iser_scsi_command *command);
void iser_write_verify_work(struct iser_scsi_command *command);
bool iser_verify_begin(struct iser_scsi_command *command);
void iser_verify_work(struct iser_scsi_command *command);
bool iser_orwrite_begin(struct iser_scsi_command *command);
void iser_orwrite_work(struct iser_scsi_command *command);
bool iser_compare_begin(struct iser_scsi_command *command);
void iser_compare_work(struct iser_scsi_command *command);
bool iser_prefetch_begin(struct iser_scsi_command *command);
void iser_sync_work(struct iser_scsi_command *command);

/* Sets .lba and .blocks. Returns true if the blocks lie within the unit and are not too many. */
bool iser_range_begin(struct iser_scsi_command *command);
bool iser_range_check(struct iser_scsi_command *command, uint64_t lba, uint64_t blocks);

/* iser_capacity.c */
bool iser_capacity10_begin(struct iser_scsi_command *command);
void iser_capacity10_run(struct iser_scsi_command *command);
bool iser_capacity16_begin(struct iser_scsi_command *command);
void iser_capacity16_run(struct iser_scsi_command *command);
bool iser_status_begin(struct iser_scsi_command *command);
void iser_status_work(struct iser_scsi_command *command);
bool iser_unmap_begin(struct iser_scsi_command *command);
void iser_unmap_work(struct iser_scsi_command *command);
bool iser_same_begin(struct iser_scsi_command *command);
void iser_same_work(struct iser_scsi_command *command);

#endif
