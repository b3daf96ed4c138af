/* SPDX-License-Identifier: BSD-2-Clause */
/* All supported commands as a table, which REPORT SUPPORTED OPERATION CODES reports. */
#include "pdu/iser_octets.h"
#include "scsi/iser_lu.h"

#include <string.h>

#define NONE   ISER_NO_ACTION
#define ANY    ISER_ACCESS_ANY
#define CHECK  ISER_ACCESS_CHECK
#define READ   ISER_ACCESS_READ
#define WRITE  ISER_ACCESS_WRITE
#define MEDIUM ISER_SPEC_MEDIUM
#define CHANGE (ISER_SPEC_MEDIUM | ISER_SPEC_WRITES)
#define ALONE  ISER_SPEC_ALONE
#define THIN   ISER_SPEC_THIN
#define POOL   ISER_SPEC_POOL

/* Octets of a CDB in which all bits may be set. */
#define ALL2 0xff, 0xff
#define ALL4 ALL2, ALL2
#define ALL8 ALL4, ALL4

/*
 * The bits after the operation code that may be set. Octet 1 of READ and WRITE: DPO, FUA, FUA_NV
 * (obsolete and ignored); of VERIFY: DPO, BYTCHK. There is no protection information.
 */
#define RANGE6(one)  one, ALL2, 0xff
#define RANGE10(one) one, ALL4, 0x1f, ALL2
#define RANGE12(one) one, ALL4, ALL4, 0x1f
#define RANGE16(one) one, ALL8, ALL4, 0x1f

/* clang-format off */
static const struct iser_command_spec iser_commands[] = {
    /* TEST UNIT READY */
    {0x00, NONE, 6, CHECK, MEDIUM, NULL, NULL, NULL, {0x00}},
    /* REQUEST SENSE */
    {0x03, NONE, 6, ANY, 0, iser_sense_begin, iser_sense_run, NULL, {0x03, 0x01, 0, 0, 0xff}},
    /* READ(6), WRITE(6) */
    {0x08, NONE, 6, READ, MEDIUM, iser_read_begin, NULL, iser_read_work, {0x08, RANGE6(0x1f)}},
    {0x0a, NONE, 6, WRITE, CHANGE, iser_write_begin, NULL, iser_write_work, {0x0a, RANGE6(0x1f)}},
    /* INQUIRY */
    {0x12, NONE, 6, ANY, 0, iser_inquiry_begin, iser_inquiry_run, NULL, {0x12, 0x01, 0xff, ALL2}},
    /* MODE SELECT(6) */
    {0x15, NONE, 6, WRITE, 0, iser_mode_select_begin, iser_mode_select_run, NULL,
     {0x15, 0x10, 0, 0, 0xff}},
    /* RESERVE(6), RELEASE(6) */
    {0x16, NONE, 6, CHECK, 0, NULL, iser_reserve6_run, NULL, {0x16}},
    {0x17, NONE, 6, ANY, 0, NULL, iser_release6_run, NULL, {0x17}},
    /* MODE SENSE(6) */
    {0x1a, NONE, 6, WRITE, 0, iser_mode_sense_begin, iser_mode_sense_run, NULL,
     {0x1a, 0x08, 0xff, 0xff, 0xff}},
    /* START STOP UNIT */
    {0x1b, NONE, 6, CHECK, 0, iser_start_begin, iser_start_run, NULL, {0x1b, 0x01, 0, 0x0f, 0xf5}},
    /* PREVENT ALLOW MEDIUM REMOVAL */
    {0x1e, NONE, 6, ANY, 0, iser_prevent_begin, NULL, NULL, {0x1e, 0, 0, 0, 0x03}},
    /* READ CAPACITY(10) */
    {0x25, NONE, 10, ANY, MEDIUM, iser_capacity10_begin, iser_capacity10_run, NULL, {0x25}},
    /* READ(10), WRITE(10), WRITE AND VERIFY(10), VERIFY(10) */
    {0x28, NONE, 10, READ, MEDIUM, iser_read_begin, NULL, iser_read_work, {0x28, RANGE10(0x1a)}},
    {0x2a, NONE, 10, WRITE, CHANGE, iser_write_begin, NULL, iser_write_work,
     {0x2a, RANGE10(0x1a)}},
    {0x2e, NONE, 10, WRITE, CHANGE, iser_write_verify_begin, NULL, iser_write_verify_work,
     {0x2e, RANGE10(0x12)}},
    {0x2f, NONE, 10, READ, MEDIUM, iser_verify_begin, NULL, iser_verify_work,
     {0x2f, RANGE10(0x12)}},
    /* PREFETCH(10), SYNCHRONIZE CACHE(10) */
    {0x34, NONE, 10, READ, MEDIUM, iser_prefetch_begin, NULL, NULL, {0x34, RANGE10(0x02)}},
    {0x35, NONE, 10, WRITE, MEDIUM, iser_prefetch_begin, NULL, iser_sync_work,
     {0x35, RANGE10(0x06)}},
    /* WRITE SAME(10) */
    {0x41, NONE, 10, WRITE, CHANGE, iser_same_begin, NULL, iser_same_work, {0x41, RANGE10(0x08)}},
    /* UNMAP */
    {0x42, NONE, 10, WRITE, CHANGE | THIN, iser_unmap_begin, NULL, iser_unmap_work,
     {0x42, 0, 0, 0, 0, 0, 0x1f, ALL2}},
    /* LOG SENSE */
    {0x4d, NONE, 10, ANY, 0, iser_log_begin, iser_log_run, NULL, {0x4d, 0, 0xff, 0, 0, 0, 0, ALL2}},
    /* MODE SELECT(10), MODE SENSE(10) */
    {0x55, NONE, 10, WRITE, 0, iser_mode_select_begin, iser_mode_select_run, NULL,
     {0x55, 0x10, 0, 0, 0, 0, 0, ALL2}},
    {0x5a, NONE, 10, WRITE, 0, iser_mode_sense_begin, iser_mode_sense_run, NULL,
     {0x5a, 0x18, 0xff, 0xff, 0, 0, 0, ALL2}},
    /* PERSISTENT RESERVE IN: keys, reservation, capabilities, full status */
    {0x5e, 0, 10, CHECK, 0, iser_prin_begin, iser_prin_run, NULL, {0x5e, 0, 0, 0, 0, 0, 0, ALL2}},
    {0x5e, 1, 10, CHECK, 0, iser_prin_begin, iser_prin_run, NULL, {0x5e, 1, 0, 0, 0, 0, 0, ALL2}},
    {0x5e, 2, 10, CHECK, 0, iser_prin_begin, iser_prin_run, NULL, {0x5e, 2, 0, 0, 0, 0, 0, ALL2}},
    {0x5e, 3, 10, CHECK, 0, iser_prin_begin, iser_prin_run, NULL, {0x5e, 3, 0, 0, 0, 0, 0, ALL2}},
    /* PERSISTENT RESERVE OUT: register, reserve, release, clear, preempt, preempt and abort,
       register and ignore */
    {0x5f, 0, 10, CHECK, POOL, iser_prout_begin, iser_prout_run, iser_state_save,
     {0x5f, 0, 0xff, 0, 0, ALL4}},
    {0x5f, 1, 10, CHECK, POOL, iser_prout_begin, iser_prout_run, iser_state_save,
     {0x5f, 1, 0xff, 0, 0, ALL4}},
    {0x5f, 2, 10, CHECK, POOL, iser_prout_begin, iser_prout_run, iser_state_save,
     {0x5f, 2, 0xff, 0, 0, ALL4}},
    {0x5f, 3, 10, CHECK, POOL, iser_prout_begin, iser_prout_run, iser_state_save,
     {0x5f, 3, 0xff, 0, 0, ALL4}},
    {0x5f, 4, 10, CHECK, POOL, iser_prout_begin, iser_prout_run, iser_state_save,
     {0x5f, 4, 0xff, 0, 0, ALL4}},
    {0x5f, 5, 10, CHECK, POOL, iser_prout_begin, iser_prout_run, iser_state_save,
     {0x5f, 5, 0xff, 0, 0, ALL4}},
    {0x5f, 6, 10, CHECK, POOL, iser_prout_begin, iser_prout_run, iser_state_save,
     {0x5f, 6, 0xff, 0, 0, ALL4}},
    /* READ(16), COMPARE AND WRITE, WRITE(16), ORWRITE, WRITE AND VERIFY(16), VERIFY(16) */
    {0x88, NONE, 16, READ, MEDIUM, iser_read_begin, NULL, iser_read_work, {0x88, RANGE16(0x1a)}},
    {0x89, NONE, 16, WRITE, CHANGE | ALONE, iser_compare_begin, NULL, iser_compare_work,
     {0x89, 0x1a, ALL8, 0, 0, 0, 0xff, 0x1f}},
    {0x8a, NONE, 16, WRITE, CHANGE, iser_write_begin, NULL, iser_write_work,
     {0x8a, RANGE16(0x1a)}},
    {0x8b, NONE, 16, WRITE, CHANGE | ALONE, iser_orwrite_begin, NULL, iser_orwrite_work,
     {0x8b, RANGE16(0x1a)}},
    {0x8e, NONE, 16, WRITE, CHANGE, iser_write_verify_begin, NULL, iser_write_verify_work,
     {0x8e, RANGE16(0x12)}},
    {0x8f, NONE, 16, READ, MEDIUM, iser_verify_begin, NULL, iser_verify_work,
     {0x8f, RANGE16(0x12)}},
    /* PREFETCH(16), SYNCHRONIZE CACHE(16) */
    {0x90, NONE, 16, READ, MEDIUM, iser_prefetch_begin, NULL, NULL, {0x90, RANGE16(0x02)}},
    {0x91, NONE, 16, WRITE, MEDIUM, iser_prefetch_begin, NULL, iser_sync_work,
     {0x91, RANGE16(0x06)}},
    /* WRITE SAME(16) */
    {0x93, NONE, 16, WRITE, CHANGE, iser_same_begin, NULL, iser_same_work, {0x93, RANGE16(0x09)}},
    /* READ CAPACITY(16), GET LBA STATUS */
    {0x9e, 0x10, 16, ANY, MEDIUM, iser_capacity16_begin, iser_capacity16_run, NULL,
     {0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, ALL4}},
    {0x9e, 0x12, 16, READ, MEDIUM, iser_status_begin, NULL, iser_status_work,
     {0x9e, 0x12, ALL8, ALL4}},
    /* REPORT LUNS */
    {0xa0, NONE, 12, ANY, 0, iser_luns_begin, iser_luns_run, NULL,
     {0xa0, 0, 0xff, 0, 0, 0, ALL4}},
    /* REPORT SUPPORTED OPERATION CODES */
    {0xa3, 0x0c, 12, ANY, 0, iser_opcodes_begin, iser_opcodes_run, NULL,
     {0xa3, 0x0c, 0x87, 0xff, ALL2, ALL4}},
    /* READ(12), WRITE(12), WRITE AND VERIFY(12), VERIFY(12) */
    {0xa8, NONE, 12, READ, MEDIUM, iser_read_begin, NULL, iser_read_work, {0xa8, RANGE12(0x1a)}},
    {0xaa, NONE, 12, WRITE, CHANGE, iser_write_begin, NULL, iser_write_work,
     {0xaa, RANGE12(0x1a)}},
    {0xae, NONE, 12, WRITE, CHANGE, iser_write_verify_begin, NULL, iser_write_verify_work,
     {0xae, RANGE12(0x12)}},
    {0xaf, NONE, 12, READ, MEDIUM, iser_verify_begin, NULL, iser_verify_work,
     {0xaf, RANGE12(0x12)}},
};
/* clang-format on */

#define COMMANDS (sizeof(iser_commands) / sizeof(iser_commands[0]))

/* ---- Looking up ------------------------------------------------------------------------- */

static bool has(const struct iser_lu *lu, const struct iser_command_spec *spec)
{
    return !(spec->flags & ISER_SPEC_THIN) || !lu || lu->unit->ops->unmap;
}

/*
 * Returns the row of the operation code and service action, NULL: none; *first gets the operation
 * code's first row.
 */
static const struct iser_command_spec *find(const struct iser_lu *lu, uint8_t opcode,
                                            uint8_t action, const struct iser_command_spec **first)
{
    const struct iser_command_spec *spec = iser_commands;

    *first = NULL;
    for (; spec < iser_commands + COMMANDS; spec++) {
        if (spec->opcode != opcode || !has(lu, spec))
            continue;
        if (!*first)
            *first = spec;
        if (spec->action == NONE || spec->action == action)
            return spec;
    }
    return NULL;
}

const struct iser_command_spec *iser_command_find(struct iser_scsi_command *command)
{
    const struct iser_command_spec *first;
    const struct iser_command_spec *spec =
        find(command->lu, command->cdb[0], command->cdb[1] & 0x1f, &first);

    if (first && !spec)
        iser_fault_field(command, ISER_FIELD_CDB, 1);
    else if (!spec)
        iser_fault(command, ISER_NO_OPCODE);
    return spec;
}

/* ---- REPORT SUPPORTED OPERATION CODES ------------------------------------------------------ */

#define RCTD        0x80u
#define REPORT_MAX  (4 + COMMANDS * 20)
#define SERVACTV    0x01u
#define CTDP        0x02u
#define TIMEOUTS    12u
#define SUPPORTED   3u
#define UNSUPPORTED 1u
#define CTDP_ONE    0x80u

bool iser_opcodes_begin(struct iser_scsi_command *command)
{
    iser_parameters_in(command, iser_get32(command->cdb + 6), REPORT_MAX);
    return true;
}

/* Puts a timeouts descriptor without values. Returns its length. */
static size_t put_timeouts(uint8_t *at)
{
    iser_put16(at, TIMEOUTS - 2);
    return TIMEOUTS;
}

static void report_all(struct iser_scsi_command *command)
{
    bool timeouts = (command->cdb[2] & RCTD) != 0;
    uint8_t list[REPORT_MAX] = {0};
    size_t length = 4;

    for (const struct iser_command_spec *spec = iser_commands; spec < iser_commands + COMMANDS;
         spec++) {
        uint8_t *at = list + length;

        if (!has(command->lu, spec))
            continue;
        at[0] = spec->opcode;
        at[5] = (uint8_t)((spec->action != NONE ? SERVACTV : 0) | (timeouts ? CTDP : 0));
        if (spec->action != NONE)
            iser_put16(at + 2, spec->action);
        iser_put16(at + 6, spec->length);
        length += 8;
        if (timeouts)
            length += put_timeouts(list + length);
    }
    iser_put32(list, (uint32_t)(length - 4));
    iser_parameters_put(command, list, length);
}

#define SAME_UNMAP 0x08u

/* Only a thin unit evaluates UNMAP of WRITE SAME. */
static void put_usage(const struct iser_lu *lu, const struct iser_command_spec *spec, uint8_t *at)
{
    memcpy(at, spec->usage, spec->length);
    if (spec->begin == iser_same_begin && !lu->unit->ops->unmap)
        at[1] &= (uint8_t)~SAME_UNMAP;
}

static void report_one(struct iser_scsi_command *command, const struct iser_command_spec *spec)
{
    bool timeouts = (command->cdb[2] & RCTD) != 0;
    uint8_t report[4 + ISER_CDB_SIZE + TIMEOUTS] = {0};
    size_t length = 4;

    report[1] = spec ? SUPPORTED : UNSUPPORTED;
    if (spec) {
        iser_put16(report + 2, spec->length);
        put_usage(command->lu, spec, report + 4);
        length += spec->length;
    }
    if (spec && timeouts) {
        report[1] |= CTDP_ONE;
        length += put_timeouts(report + length);
    }
    iser_parameters_put(command, report, length);
}

/* Reporting options: all commands; an operation code without service actions; one with; either. */
void iser_opcodes_run(struct iser_scsi_command *command)
{
    const uint8_t *cdb = command->cdb;
    uint16_t action = iser_get16(cdb + 4);
    const struct iser_command_spec *spec, *first;

    spec = find(command->lu, cdb[3], action > 0x1f ? NONE : (uint8_t)action, &first);
    switch (cdb[2] & 0x07) {
    case 0:
        report_all(command);
        return;
    case 1:
        if (first && first->action != NONE)
            break;
        report_one(command, first);
        return;
    case 2:
        if (first && first->action == NONE)
            break;
        report_one(command, spec);
        return;
    case 3:
        report_one(command, spec && (spec->action != NONE || action == 0) ? spec : NULL);
        return;
    default:
        break;
    }
    iser_fault_field(command, ISER_FIELD_CDB, 2);
}
