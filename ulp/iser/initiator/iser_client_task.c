/* SPDX-License-Identifier: BSD-2-Clause */
/* Outstanding commands: sending them, and handling the target's PDUs. */
#include "initiator/iser_client.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 20) /* octets of a target's text */
#define PING_ITT 0xfffffffeu       /* for Text and Logout; not the index of a task */

/* ---- Out ---------------------------------------------------------------------- */

static void begin(struct iser_client *client, uint8_t *bhs, enum iser_opcode opcode, uint8_t flags,
                  uint32_t itt)
{
    iser_pdu_begin(bhs, opcode, flags, itt);
    iser_put32(bhs + ISER_AT_CMD_SN, client->cmd_sn);
    iser_put32(bhs + ISER_AT_EXP_STAT_SN, client->exp_stat_sn);
}

bool iser_client_has_room(const struct iser_client *client)
{
    return client->under_way < client->options.depth &&
           !iser_sn_before(client->max_cmd_sn, client->cmd_sn);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Sends Data-Out PDUs from "from" to "end" for the transfer tag "ttt". */
static bool send_data(struct iser_client *client, const struct iser_client_task *task, uint32_t ttt,
                      uint32_t from, uint32_t end)
{
    uint8_t bhs[ISER_BHS];

    for (uint32_t number = 0; from < end; number++) {
        uint32_t part = least(end - from, client->terms.send_max);

        iser_pdu_begin(bhs, ISER_DATA_OUT, from + part == end ? ISER_FINAL : 0, task->itt);
        iser_put64(bhs + ISER_AT_LUN, task->lun);
        iser_put24(bhs + ISER_AT_LENGTH, part);
        iser_put32(bhs + ISER_AT_TTT, ttt);
        iser_put32(bhs + ISER_AT_EXP_STAT_SN, client->exp_stat_sn);
        iser_put32(bhs + ISER_AT_DATA_SN, number);
        iser_put32(bhs + ISER_AT_OFFSET, from);
        if (!client->link->send(client, bhs, task->out + from, part, NULL, 0))
            return false;
        from += part;
    }
    return true;
}

static void take_place(struct iser_client *client, struct iser_client_task *task)
{
    do
        task->itt = client->next_itt++ % ISER_CLIENT_TASKS;
    while (client->tasks[task->itt]);
    client->tasks[task->itt] = task;
    client->under_way++;
    task->under_way = true;
}

bool iser_client_submit(struct iser_client *client, struct iser_client_task *task)
{
    const struct iser_client_terms *terms = &client->terms;
    uint32_t first = least(task->out_length, terms->first_burst), immediate = 0;
    uint8_t bhs[ISER_BHS], flags = 0;

    take_place(client, task);
    task->received = 0;
    task->sense_length = 0;
    if (terms->immediate)
        immediate = least(first, terms->send_max);
    if (terms->initial_r2t)
        first = immediate;
    task->sent = first;
    flags |= task->in_length > 0 ? ISER_READS : 0;
    flags |= task->out_length > 0 ? ISER_WRITES : 0;
    flags |= first == immediate ? ISER_FINAL : 0;
    begin(client, bhs, ISER_SCSI_COMMAND, flags, task->itt);
    client->cmd_sn++;
    iser_put64(bhs + ISER_AT_LUN, task->lun);
    iser_put24(bhs + ISER_AT_LENGTH, immediate);
    iser_put32(bhs + ISER_AT_EXPECTED, task->in_length > 0 ? task->in_length : task->out_length);
    memcpy(bhs + ISER_AT_CDB, task->cdb, sizeof(task->cdb));
    return client->link->send(client, bhs, task->out, immediate, task, first) &&
           send_data(client, task, ISER_NONE, immediate, first);
}

/* ---- In ----------------------------------------------- */

static struct iser_client_task *finish(struct iser_client *client, struct iser_client_task *task,
                                       const struct iser_pdu *pdu)
{
    uint32_t residual = pdu->bhs[1] & ISER_UNDERFLOW ? iser_get32(pdu->bhs + ISER_AT_RESIDUAL) : 0;

    task->status = pdu->bhs[3];
    if (client->options.interface) /* RDMA Writes raise no event here */
        task->received = task->in_length - least(residual, task->in_length);
    if (iser_opcode_of(pdu->bhs) == ISER_SCSI_RESPONSE && pdu->length > 2) {
        task->sense_length = least(iser_get16(pdu->data), (uint32_t)pdu->length - 2);
        task->sense_length = least(task->sense_length, sizeof(task->sense));
        memcpy(task->sense, pdu->data + 2, task->sense_length);
    }
    client->tasks[task->itt] = NULL;
    client->under_way--;
    task->under_way = false;
    iser_client_answered(client);
    return task;
}

static bool answer_r2t(struct iser_client *client, struct iser_client_task *task,
                       const uint8_t *bhs)
{
    uint32_t offset = iser_get32(bhs + ISER_AT_OFFSET);
    uint32_t length = iser_get32(bhs + ISER_AT_DESIRED);

    if (offset > task->out_length || length > task->out_length - offset || length == 0)
        return iser_client_fail(client, "R2T of octets that the command has not");
    if (offset != task->sent) /* DataSequenceInOrder=Yes */
        return iser_client_fail(client, "R2T out of order");
    if (length > client->terms.max_burst)
        return iser_client_fail(client, "R2T of more octets than MaxBurstLength");
    task->sent += length;
    return send_data(client, task, iser_get32(bhs + ISER_AT_TTT), offset, offset + length);
}

static bool answer_ping(struct iser_client *client, const uint8_t *ping)
{
    uint8_t bhs[ISER_BHS];

    if (iser_get32(ping + ISER_AT_TTT) == ISER_NONE)
        return true;
    begin(client, bhs, ISER_NOP_OUT, ISER_FINAL, ISER_NONE);
    bhs[0] |= ISER_IMMEDIATE;
    memcpy(bhs + ISER_AT_LUN, ping + ISER_AT_LUN, 8);
    memcpy(bhs + ISER_AT_TTT, ping + ISER_AT_TTT, 4);
    return client->link->send(client, bhs, NULL, 0, NULL, 0);
}

/* Handles a PDU. *over: the command that it ends, if any. */
static bool take(struct iser_client *client, const struct iser_pdu *pdu,
                 struct iser_client_task **over)
{
    struct iser_client_task *task;

    if (!iser_client_note(client, pdu))
        return false;
    switch (iser_opcode_of(pdu->bhs)) {
    case ISER_NOP_IN:
        return iser_client_is_patient(client) && answer_ping(client, pdu->bhs);
    case ISER_ASYNC:
        return iser_client_fail(client, "the target wants to end (event %u)", pdu->bhs[36]);
    case ISER_REJECT:
        return iser_client_fail(client, "the target rejects a PDU (reason %02x)", pdu->bhs[2]);
    case ISER_SCSI_RESPONSE:
    case ISER_DATA_IN:
    case ISER_R2T:
        break;
    default:
        return iser_client_fail(client, "PDU %02x out of turn", pdu->bhs[0]);
    }
    task = iser_client_find(client, pdu->bhs);
    if (!task)
        return false;
    if (iser_opcode_of(pdu->bhs) == ISER_R2T)
        return answer_r2t(client, task, pdu->bhs);
    if (iser_opcode_of(pdu->bhs) == ISER_SCSI_RESPONSE && pdu->bhs[2] != 0)
        return iser_client_fail(client, "the target has failed (response %02x)", pdu->bhs[2]);
    if (iser_opcode_of(pdu->bhs) == ISER_DATA_IN)
        task->received += (uint32_t)pdu->length;
    if (iser_opcode_of(pdu->bhs) == ISER_SCSI_RESPONSE || (pdu->bhs[1] & ISER_STATUS))
        *over = finish(client, task, pdu);
    return true;
}

bool iser_client_wait(struct iser_client *client, struct iser_client_task **task)
{
    struct iser_pdu pdu;

    *task = NULL;
    while (!*task)
        if (!client->link->receive(client, &pdu) || !take(client, &pdu, task))
            return false;
    return true;
}

bool iser_client_await_room(struct iser_client *client)
{
    struct iser_client_task *over;
    struct iser_pdu pdu;

    while (!iser_client_has_room(client))
        if (!client->link->receive(client, &pdu) || !take(client, &pdu, &over))
            return false;
    return true;
}

bool iser_client_run(struct iser_client *client, struct iser_client_task *task)
{
    struct iser_client_task *over = NULL;

    if (!iser_client_await_room(client) || !iser_client_submit(client, task))
        return false;
    while (over != task)
        if (!iser_client_wait(client, &over))
            return false;
    return task->status == 0;
}

/* ---- Text, logout ----------------------------------------------- */

/* Waits for the next PDU of that kind, and handles others that arrive before it. */
static bool await(struct iser_client *client, enum iser_opcode opcode, struct iser_pdu *pdu)
{
    struct iser_client_task *over;

    for (;;) {
        if (!client->link->receive(client, pdu))
            return false;
        if (iser_opcode_of(pdu->bhs) == opcode)
            break;
        if (!take(client, pdu, &over))
            return false;
    }
    if (iser_get32(pdu->bhs + ISER_AT_ITT) != PING_ITT)
        return iser_client_fail(client, "PDU %02x has the tag of another request", pdu->bhs[0]);
    return iser_client_note(client, pdu);
}

/* Appends a part of the target's text. */
static bool gather(struct iser_client *client, const struct iser_pdu *pdu, char **answer,
                   size_t *length)
{
    char *longer;

    if (pdu->length == 0 && !(pdu->bhs[1] & ISER_FINAL))
        return iser_client_fail(client, "the target announces more text, but sends none");
    longer = *length + pdu->length <= TEXT_MAX ? realloc(*answer, *length + pdu->length + 1) : NULL;
    if (!longer)
        return iser_client_fail(client, "the target's text is too long");
    if (pdu->length > 0)
        memcpy(longer + *length, pdu->data, pdu->length);
    *answer = longer;
    *length += pdu->length;
    longer[*length] = '\0';
    return true;
}

bool iser_client_text(struct iser_client *client, const struct iser_text *text, char **answer,
                      size_t *answer_length)
{
    uint32_t ttt = ISER_NONE, length = (uint32_t)text->length;
    struct iser_pdu pdu;
    uint8_t bhs[ISER_BHS];

    *answer = NULL;
    *answer_length = 0;
    do {
        begin(client, bhs, ISER_TEXT, ISER_FINAL, PING_ITT);
        client->cmd_sn++;
        iser_put32(bhs + ISER_AT_TTT, ttt);
        iser_put24(bhs + ISER_AT_LENGTH, length);
        if (!client->link->send(client, bhs, text->octets, length, NULL, 0) ||
            !await(client, ISER_TEXT_RESPONSE, &pdu) ||
            !gather(client, &pdu, answer, answer_length))
            return false;
        ttt = iser_get32(pdu.bhs + ISER_AT_TTT);
        length = 0;
    } while (!(pdu.bhs[1] & ISER_FINAL) && ttt != ISER_NONE);
    iser_client_answered(client);
    return true;
}

bool iser_client_logout(struct iser_client *client)
{
    struct iser_pdu pdu;
    uint8_t bhs[ISER_BHS];

    begin(client, bhs, ISER_LOGOUT, ISER_FINAL, PING_ITT);
    bhs[0] |= ISER_IMMEDIATE;
    return client->link->send(client, bhs, NULL, 0, NULL, 0) &&
           await(client, ISER_LOGOUT_RESPONSE, &pdu);
}
