/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Task management. A request is answered when none of the tasks that it has aborted is in use any
 * more, so that the initiator's memory is not accessed after the answer.
 */
#include "session/iser_session.h"

#include <string.h>

enum tmf_function {
    TMF_ABORT_TASK = 1,
    TMF_ABORT_TASK_SET,
    TMF_CLEAR_ACA,
    TMF_CLEAR_TASK_SET,
    TMF_LUN_RESET,
    TMF_WARM_RESET,
    TMF_COLD_RESET,
    TMF_REASSIGN
};

enum tmf_answer {
    TMF_DONE = 0,
    TMF_NO_TASK = 1,
    TMF_NO_LUN = 2,
    TMF_NOT_ALLOWED = 4,
    TMF_UNSUPPORTED = 5,
    TMF_REJECTED = 255
};

/* ---------------------------------------------------------------- what is aborted */

static bool tmf_is_for_all(uint8_t function)
{
    return function >= TMF_CLEAR_TASK_SET;
}

static bool tmf_matches(const struct iser_tmf *tmf, const struct iser_task *task)
{
    if ((int32_t)(task->number - tmf->until) > 0)
        return false;
    if (tmf->function == TMF_ABORT_TASK)
        return task->transfer.itt == tmf->itt;
    return tmf->function >= TMF_WARM_RESET || iser_scsi_lun_is(task->transfer.lun, tmf->lun);
}

static void tmf_abort_in(const struct iser_tmf *tmf, struct iser_session *session)
{
    for (unsigned i = 0; i < ISER_TASK_BUCKETS; i++) {
        struct iser_task *next;

        for (struct iser_task *task = session->tasks[i]; task; task = next) {
            next = task->next;
            if (tmf_matches(tmf, task))
                iser_task_abort(task);
        }
    }
}

static bool tmf_waits_in(const struct iser_tmf *tmf, const struct iser_session *session)
{
    for (unsigned i = 0; i < ISER_TASK_BUCKETS; i++)
        for (const struct iser_task *task = session->tasks[i]; task; task = task->next)
            if (task->aborted && tmf_matches(tmf, task))
                return true;
    return false;
}

/* Returns true for sessions of the same target, or only for the request's own. */
static bool tmf_reaches(const struct iser_tmf *tmf, const struct iser_session *from,
                        const struct iser_session *session)
{
    return session == from || (tmf_is_for_all(tmf->function) && session->target == from->target);
}

static void tmf_abort(const struct iser_tmf *tmf, struct iser_session *from)
{
    for (struct iser_session *session = from->service->sessions; session; session = session->next)
        if (tmf_reaches(tmf, from, session))
            tmf_abort_in(tmf, session);
}

static bool tmf_waits(const struct iser_tmf *tmf, const struct iser_session *from)
{
    for (const struct iser_session *session = from->service->sessions; session;
         session = session->next)
        if (tmf_reaches(tmf, from, session) && tmf_waits_in(tmf, session))
            return true;
    return false;
}

bool iser_tmf_is_busy(const struct iser_session *session, const uint8_t lun[8], uint32_t until)
{
    struct iser_tmf tmf = {.function = TMF_CLEAR_TASK_SET, .until = until};

    memcpy(tmf.lun, lun, sizeof(tmf.lun));
    return tmf_waits(&tmf, session);
}

/* ---------------------------------------------------------------- answers */

/* A cold reset is like a power-on: it ends all sessions of the target (RFC 7143 11.5.1). */
static void tmf_cut(struct iser_session *from)
{
    struct iser_session *session = from->service->sessions;

    iser_session_leave_in_order(from);
    while (session) {
        if (session == from || session->ended || session->target != from->target ||
            session->phase == ISER_LOGGING_IN) {
            session = session->next;
            continue;
        }
        iser_session_end(session, "a cold reset");
        session = from->service->sessions; /* more sessions may have ended */
    }
}

static void tmf_answer(struct iser_session *session, struct iser_tmf *tmf)
{
    tmf->waits = false;
    iser_session_send(session, tmf->response, NULL, 0);
    if (tmf->function == TMF_COLD_RESET)
        tmf_cut(session);
}

bool iser_tmf_resume_one(struct iser_service *service)
{
    for (struct iser_session *session = service->sessions; session; session = session->next) {
        for (unsigned i = 0; i < ISER_TMFS && !session->ended; i++) {
            if (!session->tmfs[i].waits || tmf_waits(&session->tmfs[i], session))
                continue;
            iser_session_enter(session);
            tmf_answer(session, &session->tmfs[i]);
            iser_session_leave(session);
            return true; /* sessions may have ended: the caller starts again */
        }
    }
    return false;
}

/* ---------------------------------------------------------------- a request */

static uint8_t tmf_abort_task(struct iser_session *session, const struct iser_tmf *tmf,
                              uint32_t ref_cmd_sn)
{
    const struct iser_task *task = iser_task_find(session, tmf->itt);

    if (task && task->state == ISER_TASK_RESPONSE)
        return TMF_NO_TASK; /* its status is being sent */
    if (task) {
        tmf_abort(tmf, session);
        return TMF_DONE;
    }
    /* A task that has not arrived will not arrive (RFC 7143 11.6.1). */
    return iser_sn_before(ref_cmd_sn, session->numbers.exp_cmd_sn) ||
                   iser_sn_before(session->numbers.max_cmd_sn, ref_cmd_sn)
               ? TMF_NO_TASK
               : TMF_DONE;
}

static uint8_t tmf_run(struct iser_session *session, const struct iser_tmf *tmf,
                       uint32_t ref_cmd_sn)
{
    struct iser_scsi_target *scsi = session->target->scsi;

    if (tmf->function >= TMF_ABORT_TASK && tmf->function <= TMF_LUN_RESET &&
        !iser_scsi_lun_exists(scsi, tmf->lun))
        return TMF_NO_LUN;
    switch (tmf->function) {
    case TMF_ABORT_TASK:
        return tmf_abort_task(session, tmf, ref_cmd_sn);
    case TMF_CLEAR_TASK_SET:
        iser_scsi_cleared(session->nexus, tmf->lun);
        break;
    case TMF_LUN_RESET:
        (void)iser_scsi_lun_reset(scsi, tmf->lun);
        break;
    case TMF_WARM_RESET:
    case TMF_COLD_RESET:
        iser_scsi_target_reset(scsi);
        break;
    case TMF_ABORT_TASK_SET:
        break;
    default:
        return TMF_UNSUPPORTED;
    }
    tmf_abort(tmf, session);
    return TMF_DONE;
}

static struct iser_tmf *tmf_free_place(struct iser_session *session)
{
    for (unsigned i = 0; i < ISER_TMFS; i++)
        if (!session->tmfs[i].waits)
            return &session->tmfs[i];
    return NULL;
}

static void tmf_begin(struct iser_tmf *tmf, const struct iser_session *session, const uint8_t *bhs)
{
    memset(tmf, 0, sizeof(*tmf));
    tmf->function = bhs[1] & 0x7f;
    memcpy(tmf->lun, bhs + ISER_AT_LUN, sizeof(tmf->lun));
    tmf->itt = iser_get32(bhs + ISER_AT_REFERENCED);
    tmf->until = session->service->last_task;
    iser_pdu_begin(tmf->response, ISER_TMF_RESPONSE, ISER_FINAL, iser_get32(bhs + ISER_AT_ITT));
}

void iser_tmf(struct iser_session *session, const struct iser_pdu *pdu)
{
    struct iser_tmf *tmf = tmf_free_place(session);

    if (!tmf) {
        iser_session_reject(session, pdu, 6);
        return;
    }
    tmf_begin(tmf, session, pdu->bhs);
    tmf->response[2] = tmf_run(session, tmf, iser_get32(pdu->bhs + ISER_AT_REF_CMD_SN));
    if (tmf->response[2] == TMF_DONE && tmf_waits(tmf, session))
        tmf->waits = true;
    else
        tmf_answer(session, tmf);
}

void iser_tmf_preempted(void *argument, const uint8_t lun[8])
{
    struct iser_session *session = argument;
    struct iser_tmf tmf = {.function = TMF_ABORT_TASK_SET, .until = session->service->last_task};

    memcpy(tmf.lun, lun, sizeof(tmf.lun));
    tmf_abort_in(&tmf, session);
}
