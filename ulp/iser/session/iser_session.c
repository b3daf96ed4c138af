/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a session, and the PDUs that it sends on its own. */
#include "session/iser_session.h"

#include <stdlib.h>
#include <string.h>

#define ASYNC_LOGOUT 1u

/* ---------------------------------------------------------------- memory */

static void session_unlink(struct iser_session *session)
{
    *session->previous = session->next;
    if (session->next)
        session->next->previous = session->previous;
}

void iser_session_end_dialogue(struct iser_session *session)
{
    if (session->dialogue)
        free(session->dialogue->answer);
    free(session->dialogue);
    session->dialogue = NULL;
}

static void session_free(struct iser_session *session)
{
    if (session->nexus)
        iser_scsi_nexus_free(session->nexus);
    session_unlink(session);
    iser_tasks_fini(session);
    iser_session_end_dialogue(session);
    free(session->login);
    free(session->login_end);
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

/*
 * Returns true if an aborted task has waited for the initiator's data since the last look: answers
 * to task management, of other initiators, too, wait for it.
 */
static bool session_stalls(const struct iser_session *session)
{
    bool stalls = false;

    for (unsigned i = 0; i < ISER_TASK_BUCKETS; i++)
        for (struct iser_task *task = session->tasks[i]; task; task = task->next)
            if (task->aborted && (task->reading || task->placing)) {
                stalls |= task->overdue;
                task->overdue = true;
            }
    return stalls;
}

static void session_idle(evutil_socket_t fd, short what, void *argument)
{
    struct iser_session *session = argument;
    bool heard = session->heard;

    (void)fd;
    (void)what;
    if (session->phase == ISER_LOGGING_IN)
        return; /* the portal has its own time limit */
    session->heard = false;
    iser_session_enter(session);
    if (session_stalls(session))
        iser_session_end(session, "the data of an aborted command does not come");
    else if (heard)
        session->pinged = false;
    else if (session->pinged || session->phase == ISER_LEAVING)
        iser_session_end(session, "the initiator is silent");
    else
        session_ping(session);
    /* It lives until the last leave. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    iser_session_leave(session);
}

/* ---------------------------------------------------------------- the beginning */

static void session_bind(struct iser_session *session, struct iser_link *link)
{
    session->link = link;
    session->buffers =
        link->ops->rdma ? &session->service->rdma_buffers : &session->service->buffers;
    link->user = session;
    link->numbers = &session->numbers;
}

void iser_session_take_link(struct iser_session *session, struct iser_link *link)
{
    struct iser_link *before = session->link;

    link->user_ops = before->user_ops;
    link->limits = before->limits;
    link->local = before->local;
    link->remote = before->remote;
    session_bind(session, link);
    iser_link_close(before);
}

struct iser_session *iser_session_new(struct iser_service *service, struct iser_link *link,
                                      uint16_t tag)
{
    struct iser_session *session = calloc(1, sizeof(*session));

    if (!session) {
        iser_link_close(link);
        return NULL;
    }
    session->service = service;
    session->tag = tag;
    iser_params_init(&session->params);
    session->next = service->sessions;
    session->previous = &service->sessions;
    if (session->next)
        session->next->previous = &session->next;
    service->sessions = session;
    session_bind(session, link);
    /* Neither call fails: the arguments are valid, and a timer needs little memory. */
    (void)event_assign(&session->idle, service->base, -1, EV_PERSIST, session_idle, session);
    (void)event_add(&session->idle, &service->silence);
    return session;
}
