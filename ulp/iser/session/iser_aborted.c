/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What waits until no aborted task is in use any more: answers to task management, the status of
 * PREEMPT AND ABORT, and the login of a session that replaces another.
 */
#include "session/iser_session.h"

/* An answer may end sessions, and so their tasks: each function starts again after one. */
static void aborted_look(evutil_socket_t fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    while (iser_tmf_resume_one(argument) || iser_command_resume_one(argument) ||
           iser_login_resume_one(argument)) {
    }
}

void iser_aborted_init(struct iser_service *service)
{
    /* Cannot fail with valid arguments. */
    (void)event_assign(&service->aborted, service->base, -1, 0, aborted_look, service);
}
