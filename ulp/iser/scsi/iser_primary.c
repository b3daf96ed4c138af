/* SPDX-License-Identifier: BSD-2-Clause */
/* The small commands of SPC-4: LUNs, sense, start and stop, logs. */
#include "pdu/iser_octets.h"
#include "scsi/iser_lu.h"

#include <string.h>

/* ---- REPORT LUNS ------------------------------------------------------------------------ */

#define LUNS_LENGTH (8 + 8 * ITISER_LUNS_MAX)

bool iser_luns_begin(struct iser_scsi_command *command)
{
    uint32_t allocated = iser_get32(command->cdb + 6);

    if (command->cdb[2] > 2)
        return iser_fault_field(command, ISER_FIELD_CDB, 2);
    if (allocated < 16)
        return iser_fault_field(command, ISER_FIELD_CDB, 6);
    iser_parameters_in(command, allocated, LUNS_LENGTH);
    return true;
}

void iser_luns_run(struct iser_scsi_command *command)
{
    const struct iser_scsi_target *target = command->nexus->target;
    uint8_t list[LUNS_LENGTH] = {0};
    size_t length = 8;

    /* 1 asks for well-known logical units, of which there are none. */
    for (size_t i = 0; i < ITISER_LUNS_MAX && command->cdb[2] != 1; i++) {
        if (!target->lus[i])
            continue;
        iser_put16(list + length, (uint16_t)i);
        length += 8;
    }
    iser_put32(list, (uint32_t)(length - 8));
    iser_parameters_put(command, list, length);
}

/* ---- REQUEST SENSE ------------------------------------------------------------------------ */

bool iser_sense_begin(struct iser_scsi_command *command)
{
    iser_parameters_in(command, command->cdb[4], ISER_SENSE_MAX);
    return true;
}

void iser_sense_run(struct iser_scsi_command *command)
{
    struct iser_fault fault = {.key = 0};
    uint8_t sense[ISER_SENSE_MAX];
    size_t length;

    if (!command->lu)
        fault = (struct iser_fault){.key = 5, .asc = 0x25};
    else if (!iser_attention_take(command->nexus, command->lu, &fault) && command->lu->stopped)
        fault = (struct iser_fault){.key = 2, .asc = 4, .ascq = 2};
    length = iser_sense_encode(&fault, (command->cdb[1] & 1) != 0, sense);
    iser_parameters_put(command, sense, length);
}

/* ---- START STOP UNIT, PREVENT ALLOW MEDIUM REMOVAL ------------------------------------------ */

#define START 0x01u

/* Stopping a unit takes it away from others; starting it does not. */
bool iser_start_begin(struct iser_scsi_command *command)
{
    uint8_t order = command->cdb[4];

    if (!(order & START) &&
        iser_reserve_conflicts(command->nexus, command->lu, ISER_ACCESS_WRITE)) {
        command->status = ISER_RESERVATION_CONFLICT;
        return false;
    }
    return true;
}

void iser_start_run(struct iser_scsi_command *command)
{
    /* Power conditions are accepted and change nothing. */
    if (command->cdb[4] >> 4 == 0)
        command->lu->stopped = !(command->cdb[4] & START);
}

/* The medium cannot be removed anyway. */
bool iser_prevent_begin(struct iser_scsi_command *command)
{
    if (command->cdb[4] && iser_reserve_conflicts(command->nexus, command->lu, ISER_ACCESS_WRITE)) {
        command->status = ISER_RESERVATION_CONFLICT;
        return false;
    }
    return true;
}

/* ---- LOG SENSE ------------------------------------------------------------------------------- */

/* Supported pages; informational exceptions: none, and the temperature is unknown. */
static const uint8_t log_pages[][12] = {
    {0x00, 0, 0, 2, 0x00, 0x2f},
    {0x2f, 0, 0, 8, 0, 0, 0x03, 4, 0, 0, 0xff, 0},
};

bool iser_log_begin(struct iser_scsi_command *command)
{
    uint8_t code = command->cdb[2] & 0x3f;

    /* Only cumulative values are supported. */
    if (command->cdb[2] >> 6 != 1 || (code != log_pages[0][0] && code != log_pages[1][0]))
        return iser_fault_field(command, ISER_FIELD_CDB, 2);
    iser_parameters_in(command, iser_get16(command->cdb + 7), sizeof(log_pages[0]));
    return true;
}

void iser_log_run(struct iser_scsi_command *command)
{
    const uint8_t *page = log_pages[(command->cdb[2] & 0x3f) == 0 ? 0 : 1];

    iser_parameters_put(command, page, 4u + page[3]);
}
