/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/exs_completion.h"

#include "queue/exs_queue.h"

#include <errno.h>
#include <pthread.h>

enum {
    OPEN,
    TOLD,
    ABANDONED
}; /* of a thread that waits */

int exs_completion_open(struct exs_completion *completion, exs_qhandle_t handle, int flags)
{
    completion->queue = NULL;
    completion->blocks = (flags & EXS_BLOCK) != 0;
    completion->failures_only = (flags & EXS_UNSIGNALED) != 0;
    if (completion->blocks) {
        atomic_store_explicit(&completion->state, OPEN, memory_order_relaxed);
        (void)sem_init(&completion->told, 0, 0);
        return 0;
    }
    if (handle == EXS_QHANDLE_INVALID)
        return completion->failures_only ? 0 : EINVAL;
    return exs_queue_promise(handle, &completion->queue);
}

void exs_completion_drop(struct exs_completion *completion)
{
    if (completion->queue)
        exs_queue_release(completion->queue);
}

bool exs_completion_tell(struct exs_completion *completion, const exs_event_t *event)
{
    if (completion->blocks) {
        completion->event = *event;
        /* Acquire: the thread that has abandoned it uses it no more. */
        if (atomic_exchange_explicit(&completion->state, TOLD, memory_order_acq_rel) == ABANDONED)
            return true;
        (void)sem_post(&completion->told);
        return false;
    }
    if (completion->queue && completion->failures_only && event->exs_evt_errno == 0)
        exs_queue_release(completion->queue);
    else if (completion->queue)
        exs_queue_post(completion->queue, event);
    return true;
}

/* ---- Threads that wait ---------------------------------------------------------------------- */

static bool is_told(void *argument)
{
    struct exs_completion *completion = argument;

    return sem_trywait(&completion->told) == 0;
}

void exs_completion_await(struct exs_completion *completion, const struct exs_wait *wait)
{
    static struct exs_spin spin = EXS_SPIN_INITIALIZER;
    int state;

    if (exs_spin(&spin, wait, is_told, completion))
        return;
    (void)pthread_setcancelstate(wait->cancel, &state);
    /* A signal does not end the call, which has started. */
    while (sem_wait(&completion->told) != 0)
        continue;
    (void)pthread_setcancelstate(state, NULL);
}

bool exs_completion_abandon(struct exs_completion *completion)
{
    if (atomic_exchange_explicit(&completion->state, ABANDONED, memory_order_acq_rel) == OPEN)
        return false;
    /* Who tells may still be at it. */
    while (sem_wait(&completion->told) != 0)
        continue;
    return true;
}
