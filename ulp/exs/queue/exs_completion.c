/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/exs_completion.h"

#include "queue/exs_queue.h"
#include "queue/exs_spin.h"

#include <errno.h>
#include <pthread.h>

int exs_completion_open(struct exs_completion *completion, exs_qhandle_t handle, int flags,
                        struct exs_blocked *blocked)
{
    *completion = (struct exs_completion){0};
    if (flags & EXS_BLOCK) {
        completion->blocked = blocked;
        return 0;
    }
    completion->failures_only = (flags & EXS_UNSIGNALED) != 0;
    if (handle == EXS_QHANDLE_INVALID)
        return completion->failures_only ? 0 : EINVAL;
    return exs_queue_promise(handle, &completion->queue);
}

void exs_completion_tell(struct exs_completion *completion, const exs_event_t *event)
{
    if (completion->blocked) {
        completion->blocked->event = *event;
        (void)sem_post(&completion->blocked->told);
    } else if (!completion->queue) {
        return;
    } else if (completion->failures_only && event->exs_evt_errno == 0) {
        exs_queue_release(completion->queue);
    } else {
        exs_queue_post(completion->queue, event);
    }
}

void exs_completion_drop(struct exs_completion *completion)
{
    if (completion->queue)
        exs_queue_release(completion->queue);
}

/* ---- Threads that wait ---------------------------------------------------------------------- */

void exs_blocked_init(struct exs_blocked *blocked, int wait)
{
    (void)sem_init(&blocked->told, 0, 0);
    blocked->wait = wait;
}

static bool is_told(void *argument)
{
    struct exs_blocked *blocked = argument;

    return sem_trywait(&blocked->told) == 0;
}

struct abandoned {
    struct exs_blocked *blocked;
    void (*cancel)(void *);
    void *argument;
};

/* The call still refers to this thread's stack: it has to end first. */
static void abandon(void *argument)
{
    struct abandoned *abandoned = argument;

    abandoned->cancel(abandoned->argument);
    while (sem_wait(&abandoned->blocked->told) != 0)
        continue;
    (void)sem_destroy(&abandoned->blocked->told);
}

void exs_blocked_wait(struct exs_blocked *blocked, void (*cancel)(void *), void *argument)
{
    struct abandoned abandoned = {blocked, cancel, argument};
    static struct exs_spin spin = EXS_SPIN_INITIALIZER;

    pthread_cleanup_push(abandon, &abandoned);
    /* A signal does not end the call, which has started. */
    if (!exs_spin(&spin, blocked->wait, EXS_TIME_NEVER, is_told, blocked))
        while (sem_wait(&blocked->told) != 0)
            continue;
    pthread_cleanup_pop(0);
    (void)sem_destroy(&blocked->told);
}
