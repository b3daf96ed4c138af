/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What waits until no aborted task is in use any more: answers to task management, the status of
 * PREEMPT AND ABORT, and the login of a session that replaces another. Also commands that wait
 * until data has moved.
 */
#include "session/iser_session.h"

#define POLL_US 1000

/* Links over RDMA do not report when data has been sent. */
static void aborted_poll(struct iser_service *service)
{
    struct iser_session *next;

    for (struct iser_session *session = service->sessions; session; session = next) {
        iser_session_enter(session);
        if (!session->ended && session->link->ops->poll)
            session->link->ops->poll(session->link);
        next = session->next;
        iser_session_leave(session);
    }
}

/* Returns true if commands still wait for data that moves. */
static bool aborted_go_on(const struct iser_service *service)
{
    bool held = false;

    for (size_t i = 0; i < service->target_count; i++) {
        iser_scsi_go_on(service->targets[i].scsi);
        held |= iser_scsi_is_held(service->targets[i].scsi);
    }
    return held;
}

/* An answer may end sessions, and so their tasks: each function starts again after one. */
static void aborted_look(evutil_socket_t fd, short what, void *argument)
{
    static const struct timeval interval = {.tv_usec = POLL_US};
    struct iser_service *service = argument;

    (void)fd;
    (void)what;
    while (iser_tmf_resume_one(service) || iser_command_resume_one(service) ||
           iser_login_resume_one(service)) {
    }
    if (!aborted_go_on(service))
        return;
    aborted_poll(service);
    (void)event_add(&service->aborted, &interval);
}

void iser_aborted_init(struct iser_service *service)
{
    /* Cannot fail with valid arguments. */
    (void)event_assign(&service->aborted, service->base, -1, 0, aborted_look, service);
}
