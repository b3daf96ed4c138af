/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a command: the checks before it is executed, its execution, its end. */
#include "scsi/iser_scsi.h"

#include "scsi/iser_lu.h"

#include <stddef.h>

/* Returns NULL if there is no unit. */
static struct iser_lu *lu_of(const struct iser_scsi_command *command)
{
    int number = iser_lun_number(command->lun);

    return number < 0 ? NULL : command->nexus->target->lus[number];
}

/* ---- The end of a command ------------------------------------------------------ */

/* Sets status and sense according to the command's outcome. */
static void conclude(struct iser_scsi_command *command)
{
    const struct iser_fault *fault = &command->fault;

    if (fault->key == 0)
        return; /* GOOD, or a status set by a handler */
    command->status = ISER_CHECK_CONDITION;
    command->in_actual = 0;
    if (!command->writes)
        command->transfer = 0; /* for the residual: no data is sent */
    command->sense_length =
        iser_sense_encode(fault, command->lu && command->lu->descriptor_sense, command->sense);
}

static bool refuse(struct iser_scsi_command *command)
{
    conclude(command);
    return false;
}

static bool conflict(struct iser_scsi_command *command)
{
    command->status = ISER_RESERVATION_CONFLICT;
    return false;
}

void iser_scsi_refuse(struct iser_scsi_command *command, uint32_t number)
{
    command->lu = lu_of(command);
    command->transfer = 0;
    iser_fault(command, number);
    conclude(command);
}

void iser_scsi_busy(struct iser_scsi_command *command)
{
    command->status = ISER_BUSY;
    command->in_actual = 0;
    command->transfer = 0;
}

uint32_t iser_scsi_residual(const struct iser_scsi_command *command, bool *overflow)
{
    uint64_t expected = command->writes ? command->expected_out : command->expected_in;
    uint64_t moved = command->transfer;

    /* A command without data, or one that ended before its data. */
    if (moved == 0)
        expected = command->expected_out + (uint64_t)command->expected_in;
    *overflow = moved > expected;
    expected = moved > expected ? moved - expected : expected - moved;
    return expected > UINT32_MAX ? UINT32_MAX : (uint32_t)expected;
}

/* ---- What keeps a command from being executed ----------------------------------- */

/* INQUIRY, REPORT LUNS and REQUEST SENSE are executed whatever has happened to the unit. */
static bool is_quiet(uint8_t opcode)
{
    return opcode == 0x12 || opcode == 0xa0 || opcode == 0x03;
}

/* A LUN without a unit answers only the commands that ask what is there. */
static bool begin_absent(struct iser_scsi_command *command)
{
    command->spec = iser_command_find(command);
    if (!command->spec || !is_quiet(command->cdb[0])) {
        iser_fault(command, ISER_NO_LUN);
        return refuse(command);
    }
    return command->spec->begin(command) || refuse(command);
}

/* Refuses bits that the standard, or this unit, does not define. */
static bool check_usage(struct iser_scsi_command *command)
{
    const struct iser_command_spec *spec = command->spec;

    for (uint16_t i = 0; i < spec->length; i++) {
        /* In the control octet only NACA matters. */
        uint8_t known = i == spec->length - 1 ? (uint8_t)~0x04 : spec->usage[i];

        if (command->cdb[i] & ~known)
            return iser_fault_field(command, ISER_FIELD_CDB, i);
    }
    return true;
}

static bool is_protected(const struct iser_lu *lu)
{
    return lu->write_protected || (lu->unit->flags & ITISER_UNIT_READ_ONLY) != 0;
}

static bool check_state(struct iser_scsi_command *command)
{
    const struct iser_lu *lu = command->lu;
    unsigned flags = command->spec->flags;

    if ((flags & ISER_SPEC_MEDIUM) && lu->stopped)
        return iser_fault(command, ISER_STOPPED);
    if ((flags & ISER_SPEC_WRITES) && is_protected(lu))
        return iser_fault(command, ISER_WRITE_PROTECTED);
    return true;
}

bool iser_scsi_begin(struct iser_scsi_command *command)
{
    struct iser_scsi_nexus *nexus = command->nexus;

    command->lu = lu_of(command);
    if (!command->lu)
        return begin_absent(command);
    if (!is_quiet(command->cdb[0]) && iser_attention_take(nexus, command->lu, &command->fault))
        return refuse(command);
    command->spec = iser_command_find(command);
    if (!command->spec)
        return refuse(command);
    if (iser_reserve_conflicts(nexus, command->lu, command->spec->access))
        return conflict(command);
    if (!check_usage(command) || !check_state(command))
        return refuse(command);
    if (command->spec->begin && !command->spec->begin(command))
        return command->status ? false : refuse(command);
    return true;
}

/* ---- Execution ------------------------------------------------------------------- */

static bool unit_blocks(const struct iser_lu *lu)
{
    return lu && (lu->unit->flags & ITISER_UNIT_BLOCKS) != 0;
}

/* Returns true for commands that write, on a unit that runs commands in parallel. */
static bool is_counted(const struct iser_scsi_command *command)
{
    return command->spec->work && (command->spec->flags & ISER_SPEC_WRITES) &&
           unit_blocks(command->lu);
}

/* Returns true for commands that may have to wait for others. */
static bool stands_in_line(const struct iser_scsi_command *command)
{
    return is_counted(command) || (command->spec->flags & ISER_SPEC_ALONE) != 0;
}

static struct iser_scsi_command *command_of(struct iser_work *work)
{
    return (struct iser_scsi_command *)(void *)((char *)work -
                                                offsetof(struct iser_scsi_command, work));
}

static void work_run(struct iser_work *work)
{
    struct iser_scsi_command *command = command_of(work);

    command->spec->work(command);
}

static void end(struct iser_scsi_command *command)
{
    if (command->undo)
        iser_undo_end(command);
    conclude(command);
    command->done(command);
}

static void admit(struct iser_lu *lu);

static void work_done(struct iser_work *work)
{
    struct iser_scsi_command *command = command_of(work);
    struct iser_lu *lu = command->lu;

    if (stands_in_line(command)) {
        lu->writing--;
        lu->alone = false;
        admit(lu);
    }
    end(command);
}

static void start_work(struct iser_scsi_command *command)
{
    struct iser_pool *pool = command->nexus->target->pool;

    command->work.run = work_run;
    command->work.done = work_done;
    if (pool && (command->spec->flags & ISER_SPEC_POOL || unit_blocks(command->lu))) {
        if (!unit_blocks(command->lu) || !iser_block_move_now(command)) {
            iser_pool_submit(pool, &command->work);
            return;
        }
    } else {
        work_run(&command->work);
    }
    work_done(&command->work);
}

/* Returns true while data moves straight from or to a block of the command. */
static bool is_moving(const struct iser_lu *lu, const struct iser_scsi_command *command)
{
    const struct iser_scsi_command *other = lu->moves;

    while (other && (other->lba >= command->lba + command->blocks ||
                     command->lba >= other->lba + other->blocks))
        other = other->move_next;
    return other != NULL;
}

/*
 * Starts the commands that wait for the unit, in order, as far as they may run now. One that waits
 * for data to move does not hold up the others.
 */
static void admit(struct iser_lu *lu)
{
    struct iser_scsi_command *command, **at = &lu->line;

    if (lu->admitting)
        return; /* called for a command that ended at once: the loop below continues */
    lu->admitting = true;
    while ((command = *at) != NULL) {
        bool alone = (command->spec->flags & ISER_SPEC_ALONE) != 0;

        if (lu->alone || (alone && lu->writing > 0))
            break;
        if (alone && is_moving(lu, command)) {
            at = &command->next;
            lu->target->held = true;
            continue;
        }
        *at = command->next;
        if (!*at)
            lu->line_end = at;
        lu->writing++;
        lu->alone = alone;
        start_work(command);
    }
    lu->admitting = false;
}

static void execute(struct iser_scsi_command *command)
{
    struct iser_lu *lu = command->lu;

    if (!lu && command->cdb[0] == 0x12)
        iser_inquiry_absent(command);
    else if (command->spec->run)
        command->spec->run(command);
    if (command->status != ISER_GOOD || command->fault.key != 0 || !command->spec->work) {
        end(command);
        return;
    }
    if (!stands_in_line(command)) {
        start_work(command);
        return;
    }
    command->next = NULL;
    /* Only commands of a unit are counted. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    *lu->line_end = command;
    lu->line_end = &command->next;
    admit(lu);
}

void iser_scsi_execute(struct iser_scsi_command *command)
{
    struct iser_lu *lu = command->lu;
    bool go_on = command->out_length > 0 && iser_scsi_moved(command);

    execute(command);
    if (go_on)
        admit(lu);
}

/* ---- Data that moves straight from or to the unit --------------------------------- */

void iser_scsi_move(struct iser_scsi_command *command)
{
    struct iser_lu *lu = command->lu;

    command->move_next = lu->moves;
    command->move_previous = &lu->moves;
    if (lu->moves)
        lu->moves->move_previous = &command->move_next;
    lu->moves = command;
}

bool iser_scsi_moved(struct iser_scsi_command *command)
{
    if (!command->move_previous)
        return false;
    *command->move_previous = command->move_next;
    if (command->move_next)
        command->move_next->move_previous = command->move_previous;
    command->move_previous = NULL;
    return command->lu->line != NULL;
}

bool iser_scsi_is_held(const struct iser_scsi_target *target)
{
    return target->held;
}

void iser_scsi_go_on(struct iser_scsi_target *target)
{
    target->held = false;
    for (size_t i = 0; i < ITISER_LUNS_MAX; i++)
        if (target->lus[i] && target->lus[i]->line)
            admit(target->lus[i]);
}
