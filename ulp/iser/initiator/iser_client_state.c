/* SPDX-License-Identifier: BSD-2-Clause */
/* State that all parts of the initiator share: numbers, tasks, the reason of a failure. */
#include "initiator/iser_client.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

void iser_client_clean(char *text)
{
    for (; *text; text++)
        if ((*text >= 0 && *text < ' ') || *text == 0x7f)
            *text = '?';
}

bool iser_client_fail(struct iser_client *client, const char *format, ...)
{
    va_list arguments;

    if (client->error[0])
        return false;
    va_start(arguments, format);
    (void)vsnprintf(client->error, sizeof(client->error), format, arguments);
    va_end(arguments);
    iser_client_clean(client->error);
    return false;
}

bool iser_client_silent(struct iser_client *client)
{
    return iser_client_fail(client, "the target has been silent for %u seconds",
                            client->options.timeout);
}

bool iser_client_is_patient(struct iser_client *client)
{
    struct timespec now;
    uint64_t now_ns;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    now_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
    if (client->waits_ns == 0)
        client->waits_ns = now_ns;
    return now_ns - client->waits_ns < client->options.timeout * NS_PER_S ||
           iser_client_fail(client, "the target has answered nothing for %u seconds",
                            client->options.timeout);
}

void iser_client_answered(struct iser_client *client)
{
    client->waits_ns = 0;
}

bool iser_client_note(struct iser_client *client, const struct iser_pdu *pdu)
{
    uint8_t opcode = iser_opcode_of(pdu->bhs);
    uint32_t max = iser_get32(pdu->bhs + ISER_AT_MAX_CMD_SN);
    uint32_t stat_sn = iser_get32(pdu->bhs + ISER_AT_STAT_SN);
    bool counted = opcode != ISER_R2T && (opcode != ISER_DATA_IN || (pdu->bhs[1] & ISER_STATUS)) &&
                   !(opcode == ISER_NOP_IN && iser_get32(pdu->bhs + ISER_AT_ITT) == ISER_NONE);

    if (counted && client->has_stat_sn && stat_sn != client->exp_stat_sn)
        return iser_client_fail(client, "StatSN %08x of PDU %02x instead of %08x", stat_sn,
                                pdu->bhs[0], client->exp_stat_sn);
    if (counted) {
        client->exp_stat_sn = stat_sn + 1;
        client->has_stat_sn = true;
    }
    if (iser_sn_before(client->max_cmd_sn, max))
        client->max_cmd_sn = max;
    return true;
}

struct iser_client_task *iser_client_find(struct iser_client *client, const uint8_t *bhs)
{
    uint32_t itt = iser_get32(bhs + ISER_AT_ITT);
    struct iser_client_task *task = itt < ISER_CLIENT_TASKS ? client->tasks[itt] : NULL;

    if (!task)
        (void)iser_client_fail(client, "PDU %02x of the task %08x, which is not under way", bhs[0],
                               itt);
    return task;
}

uint8_t *iser_client_place(struct iser_client *client, const uint8_t *bhs, uint32_t length)
{
    struct iser_client_task *task = iser_client_find(client, bhs);
    uint32_t offset = iser_get32(bhs + ISER_AT_OFFSET);

    if (!task)
        return NULL;
    if (offset != task->received) { /* DataPDUInOrder=Yes */
        (void)iser_client_fail(client, "Data-In out of order");
        return NULL;
    }
    if (offset > task->in_length || length > task->in_length - offset) {
        (void)iser_client_fail(client, "Data-In beyond the end of what was asked for");
        return NULL;
    }
    return task->in + offset;
}
