/* SPDX-License-Identifier: BSD-2-Clause */
/* A session's life, and what its link tells. */
#include "session/iser_session.h"

#include <stdlib.h>
#include <string.h>

#define SESSION_IDLE_S 30 /* silence after which the initiator is pinged, and then given up */

#define ASYNC_LOGOUT 1u

enum reject_reason {
    REJECT_PROTOCOL = 4,
    REJECT_UNSUPPORTED = 5,
    REJECT_INVALID = 9
};

/* ---------------------------------------------------------------- memory */

static void session_unlink(struct iser_session *session)
{
    *session->previous = session->next;
    if (session->next)
        session->next->previous = session->previous;
}

static void session_free(struct iser_session *session)
{
    if (session->nexus)
        iser_scsi_nexus_free(session->nexus);
    session_unlink(session);
    iser_tasks_fini(session);
    free(session->dialogue);
    free(session->login);
    free(session);
}

void iser_session_enter(struct iser_session *session)
{
    session->depth++;
}

void iser_session_leave(struct iser_session *session)
{
    if (--session->depth == 0 && session->ended && session->task_count == 0)
        session_free(session);
}

/* ---------------------------------------------------------------- the end */

void iser_session_end(struct iser_session *session, const char *why)
{
    (void)why;
    if (session->ended)
        return;
    iser_session_enter(session);
    session->ended = true;
    (void)event_del(&session->idle);
    iser_link_close(session->link);
    session->service->settled(session);
    iser_task_abort_all(session);
    iser_tmf_progress(session->service);
    iser_session_leave(session);
}

void iser_session_leave_in_order(struct iser_session *session)
{
    if (session->ended || session->phase == ISER_LEAVING)
        return;
    session->phase = ISER_LEAVING;
    session->link->ops->drain(session->link);
}

/* ---------------------------------------------------------------- sending */

void iser_session_send(struct iser_session *session, const uint8_t *bhs, const void *data,
                       size_t length)
{
    if (!session->ended)
        session->link->ops->send(session->link, bhs, data, (uint32_t)length);
}

void iser_session_reject(struct iser_session *session, const struct iser_pdu *pdu, uint8_t reason)
{
    uint8_t bhs[ISER_BHS];

    iser_pdu_begin(bhs, ISER_REJECT, ISER_FINAL, ISER_NONE);
    bhs[2] = reason;
    iser_session_send(session, bhs, pdu->bhs, ISER_BHS);
}

void iser_session_ask_to_leave(struct iser_session *session, uint16_t seconds)
{
    uint8_t bhs[ISER_BHS];

    if (session->ended || session->phase != ISER_FULL_FEATURE)
        return;
    iser_pdu_begin(bhs, ISER_ASYNC, ISER_FINAL, ISER_NONE);
    bhs[36] = ASYNC_LOGOUT;
    iser_put16(bhs + 42, seconds);
    iser_session_send(session, bhs, NULL, 0);
}

/* ---------------------------------------------------------------- silence */

static void session_ping(struct iser_session *session)
{
    uint8_t bhs[ISER_BHS];

    iser_pdu_begin(bhs, ISER_NOP_IN, ISER_FINAL, ISER_NONE);
    if (++session->ping == ISER_NONE)
        session->ping = 0;
    iser_put32(bhs + ISER_AT_TTT, session->ping);
    session->pinged = true;
    iser_session_send(session, bhs, NULL, 0);
}

static void session_idle(evutil_socket_t fd, short what, void *argument)
{
    struct iser_session *session = argument;
    bool heard = session->heard;

    (void)fd;
    (void)what;
    if (session->phase == ISER_LOGGING_IN)
        return; /* the portal has a limit of its own */
    session->heard = false;
    iser_session_enter(session);
    if (heard)
        session->pinged = false;
    else if (session->pinged || session->phase == ISER_LEAVING)
        iser_session_end(session, "the initiator is silent");
    else
        session_ping(session);
    iser_session_leave(session);
}

/* ---------------------------------------------------------------- PDUs */

/* CmdSN of a PDU that has one. False: the PDU is none to act on. */
static bool session_take_number(struct iser_session *session, const uint8_t *bhs)
{
    uint32_t sn = iser_get32(bhs + ISER_AT_CMD_SN);

    if (bhs[0] & ISER_IMMEDIATE)
        return true;
    if (iser_sn_before(sn, session->numbers.exp_cmd_sn) ||
        iser_sn_before(session->numbers.max_cmd_sn, sn))
        return false; /* outside of the window: not answered (RFC 7143 4.2.2.1) */
    if (sn != session->numbers.exp_cmd_sn) {
        /* TCP is in order, so what is missing will not come. */
        iser_session_end(session, "a CmdSN is missing");
        return false;
    }
    session->numbers.exp_cmd_sn++;
    iser_task_window(session);
    return true;
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
        iser_session_reject(session, pdu,
                            opcode > ISER_LOGOUT && opcode != ISER_SNACK ? REJECT_UNSUPPORTED
                                                                         : REJECT_INVALID);
    else if (opcode == ISER_DATA_OUT)
        iser_command_data(session, pdu);
    else if (opcode == ISER_SNACK)
        iser_session_reject(session, pdu, REJECT_PROTOCOL); /* error recovery level 0 has none */
    else if (session->discovery && opcode != ISER_TEXT && opcode != ISER_LOGOUT &&
             opcode != ISER_NOP_OUT)
        iser_session_reject(session, pdu, REJECT_PROTOCOL);
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
    .solicited = session_solicited,
    .responded = session_responded,
    .drained = session_drained,
    .lost = session_lost,
};

/* ---------------------------------------------------------------- the beginning */

struct iser_session *iser_session_new(struct iser_service *service, struct iser_link *link,
                                      uint16_t tag)
{
    static const struct timeval interval = {.tv_sec = SESSION_IDLE_S};
    struct iser_session *session = calloc(1, sizeof(*session));

    if (!session) {
        iser_link_close(link);
        return NULL;
    }
    session->service = service;
    session->link = link;
    session->tag = tag;
    iser_params_init(&session->params);
    session->next = service->sessions;
    session->previous = &service->sessions;
    if (session->next)
        session->next->previous = &session->next;
    service->sessions = session;
    link->user_ops = &iser_session_link_user;
    link->user = session;
    link->numbers = &session->numbers;
    session->buffers = link->ops->rdma ? &service->rdma_buffers : &service->buffers;
    /* Neither call fails: event_assign with good arguments, and a timer of little memory. */
    (void)event_assign(&session->idle, service->base, -1, EV_PERSIST, session_idle, session);
    (void)event_add(&session->idle, &interval);
    return session;
}
