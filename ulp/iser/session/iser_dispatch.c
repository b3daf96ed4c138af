/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of a link: passes PDUs to the files that handle them. */
#include "session/iser_session.h"

enum reject_reason {
    REJECT_DATA_DIGEST = 2,
    REJECT_PROTOCOL = 4,
    REJECT_UNSUPPORTED = 5,
    REJECT_INVALID = 9
};

/* Takes the CmdSN of a PDU that has one. Returns false if the PDU must be ignored. */
static bool session_take_number(struct iser_session *session, const uint8_t *bhs)
{
    uint32_t sn = iser_get32(bhs + ISER_AT_CMD_SN);

    if (bhs[0] & ISER_IMMEDIATE)
        return true;
    if (iser_sn_before(sn, session->numbers.exp_cmd_sn) ||
        iser_sn_before(session->numbers.max_cmd_sn, sn))
        return false; /* outside the window: ignored (RFC 7143 4.2.2.1) */
    if (sn != session->numbers.exp_cmd_sn) {
        /* TCP delivers in order, so the missing PDU will not come. */
        iser_session_end(session, "a CmdSN is missing");
        return false;
    }
    session->numbers.exp_cmd_sn++;
    iser_task_window(session);
    return true;
}

/*
 * The CmdSN of a rejected request counts as received (RFC 7143 7.4), or else the next one would be
 * out of order.
 */
static void session_refuse(struct iser_session *session, const struct iser_pdu *pdu,
                           enum reject_reason reason)
{
    uint8_t opcode = iser_opcode_of(pdu->bhs);

    if (opcode != ISER_DATA_OUT && opcode != ISER_SNACK && !(pdu->bhs[0] & ISER_IMMEDIATE) &&
        iser_get32(pdu->bhs + ISER_AT_CMD_SN) == session->numbers.exp_cmd_sn)
        (void)session_take_number(session, pdu->bhs);
    iser_session_reject(session, pdu, (uint8_t)reason);
}

static void session_dispatch(struct iser_session *session, const struct iser_pdu *pdu)
{
    switch (iser_opcode_of(pdu->bhs)) {
    case ISER_SCSI_COMMAND:
        iser_command(session, pdu);
        break;
    case ISER_NOP_OUT:
        iser_nop_out(session, pdu);
        break;
    case ISER_TMF:
        iser_tmf(session, pdu);
        break;
    case ISER_TEXT:
        iser_text_request(session, pdu);
        break;
    case ISER_LOGOUT:
        iser_logout(session, pdu);
        break;
    default: /* a login */
        iser_session_reject(session, pdu, REJECT_PROTOCOL);
        break;
    }
}

static void session_full_feature(struct iser_session *session, const struct iser_pdu *pdu)
{
    uint8_t opcode = iser_opcode_of(pdu->bhs);

    if (iser_pdu_fault(pdu->bhs))
        session_refuse(session, pdu,
                       opcode > ISER_LOGOUT && opcode != ISER_SNACK ? REJECT_UNSUPPORTED
                                                                    : REJECT_INVALID);
    else if (opcode == ISER_DATA_OUT)
        iser_command_data(session, pdu);
    else if (opcode == ISER_SNACK)
        session_refuse(session, pdu, REJECT_PROTOCOL); /* not in error recovery level 0 */
    else if (session->discovery && opcode != ISER_TEXT && opcode != ISER_LOGOUT &&
             opcode != ISER_NOP_OUT)
        session_refuse(session, pdu, REJECT_PROTOCOL);
    else if (session_take_number(session, pdu->bhs))
        session_dispatch(session, pdu);
}

static void session_pdu(void *user, const struct iser_pdu *pdu)
{
    struct iser_session *session = user;

    iser_session_enter(session);
    session->heard = session->phase == ISER_FULL_FEATURE;
    if (session->phase == ISER_LOGGING_IN)
        iser_login_request(session, pdu);
    else if (session->phase == ISER_FULL_FEATURE)
        session_full_feature(session, pdu);
    iser_session_leave(session);
}

/* In error recovery level 0 the session ends, after the Reject that RFC 7143 7.8 demands. */
static void session_damaged(void *user, const struct iser_pdu *pdu)
{
    struct iser_session *session = user;

    iser_session_enter(session);
    if (session->phase == ISER_FULL_FEATURE) {
        iser_session_reject(session, pdu, REJECT_DATA_DIGEST);
        iser_session_leave_in_order(session);
    }
    iser_session_leave(session);
}

static uint8_t *session_place(void *user, const uint8_t *bhs, uint32_t length)
{
    struct iser_session *session = user;

    return session->phase == ISER_FULL_FEATURE && iser_opcode_of(bhs) == ISER_DATA_OUT
               ? iser_command_place(session, bhs, length)
               : NULL;
}

/* ---------------------------------------------------------------- the link */

static void session_solicited(void *user, struct iser_transfer *transfer)
{
    struct iser_session *session = user;

    iser_session_enter(session);
    iser_command_solicited((struct iser_task *)(void *)transfer);
    iser_session_leave(session);
}

static void session_responded(void *user, struct iser_transfer *transfer)
{
    struct iser_session *session = user;

    iser_session_enter(session);
    iser_command_responded((struct iser_task *)(void *)transfer);
    iser_session_leave(session);
}

static void session_drained(void *user)
{
    iser_session_end(user, "the session is over");
}

static void session_lost(void *user, const char *why)
{
    iser_session_end(user, why);
}

const struct iser_link_user iser_session_link_user = {
    .place = session_place,
    .pdu = session_pdu,
    .damaged = session_damaged,
    .solicited = session_solicited,
    .responded = session_responded,
    .drained = session_drained,
    .lost = session_lost,
};
