/* SPDX-License-Identifier: BSD-2-Clause */
/* The capacity of a unit, the mapping of its blocks, and unmapping (SBC-3). */
#include "pdu/iser_octets.h"
#include "scsi/iser_lu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (64u << 10)

/* ---- READ CAPACITY ------------------------------------------------------------------- */

bool iser_capacity10_begin(struct iser_scsi_command *command)
{
    iser_parameters_in(command, 8, 8);
    return true;
}

void iser_capacity10_run(struct iser_scsi_command *command)
{
    uint64_t last = command->lu->unit->blocks - 1;
    uint8_t data[8];

    iser_put32(data, last > UINT32_MAX ? UINT32_MAX : (uint32_t)last);
    iser_put32(data + 4, command->lu->unit->block_size);
    iser_parameters_put(command, data, sizeof(data));
}

bool iser_capacity16_begin(struct iser_scsi_command *command)
{
    iser_parameters_in(command, iser_get32(command->cdb + 10), 32);
    return true;
}

void iser_capacity16_run(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;
    uint8_t data[32] = {0};

    iser_put64(data, unit->blocks - 1);
    iser_put32(data + 8, unit->block_size);
    if (unit->physical_size > unit->block_size)
        data[13] = (uint8_t)__builtin_ctz(unit->physical_size / unit->block_size);
    if (unit->ops->unmap)
        data[14] = 0xc0; /* LBPME, LBPRZ */
    iser_parameters_put(command, data, sizeof(data));
}

/* ---- GET LBA STATUS ------------------------------------------------------------------- */

#define STATUS_DESCRIPTORS 32u

bool iser_status_begin(struct iser_scsi_command *command)
{
    command->lba = iser_get64(command->cdb + 2);
    iser_parameters_in(command, iser_get32(command->cdb + 10), 8 + 16 * STATUS_DESCRIPTORS);
    return iser_range_check(command, command->lba, 1);
}

/* Gets the run of blocks from lba on that are all mapped or all unmapped. */
static int next_extent(const struct itiser_unit *unit, uint64_t lba, uint64_t *blocks, bool *mapped)
{
    uint64_t length = (unit->blocks - lba) * unit->block_size;
    int error = 0;

    *mapped = true;
    if (unit->ops->unmap && unit->ops->extent)
        error = unit->ops->extent(unit->context, lba * unit->block_size, &length, mapped);
    *blocks = length / unit->block_size;
    if (*blocks == 0) { /* a partly mapped block */
        *blocks = 1;
        *mapped = true;
    }
    return error;
}

void iser_status_work(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;
    uint8_t list[8 + 16 * STATUS_DESCRIPTORS] = {0};
    uint64_t lba = command->lba;
    size_t length = 8;

    while (lba < unit->blocks && length < sizeof(list)) {
        uint64_t blocks;
        bool mapped;

        if (!iser_fault_unit(command, next_extent(unit, lba, &blocks, &mapped), false))
            return;
        if (blocks > UINT32_MAX)
            blocks = UINT32_MAX;
        iser_put64(list + length, lba);
        iser_put32(list + length + 8, (uint32_t)blocks);
        list[length + 12] = mapped ? 0 : 1;
        lba += blocks;
        length += 16;
        if (length >= command->allocated)
            break;
    }
    iser_put32(list, (uint32_t)(length - 4));
    iser_parameters_put(command, list, length);
}

/* ---- UNMAP ---------------------------------------------------------------------------- */

bool iser_unmap_begin(struct iser_scsi_command *command)
{
    uint32_t length = iser_get16(command->cdb + 7);

    if (length > 0 && length < 8)
        return iser_fault(command, ISER_LIST_LENGTH);
    return iser_parameters_out(command, length);
}

static bool check_descriptors(struct iser_scsi_command *command, uint32_t count)
{
    uint64_t blocks = 0;

    if (count > ISER_UNMAP_DESCRIPTORS)
        return iser_fault_field(command, ISER_FIELD_LIST, 2);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *descriptor = command->data + 8 + (size_t)16 * i;

        if (!iser_range_check(command, iser_get64(descriptor), iser_get32(descriptor + 8)))
            return false;
        blocks += iser_get32(descriptor + 8);
    }
    if (blocks > ISER_UNMAP_MAX / command->lu->unit->block_size)
        return iser_fault_field(command, ISER_FIELD_LIST, 8);
    return true;
}

void iser_unmap_work(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;
    uint32_t length = command->out_length < 8 ? 8 : command->out_length, count;

    if (command->out_length == 0)
        return;
    count = iser_get16(command->data + 2);
    if (count > length - 8)
        count = length - 8;
    count /= 16;
    if (!check_descriptors(command, count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *descriptor = command->data + 8 + (size_t)16 * i;
        uint64_t blocks = iser_get32(descriptor + 8);

        command->lba = iser_get64(descriptor);
        if (blocks > 0 &&
            !iser_fault_unit(command,
                             unit->ops->unmap(unit->context, command->lba * unit->block_size,
                                              blocks * unit->block_size),
                             true))
            return;
    }
}

/* ---- WRITE SAME ----------------------------------------------------------------------- */

#define UNMAP 0x08u
#define NDOB  0x01u

bool iser_same_begin(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;
    bool unmap = (command->cdb[1] & UNMAP) != 0;
    bool none = command->spec->length == 16 && (command->cdb[1] & NDOB) != 0;

    if (unmap && !unit->ops->unmap)
        return iser_fault_field(command, ISER_FIELD_CDB, 1);
    if (!iser_range_begin(command))
        return false;
    /* WSNZ: a number of blocks is mandatory, so that the work is bounded. */
    if (command->blocks == 0)
        return iser_fault_field(command, ISER_FIELD_CDB, command->spec->length == 16 ? 10 : 7);
    if (none)
        return true;
    command->writes = true;
    command->transfer = unit->block_size;
    command->out_length = command->expected_out;
    /* Unmapped blocks read as zeros, so some initiators leave the zeros out. */
    return command->expected_out == unit->block_size || (unmap && command->expected_out == 0) ||
           iser_fault(command, ISER_UNIT_DATA_LENGTH);
}

static bool is_zero(const uint8_t *data, size_t length)
{
    return length == 0 || (data[0] == 0 && memcmp(data, data + 1, length - 1) == 0);
}

/* Writes the block repeatedly, one chunk at a time. */
static void repeat(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;
    uint64_t left = (uint64_t)command->blocks * unit->block_size;
    uint64_t offset = command->lba * unit->block_size;
    uint8_t *chunk = aligned_alloc(ISER_PHYSICAL_BLOCK, CHUNK);
    int error = chunk ? 0 : ENOMEM;

    if (chunk)
        memset(chunk, 0, CHUNK);
    for (uint32_t at = 0; chunk && command->out_length > 0 && at < CHUNK; at += unit->block_size)
        memcpy(chunk + at, command->data, unit->block_size);
    while (error == 0 && left > 0) {
        size_t part = left < CHUNK ? (size_t)left : CHUNK;

        error = unit->ops->write(unit->context, offset, chunk, part);
        offset += part;
        left -= part;
    }
    free(chunk);
    iser_fault_unit(command, error, true);
}

void iser_same_work(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;

    if (!(command->cdb[1] & UNMAP) || !is_zero(command->data, command->out_length)) {
        repeat(command);
        return;
    }
    iser_fault_unit(command,
                    unit->ops->unmap(unit->context, command->lba * unit->block_size,
                                     (uint64_t)command->blocks * unit->block_size),
                    true);
}
