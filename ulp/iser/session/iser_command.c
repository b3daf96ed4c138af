/* SPDX-License-Identifier: BSD-2-Clause */
/* SCSI commands: from the PDU to the response. */
#include "session/iser_session.h"

#include <string.h>

/* ---------------------------------------------------------------- the response */

static void command_put_residual(const struct iser_task *task, uint8_t *bhs)
{
    bool overflow;
    uint32_t residual = iser_scsi_residual(&task->command, &overflow);

    if (task->bidi_in > 0) { /* none of it is read */
        bhs[1] |= ISER_BIDI_UNDERFLOW;
        iser_put32(bhs + ISER_AT_BIDI_RESIDUAL, task->bidi_in);
    }
    if (residual == 0)
        return;
    bhs[1] |= overflow ? ISER_OVERFLOW : ISER_UNDERFLOW;
    iser_put32(bhs + ISER_AT_RESIDUAL, residual);
}

static void command_respond(struct iser_task *task)
{
    const struct iser_scsi_command *command = &task->command;
    struct iser_transfer *transfer = &task->transfer;

    iser_pdu_begin(transfer->response, ISER_SCSI_RESPONSE, ISER_FINAL, transfer->itt);
    transfer->response[3] = command->status;
    command_put_residual(task, transfer->response);
    transfer->in_length = command->in_actual;
    if (command->sense_length > 0) {
        iser_put16(task->sense, (uint16_t)command->sense_length);
        memcpy(task->sense + 2, command->sense, command->sense_length);
        transfer->sense = task->sense;
        transfer->sense_length = (uint32_t)command->sense_length + 2;
    }
    task->state = ISER_TASK_RESPONSE;
    /*
     * Over RDMA the link bounds the responses that have not been sent. In plain TCP they keep a
     * place of the window, so that an initiator that does not read cannot continue.
     */
    if (task->session->link->ops->rdma)
        iser_task_leave_window(task);
    task->session->link->ops->respond(task->session->link, transfer);
}

void iser_command_responded(struct iser_task *task)
{
    iser_task_free(task);
}

/* The initiator does not keep to the agreement; number: 0xKKAAQQ. */
static void command_refuse(struct iser_task *task, uint32_t number)
{
    iser_scsi_refuse(&task->command, number);
    command_respond(task);
}

/* RFC 7143 11.4.7.2. */
#define UNEXPECTED_DATA 0x0b0c0cu
#define WRONG_AMOUNT    0x0b0c0du
#define WRONG_FIELD     0x050e03u /* INVALID FIELD IN COMMAND INFORMATION UNIT */

/* ---------------------------------------------------------------- the unit */

/* PREEMPT AND ABORT ends when the commands that it has aborted have left the unit. */
static bool command_must_wait(const struct iser_task *task)
{
    return task->command.aborts &&
           iser_tmf_is_busy(task->session, task->transfer.lun, task->held_until);
}

static void command_done(struct iser_scsi_command *command)
{
    struct iser_task *task = (void *)((char *)command - offsetof(struct iser_task, command));
    struct iser_session *session = task->session;

    iser_session_enter(session);
    session->commands++;
    task->held_until = session->service->last_task;
    if (!task->aborted && command_must_wait(task)) {
        task->state = ISER_TASK_HELD;
    } else if (!task->aborted) {
        command_respond(task);
    } else {
        task->state = ISER_TASK_DATA;
        iser_task_free(task);
    }
    iser_session_leave(session);
}

/* Returns a held task of the session that needs to wait no more. */
static struct iser_task *command_held(const struct iser_session *session)
{
    for (unsigned i = 0; i < ISER_TASK_BUCKETS; i++)
        for (struct iser_task *task = session->tasks[i]; task; task = task->next)
            if (task->state == ISER_TASK_HELD && !command_must_wait(task))
                return task;
    return NULL;
}

bool iser_command_resume_one(struct iser_service *service)
{
    for (struct iser_session *session = service->sessions; session; session = session->next) {
        struct iser_task *task = session->ended ? NULL : command_held(session);

        if (!task)
            continue;
        iser_session_enter(session);
        command_respond(task);
        iser_session_leave(session);
        return true;
    }
    return false;
}

/* Executes the command if all its data-out is there; otherwise solicits more. */
static void command_go_on(struct iser_task *task)
{
    struct iser_transfer *transfer = &task->transfer;
    const struct iser_session *session = task->session;
    struct iser_link *link = session->link;

    if (transfer->out_have < transfer->out_length) {
        if (++transfer->ttt == ISER_NONE)
            transfer->ttt = 0;
        task->data_sn = 0;
        task->reading = link->ops->rdma;
        link->ops->solicit(link, transfer);
        return;
    }
    task->state = ISER_TASK_UNIT;
    iser_scsi_execute(&task->command);
    if (iser_scsi_is_held(session->target->scsi))
        event_active(&session->service->aborted, EV_TIMEOUT, 0);
}

void iser_command_solicited(struct iser_task *task)
{
    task->reading = false;
    if (task->aborted) {
        iser_task_free(task);
        return;
    }
    command_go_on(task);
}

/* ---------------------------------------------------------------- data-out */

/* Takes octets of the command that follow those received. */
static void command_take_data(struct iser_task *task, const uint8_t *data, size_t length)
{
    struct iser_transfer *transfer = &task->transfer;
    uint32_t left = transfer->out_length - transfer->out_have;
    size_t part = length < left ? length : left;

    if (part > 0 && data != transfer->data + transfer->out_have)
        memcpy(transfer->data + transfer->out_have, data, part);
    transfer->out_have += (uint32_t)part;
    task->received += (uint32_t)length;
}

/* Returns the offset up to which data may come now. */
static uint32_t command_data_end(const struct iser_task *task)
{
    const struct iser_params *params = &task->session->params;
    uint32_t expected = task->command.expected_out;

    if (!task->unsolicited)
        return task->transfer.burst_end;
    return expected < params->first_burst ? expected : params->first_burst;
}

static bool command_expects(const struct iser_task *task, const uint8_t *bhs, uint32_t length)
{
    uint32_t end = command_data_end(task);
    uint32_t ttt = task->unsolicited ? ISER_NONE : task->transfer.ttt;
    bool final = (bhs[1] & ISER_FINAL) != 0;

    return iser_get32(bhs + ISER_AT_TTT) == ttt &&
           iser_get32(bhs + ISER_AT_DATA_SN) == task->data_sn &&
           iser_get32(bhs + ISER_AT_OFFSET) == task->received && length <= end - task->received &&
           (task->unsolicited || final == (task->received + length == end));
}

/*
 * With a target transfer tag the LUN has to be the command's (RFC 7143 11.7.4); otherwise it is
 * reserved.
 */
static bool command_is_for_unit(const struct iser_task *task, const uint8_t *bhs)
{
    return iser_get32(bhs + ISER_AT_TTT) == ISER_NONE ||
           iser_scsi_lun_is(task->transfer.lun, bhs + ISER_AT_LUN);
}

static struct iser_task *command_waiting(struct iser_session *session, const uint8_t *bhs)
{
    struct iser_task *task = iser_task_find(session, iser_get32(bhs + ISER_AT_ITT));

    return task && task->state == ISER_TASK_DATA && !task->reading ? task : NULL;
}

uint8_t *iser_command_place(struct iser_session *session, const uint8_t *bhs, uint32_t length)
{
    struct iser_task *task = command_waiting(session, bhs);

    if (!task || length == 0 || iser_pdu_fault(bhs) || !command_expects(task, bhs, length) ||
        task->received != task->transfer.out_have ||
        length > task->transfer.out_length - task->transfer.out_have ||
        !command_is_for_unit(task, bhs))
        return NULL;
    task->placing = true;
    return task->transfer.data + task->transfer.out_have;
}

/* Returns the task whose data was being placed, aborted or not. */
static struct iser_task *command_placing(struct iser_session *session, const uint8_t *bhs)
{
    uint32_t itt = iser_get32(bhs + ISER_AT_ITT);
    struct iser_task *task = session->tasks[itt % ISER_TASK_BUCKETS];

    while (task && (task->transfer.itt != itt || !task->placing))
        task = task->next;
    return task;
}

void iser_command_data(struct iser_session *session, const struct iser_pdu *pdu)
{
    struct iser_task *task = command_placing(session, pdu->bhs);

    if (task)
        task->placing = false;
    else
        task = command_waiting(session, pdu->bhs);
    if (!task)
        return; /* its command has ended: the data is dropped */
    if (task->aborted) {
        iser_task_free(task);
        return;
    }
    if (!command_is_for_unit(task, pdu->bhs)) {
        iser_session_end(session, "data for another LUN than its command's");
        return;
    }
    if (!command_expects(task, pdu->bhs, (uint32_t)pdu->length)) {
        command_refuse(task, WRONG_AMOUNT);
        return;
    }
    task->data_sn++;
    command_take_data(task, pdu->data, pdu->length);
    if (!(pdu->bhs[1] & ISER_FINAL))
        return;
    task->unsolicited = false;
    command_go_on(task);
}

/* ---------------------------------------------------------------- a command */

static bool command_is_bidi(const uint8_t *bhs)
{
    return (bhs[1] & ISER_READS) && (bhs[1] & ISER_WRITES);
}

static void command_fill(struct iser_task *task, const struct iser_pdu *pdu)
{
    struct iser_scsi_command *command = &task->command;
    const uint8_t *bhs = pdu->bhs;
    uint32_t expected = iser_get32(bhs + ISER_AT_EXPECTED);
    bool writes = (bhs[1] & ISER_WRITES) != 0;

    command->nexus = task->session->nexus;
    command->done = command_done;
    memcpy(command->lun, bhs + ISER_AT_LUN, sizeof(command->lun));
    memcpy(command->cdb, bhs + ISER_AT_CDB, sizeof(command->cdb));
    command->expected_out = writes ? expected : 0;
    command->expected_in = bhs[1] & ISER_READS && !writes ? expected : 0;
    task->bidi_in = command_is_bidi(bhs) ? iser_pdu_bidi_expected(pdu) : 0;
    memcpy(task->transfer.lun, command->lun, sizeof(task->transfer.lun));
    task->transfer.tags = task->session->link->header;
}

/*
 * Uses the memory of the unit itself, if it has some. Not with a digest, which is computed before
 * the octets are sent.
 */
static bool command_use_unit(struct iser_task *task)
{
    struct iser_scsi_command *command = &task->command;
    const struct iser_link *link = task->session->link;

    if (!command->direct || (command->in_length > 0 && link->limits.data_digest))
        return false;
    if (link->ops->rdma) {
        task->transfer.lmr =
            iser_buffers_region(task->session->buffers, command->region, command->region_size);
        if (!task->transfer.lmr)
            return false;
    }
    task->transfer.data = command->direct;
    iser_scsi_move(command);
    return true;
}

/*
 * A session may have as much as is left for all others. So each finds something, however many do
 * not read what they have asked for. Returns false if memory runs out, too.
 */
static bool command_get_buffer(struct iser_task *task, uint32_t size)
{
    struct iser_session *session = task->session;
    struct iser_service *service = session->service;
    uint64_t octets = iser_buffer_octets(size);
    struct iser_transfer *transfer = &task->transfer;

    if (session->buffered + octets > service->buffered_max - service->buffered)
        return false;
    transfer->buffer = iser_buffer_get(session->buffers, size);
    if (!transfer->buffer)
        return false;
    session->buffered += octets;
    service->buffered += octets;
    transfer->data = transfer->buffer->octets;
    transfer->lmr = transfer->buffer->lmr;
    return true;
}

/* Returns false if it gets no buffer. */
static bool command_get_data(struct iser_task *task)
{
    struct iser_scsi_command *command = &task->command;
    struct iser_transfer *transfer = &task->transfer;
    uint32_t size =
        command->out_length > command->in_length ? command->out_length : command->in_length;

    transfer->out_length = command->out_length;
    if (size > 0 && !command_use_unit(task) && !command_get_buffer(task, size))
        return false;
    command->data = transfer->data;
    return true;
}

/*
 * Checks the data that the command carries or announces without R2T. Returns false if it may not.
 */
static bool command_may_bring(const struct iser_task *task, const struct iser_pdu *pdu)
{
    const struct iser_params *params = &task->session->params;
    bool final = (pdu->bhs[1] & ISER_FINAL) != 0;

    if (pdu->length > 0 && (!params->immediate_data || pdu->length > params->first_burst ||
                            pdu->length > task->command.expected_out))
        return false;
    return final || (pdu->bhs[1] & ISER_WRITES && !params->initial_r2t);
}

static void command_start(struct iser_task *task, const struct iser_pdu *pdu)
{
    if (command_is_bidi(pdu->bhs)) { /* no command of a disk here is */
        command_refuse(task, WRONG_FIELD);
        return;
    }
    if (!command_may_bring(task, pdu)) {
        command_refuse(task, UNEXPECTED_DATA);
        return;
    }
    if (!iser_scsi_begin(&task->command)) {
        command_respond(task);
        return;
    }
    if (!command_get_data(task)) {
        iser_scsi_busy(&task->command);
        command_respond(task);
        return;
    }
    command_take_data(task, pdu->data, pdu->length);
    task->unsolicited = !(pdu->bhs[1] & ISER_FINAL);
    if (!task->unsolicited)
        command_go_on(task);
}

void iser_command(struct iser_session *session, const struct iser_pdu *pdu)
{
    uint32_t itt = iser_get32(pdu->bhs + ISER_AT_ITT);
    struct iser_task *task = iser_task_find(session, itt);

    /* A task whose response has been sent may not be known to be over. */
    if (itt == ISER_NONE || (task && task->state != ISER_TASK_RESPONSE)) {
        iser_session_reject(session, pdu, itt == ISER_NONE ? 9 : 7);
        return;
    }
    task = iser_task_new(session, itt);
    if (!task) {
        iser_session_reject(session, pdu, 6); /* too many immediate commands */
        return;
    }
    command_fill(task, pdu);
    command_start(task, pdu);
}
