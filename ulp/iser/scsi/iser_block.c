/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that move or compare blocks (SBC-3). */
#include "pdu/iser_octets.h"
#include "scsi/iser_lu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (64u << 10) /* octets that are compared or repeated at once */
#define FUA   0x08u
/* Larger transfers are copied by threads of the pool. */
#define MOVE_NOW (64u << 10)

/* ---- Ranges ------------------------------------------------------------------------ */

bool iser_range_check(struct iser_scsi_command *command, uint64_t lba, uint64_t blocks)
{
    uint64_t all = command->lu->unit->blocks;

    if (lba > all || blocks > all - lba)
        return iser_fault_at(command, ISER_OUT_OF_RANGE, lba > all ? lba : all);
    return true;
}

/* Reads address and number of blocks; returns the offset of the number in the CDB. */
static uint16_t read_range(struct iser_scsi_command *command)
{
    const uint8_t *cdb = command->cdb;

    switch (command->spec->length) {
    case 6:
        command->lba = iser_get24(cdb + 1) & 0x1fffff;
        command->blocks = cdb[4] == 0 ? 256 : cdb[4];
        return 4;
    case 10:
        command->lba = iser_get32(cdb + 2);
        command->blocks = iser_get16(cdb + 7);
        return 7;
    case 12:
        command->lba = iser_get32(cdb + 2);
        command->blocks = iser_get32(cdb + 6);
        return 6;
    default:
        command->lba = iser_get64(cdb + 2);
        command->blocks = iser_get32(cdb + 10);
        return 10;
    }
}

static bool check_limit(struct iser_scsi_command *command, uint16_t field)
{
    if (command->blocks > ISER_TRANSFER_MAX / command->lu->unit->block_size)
        return iser_fault_field(command, ISER_FIELD_CDB, field);
    return true;
}

bool iser_range_begin(struct iser_scsi_command *command)
{
    uint16_t field = read_range(command);

    return iser_range_check(command, command->lba, command->blocks) && check_limit(command, field);
}

static uint64_t offset_of(const struct iser_scsi_command *command)
{
    return command->lba * command->lu->unit->block_size;
}

/*
 * If the unit is memory, the data needs no buffer of the caller. While a command waits until no
 * data moves, data that comes later is copied, so that it need not wait for long.
 */
static void offer_memory(struct iser_scsi_command *command, uint32_t length)
{
    const struct itiser_unit *unit = command->lu->unit;

    if (length == 0 || !unit->memory || command->lu->line)
        return;
    command->region = unit->memory;
    command->region_size = unit->blocks * unit->block_size;
    command->direct = (uint8_t *)unit->memory + offset_of(command);
}

/* ---- READ -------------------------------------------------------------------------- */

bool iser_read_begin(struct iser_scsi_command *command)
{
    uint32_t block = command->lu->unit->block_size;
    uint64_t wanted;

    if (!iser_range_begin(command))
        return false;
    command->transfer = (uint64_t)command->blocks * block;
    wanted = command->transfer;
    if (wanted > command->expected_in)
        wanted = command->expected_in;
    command->in_actual = (uint32_t)wanted;
    command->in_length = (uint32_t)((wanted + block - 1) / block * block);
    offer_memory(command, command->in_length);
    return true;
}

void iser_read_work(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;
    int error = 0;

    if (command->in_length > 0 && (!command->direct || command->data != command->direct))
        error =
            unit->ops->read(unit->context, offset_of(command), command->data, command->in_length);
    iser_fault_unit(command, error, false);
}

/* ---- WRITE ------------------------------------------------------------------------- */

/*
 * Sets up data-out of whole blocks. If the initiator has less than the CDB asks for, only the
 * blocks that it has are written.
 */
static bool begin_out(struct iser_scsi_command *command, uint64_t transfer)
{
    uint32_t block = command->lu->unit->block_size;

    command->writes = true;
    command->transfer = transfer;
    if (command->expected_out >= transfer)
        command->out_length = (uint32_t)transfer;
    else if (command->expected_out % block == 0)
        command->out_length = command->expected_out;
    else
        return iser_fault(command, ISER_UNIT_DATA_LENGTH);
    return true;
}

static bool begin_blocks_out(struct iser_scsi_command *command)
{
    return iser_range_begin(command) &&
           begin_out(command, (uint64_t)command->blocks * command->lu->unit->block_size);
}

bool iser_write_begin(struct iser_scsi_command *command)
{
    if (!begin_blocks_out(command))
        return false;
    offer_memory(command, command->out_length);
    return true;
}

static bool put_blocks(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;
    int error = 0;

    if (command->out_length > 0 && (!command->direct || command->data != command->direct))
        error =
            unit->ops->write(unit->context, offset_of(command), command->data, command->out_length);
    return iser_fault_unit(command, error, true);
}

static bool flush(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;

    return iser_fault_unit(command, unit->ops->flush(unit->context), true);
}

static bool goes_through(const struct iser_scsi_command *command)
{
    return command->spec->length > 6 && (command->cdb[1] & FUA);
}

void iser_write_work(struct iser_scsi_command *command)
{
    if (put_blocks(command) && goes_through(command))
        flush(command);
}

/* ---- READ and WRITE without waiting ---------------------------------------------------- */

bool iser_block_move_now(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;
    const struct itiser_unit_ops *ops = unit->ops;
    int error = EAGAIN;

    if (command->in_length > MOVE_NOW || command->out_length > MOVE_NOW)
        return false;
    if (command->spec->work == iser_read_work && ops->read_now)
        error = ops->read_now(unit->context, offset_of(command), command->data, command->in_length);
    else if (command->spec->work == iser_write_work && ops->write_now && !goes_through(command))
        error =
            ops->write_now(unit->context, offset_of(command), command->data, command->out_length);
    if (error == EAGAIN)
        return false;
    iser_fault_unit(command, error, command->writes);
    return true;
}

/* ---- VERIFY, WRITE AND VERIFY ------------------------------------------------------- */

#define BYTCHK 0x02u

static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t length)
{
    size_t at = 0;

    while (at < length && a[at] == b[at])
        at++;
    return at;
}

/*
 * Reads "length" octets of the unit from the command's first block on and compares them with
 * expected, unless that is NULL. Returns false with the fault set; its information is the first
 * octet that differs.
 */
static bool compare_blocks(struct iser_scsi_command *command, const uint8_t *expected,
                           uint32_t length)
{
    const struct itiser_unit *unit = command->lu->unit;
    uint8_t *chunk = aligned_alloc(ISER_PHYSICAL_BLOCK, CHUNK);
    bool good = chunk || iser_fault_unit(command, ENOMEM, false);

    for (uint32_t at = 0; good && at < length; at += CHUNK) {
        uint32_t part = length - at < CHUNK ? length - at : CHUNK;

        good = iser_fault_unit(
            command, unit->ops->read(unit->context, offset_of(command) + at, chunk, part), false);
        /* chunk is not NULL here. NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
        if (good && expected && memcmp(chunk, expected + at, part) != 0)
            good = iser_fault_at(command, ISER_MISCOMPARE,
                                 at + first_difference(chunk, expected + at, part));
    }
    free(chunk);
    return good;
}

bool iser_verify_begin(struct iser_scsi_command *command)
{
    if (command->cdb[1] & BYTCHK)
        return begin_blocks_out(command);
    return iser_range_begin(command);
}

void iser_verify_work(struct iser_scsi_command *command)
{
    if (command->cdb[1] & BYTCHK)
        compare_blocks(command, command->data, command->out_length);
    else if (!command->lu->unit->memory)
        compare_blocks(command, NULL, command->blocks * command->lu->unit->block_size);
}

bool iser_write_verify_begin(struct iser_scsi_command *command)
{
    return begin_blocks_out(command);
}

void iser_write_verify_work(struct iser_scsi_command *command)
{
    if (put_blocks(command) && flush(command))
        compare_blocks(command, command->cdb[1] & BYTCHK ? command->data : NULL,
                       command->out_length);
}

/* ---- ORWRITE, COMPARE AND WRITE ------------------------------------------------------ */

bool iser_orwrite_begin(struct iser_scsi_command *command)
{
    return begin_blocks_out(command);
}

/* ORs the blocks into the data, which is then written. */
static bool or_blocks(struct iser_scsi_command *command)
{
    const struct itiser_unit *unit = command->lu->unit;
    uint32_t length = command->out_length;
    uint8_t *chunk = aligned_alloc(ISER_PHYSICAL_BLOCK, CHUNK);
    bool good = chunk || iser_fault_unit(command, ENOMEM, false);

    for (uint32_t at = 0; good && at < length; at += CHUNK) {
        uint32_t part = length - at < CHUNK ? length - at : CHUNK;

        good = iser_fault_unit(
            command, unit->ops->read(unit->context, offset_of(command) + at, chunk, part), false);
        for (uint32_t i = 0; good && i < part; i++)
            /* chunk is not NULL here. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
            command->data[at + i] |= chunk[i];
    }
    free(chunk);
    return good;
}

void iser_orwrite_work(struct iser_scsi_command *command)
{
    if (or_blocks(command))
        iser_write_work(command);
}

bool iser_compare_begin(struct iser_scsi_command *command)
{
    uint32_t block = command->lu->unit->block_size;

    command->lba = iser_get64(command->cdb + 2);
    command->blocks = command->cdb[13];
    if (!iser_range_check(command, command->lba, command->blocks))
        return false;
    if (command->blocks > ISER_TRANSFER_MAX / 2 / block)
        return iser_fault_field(command, ISER_FIELD_CDB, 13);
    command->writes = true;
    command->transfer = (uint64_t)command->blocks * 2 * block;
    command->out_length = command->blocks * 2 * block;
    return command->out_length == command->expected_out ||
           iser_fault_field(command, ISER_FIELD_CDB, 13);
}

void iser_compare_work(struct iser_scsi_command *command)
{
    uint32_t half = command->out_length / 2;

    if (half == 0 || !compare_blocks(command, command->data, half))
        return;
    command->data += half;
    command->out_length = half;
    iser_write_work(command);
    command->data -= half;
    command->out_length = 2 * half;
}

/* ---- Caches -------------------------------------------------------------------------- */

/* PREFETCH and SYNCHRONIZE CACHE move no data, so their range may be as large as the unit. */
bool iser_prefetch_begin(struct iser_scsi_command *command)
{
    read_range(command);
    return iser_range_check(command, command->lba, command->blocks);
}

void iser_sync_work(struct iser_scsi_command *command)
{
    flush(command);
}
