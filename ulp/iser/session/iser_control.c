/* SPDX-License-Identifier: BSD-2-Clause */
/* NOP, Text and Logout. */
#include "session/iser_session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---------------------------------------------------------------- NOP */

void iser_nop_out(struct iser_session *session, const struct iser_pdu *pdu)
{
    uint32_t itt = iser_get32(pdu->bhs + ISER_AT_ITT);
    size_t length = pdu->length;
    uint8_t bhs[ISER_BHS];

    if (itt == ISER_NONE)
        return; /* the answer to a ping of this side */
    if (length > session->link->limits.send_max)
        length = session->link->limits.send_max;
    iser_pdu_begin(bhs, ISER_NOP_IN, ISER_FINAL, itt);
    memcpy(bhs + ISER_AT_LUN, pdu->bhs + ISER_AT_LUN, 8);
    iser_put32(bhs + ISER_AT_TTT, ISER_NONE);
    iser_session_send(session, bhs, pdu->data, length);
}

/* ---------------------------------------------------------------- Text */

#define TEXT_TTT 1u /* of the one text that may go on */

/* Moves what has been put to the answer. Returns false if something did not fit. */
static bool text_flush(struct iser_dialogue *dialogue)
{
    struct iser_text *out = &dialogue->out;
    char *longer = realloc(dialogue->answer, dialogue->length + out->length + 1);

    if (!longer || out->overflow) {
        dialogue->answer = longer ? longer : dialogue->answer;
        out->overflow = true;
        return false;
    }
    memcpy(longer + dialogue->length, out->octets, out->length);
    dialogue->answer = longer;
    dialogue->length += out->length;
    out->length = 0;
    return true;
}

/* A target has the room of a whole text, since there may be many targets. */
static void text_put_target(struct iser_session *session, const struct iser_target *target,
                            struct iser_dialogue *dialogue)
{
    /* An initiator that may not log in does not learn that it exists. */
    if (!iser_login_is_allowed(session, target) || !text_flush(dialogue))
        return;
    iser_text_put(&dialogue->out, "TargetName", target->config.name);
    session->service->addresses(session, &dialogue->out);
}

static void text_send_targets(struct iser_session *session, const char *value,
                              struct iser_dialogue *dialogue)
{
    struct iser_service *service = session->service;
    bool all = strcmp(value, "All") == 0;

    if (all && !session->discovery) {
        iser_text_put(&dialogue->out, "SendTargets", "Reject");
        return;
    }
    for (size_t i = 0; i < service->target_count; i++) {
        struct iser_target *target = &service->targets[i];

        if (all || (value[0] == '\0' && target == session->target) ||
            strcasecmp(value, target->config.name) == 0)
            text_put_target(session, target, dialogue);
    }
}

static bool text_answer(struct iser_session *session, struct iser_dialogue *dialogue)
{
    const char *key, *value, *text = dialogue->in;
    size_t at = 0, length = dialogue->in_length, key_length;

    if (!iser_text_is_legal(text, length))
        return false;
    while (iser_text_next(text, length, &at, &key, &key_length, &value)) {
        char name[ISER_KEY_MAX + 1] = {0};

        memcpy(name, key, key_length);
        if (strcmp(name, "SendTargets") == 0)
            text_send_targets(session, value, dialogue);
        else
            iser_keys_declare(&session->params, name, value, &dialogue->out);
    }
    if (!session->link->ops->rdma) /* the initiator may have declared another length */
        session->link->limits.send_max = session->params.receive_max;
    return text_flush(dialogue);
}

/*
 * Sends as much as the initiator accepts; the rest follows when it asks. An answer to a request
 * without the final bit has none either (RFC 7143 11.11.1): another text may follow.
 */
static void text_tell(struct iser_session *session, uint32_t itt, bool final)
{
    struct iser_dialogue *dialogue = session->dialogue;
    size_t left = dialogue->length - dialogue->told;
    size_t part = left < session->link->limits.send_max ? left : session->link->limits.send_max;
    bool all = part == left;
    uint8_t bhs[ISER_BHS];

    iser_pdu_begin(bhs, ISER_TEXT_RESPONSE, !all ? ISER_CONTINUE : final ? ISER_FINAL : 0, itt);
    iser_put32(bhs + ISER_AT_TTT, all && final ? ISER_NONE : TEXT_TTT);
    iser_session_send(session, bhs, dialogue->answer + dialogue->told, part);
    dialogue->told += part;
    if (all && final)
        iser_session_end_dialogue(session);
    else if (all)
        dialogue->told = dialogue->length = dialogue->in_length = 0;
}

static void text_ask_for_more(struct iser_session *session, uint32_t itt)
{
    uint8_t bhs[ISER_BHS];

    iser_pdu_begin(bhs, ISER_TEXT_RESPONSE, 0, itt);
    iser_put32(bhs + ISER_AT_TTT, TEXT_TTT);
    iser_session_send(session, bhs, NULL, 0);
}

void iser_text_request(struct iser_session *session, const struct iser_pdu *pdu)
{
    uint32_t itt = iser_get32(pdu->bhs + ISER_AT_ITT);
    uint32_t ttt = iser_get32(pdu->bhs + ISER_AT_TTT);
    bool begins = ttt == ISER_NONE, final = (pdu->bhs[1] & ISER_FINAL) != 0;
    struct iser_dialogue *dialogue = session->dialogue;

    if (begins) { /* the earlier text is given up */
        iser_session_end_dialogue(session);
        dialogue = session->dialogue = calloc(1, sizeof(*dialogue));
    }
    if (!dialogue || (!begins && ttt != TEXT_TTT) ||
        pdu->length > sizeof(dialogue->in) - dialogue->in_length) {
        iser_session_reject(session, pdu, dialogue ? 9 : 4);
        return;
    }
    if (dialogue->told > 0) {
        text_tell(session, itt, final);
        return;
    }
    if (pdu->length > 0)
        memcpy(dialogue->in + dialogue->in_length, pdu->data, pdu->length);
    dialogue->in_length += pdu->length;
    if (pdu->bhs[1] & ISER_CONTINUE)
        text_ask_for_more(session, itt);
    else if (text_answer(session, dialogue))
        text_tell(session, itt, final);
    else
        iser_session_reject(session, pdu, 9);
}

/* ---------------------------------------------------------------- Logout */

enum logout_reason {
    LOGOUT_SESSION,
    LOGOUT_CONNECTION,
    LOGOUT_RECOVERY
};

static uint8_t logout_answer(const struct iser_session *session, const uint8_t *bhs)
{
    switch (bhs[1] & 0x7f) {
    case LOGOUT_SESSION:
        return 0;
    case LOGOUT_CONNECTION:
        return iser_get16(bhs + ISER_AT_CID) == session->cid ? 0 : 1;
    case LOGOUT_RECOVERY:
        return 2;
    default:
        return 3;
    }
}

void iser_logout(struct iser_session *session, const struct iser_pdu *pdu)
{
    uint8_t bhs[ISER_BHS];

    iser_pdu_begin(bhs, ISER_LOGOUT_RESPONSE, ISER_FINAL, iser_get32(pdu->bhs + ISER_AT_ITT));
    bhs[2] = logout_answer(session, pdu->bhs);
    iser_put16(bhs + 40, (uint16_t)session->params.time2wait);
    iser_put16(bhs + 42, (uint16_t)session->params.time2retain);
    iser_session_send(session, bhs, NULL, 0);
    if (bhs[2] == 0)
        iser_session_leave_in_order(session);
}
