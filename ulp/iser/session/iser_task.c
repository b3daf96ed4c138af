/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks of a session: found by their initiator task tags, reused for later commands. */
#include "session/iser_session.h"

#include <stdlib.h>
#include <string.h>

/* MaxCmdSN never goes back. */
void iser_task_window(struct iser_session *session)
{
    uint32_t window = session->window;
    uint32_t used = session->window_used < window ? session->window_used : window;
    uint32_t max = session->numbers.exp_cmd_sn + window - used - 1;

    if (iser_sn_before(session->numbers.max_cmd_sn, max))
        session->numbers.max_cmd_sn = max;
}

static struct iser_task **task_bucket(struct iser_session *session, uint32_t itt)
{
    return &session->tasks[itt % ISER_TASK_BUCKETS];
}

struct iser_task *iser_task_new(struct iser_session *session, uint32_t itt)
{
    struct iser_task *task = session->spare;
    struct iser_task **bucket = task_bucket(session, itt);

    if (session->window_used >= ISER_WINDOW + ISER_WINDOW_SPARE)
        return NULL;
    if (task)
        session->spare = task->next;
    else if (!(task = malloc(sizeof(*task))))
        return NULL;
    memset(task, 0, sizeof(*task));
    task->transfer.itt = itt;
    task->session = session;
    task->number = ++session->service->last_task;
    task->next = *bucket;
    *bucket = task;
    session->task_count++;
    session->window_used++;
    task->in_window = true;
    return task;
}

struct iser_task *iser_task_find(struct iser_session *session, uint32_t itt)
{
    struct iser_task *task = *task_bucket(session, itt);

    while (task && (task->transfer.itt != itt || task->aborted))
        task = task->next;
    return task;
}

void iser_task_leave_window(struct iser_task *task)
{
    if (!task->in_window)
        return;
    task->in_window = false;
    task->session->window_used--;
    iser_task_window(task->session);
}

static void task_put_buffer(struct iser_task *task)
{
    struct iser_session *session = task->session;
    struct iser_buffer *buffer = task->transfer.buffer;
    uint64_t octets;

    if (!buffer)
        return;
    octets = iser_buffer_size(buffer);
    session->buffered -= octets;
    session->service->buffered -= octets;
    iser_buffer_put(session->buffers, buffer);
}

void iser_task_free(struct iser_task *task)
{
    struct iser_session *session = task->session;
    struct iser_task **at = task_bucket(session, task->transfer.itt);

    while (*at != task)
        at = &(*at)->next;
    *at = task->next;
    task_put_buffer(task);
    task->next = session->spare;
    session->spare = task;
    session->task_count--;
    if (iser_scsi_moved(&task->command) || task->aborted)
        event_active(&session->service->aborted, EV_TIMEOUT, 0);
    iser_task_leave_window(task);
}

/* Returns true if the unit, the link or the peer may still access the buffer. */
static bool task_is_used(const struct iser_task *task)
{
    return task->state == ISER_TASK_UNIT || task->placing || task->reading;
}

void iser_task_abort(struct iser_task *task)
{
    if (task->state == ISER_TASK_RESPONSE || task->aborted)
        return; /* the task has ended: its response is being sent */
    task->aborted = true;
    if (!task_is_used(task))
        iser_task_free(task);
}

void iser_task_abort_all(struct iser_session *session)
{
    for (unsigned i = 0; i < ISER_TASK_BUCKETS; i++) {
        struct iser_task *next;

        for (struct iser_task *task = session->tasks[i]; task; task = next) {
            next = task->next;
            task->placing = task->reading = false;
            task->aborted = true;
            if (task->state != ISER_TASK_UNIT)
                iser_task_free(task);
        }
    }
}

void iser_tasks_fini(struct iser_session *session)
{
    struct iser_task *task;

    while ((task = session->spare) != NULL) {
        session->spare = task->next;
        free(task);
    }
}
