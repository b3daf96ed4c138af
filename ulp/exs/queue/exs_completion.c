/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/exs_completion.h"

#include "queue/exs_queue.h"

#include <errno.h>
#include <sched.h>

/*
 * States for a thread that waits. The thread that reports the end uses the completion until LEFT.
 */
enum {
    OPEN,
    TOLD,
    LEFT,
    ABANDONED
};

int exs_completion_open(struct exs_completion *completion, exs_qhandle_t handle, int flags)
{
    completion->queue = NULL;
    completion->blocks = (flags & EXS_BLOCK) != 0;
    completion->failures_only = (flags & EXS_UNSIGNALED) != 0;
    if (completion->blocks) {
        atomic_store_explicit(&completion->state, OPEN, memory_order_relaxed);
        exs_sleeper_start(&completion->sleeper);
        return 0;
    }
    if (handle == EXS_QHANDLE_INVALID)
        return completion->failures_only ? 0 : EINVAL;
    return exs_queue_promise(handle, &completion->queue);
}

int exs_completion_open_success(struct exs_completion *completion, exs_qhandle_t handle, int flags,
                                bool *silent)
{
    *silent = (flags & (EXS_BLOCK | EXS_UNSIGNALED)) != 0;
    if (!*silent)
        return exs_completion_open(completion, handle, flags);
    return flags & EXS_BLOCK || handle == EXS_QHANDLE_INVALID || exs_queue_is(handle) ? 0 : EINVAL;
}

void exs_completion_drop(struct exs_completion *completion)
{
    if (completion->queue)
        exs_queue_release(completion->queue);
}

bool exs_completion_tell(struct exs_completion *completion, const exs_event_t *event)
{
    int open = OPEN;

    if (completion->blocks) {
        completion->event = *event;
        if (!atomic_compare_exchange_strong(&completion->state, &open, TOLD))
            return true;
        exs_sleeper_wake(&completion->sleeper);
        atomic_store_explicit(&completion->state, LEFT, memory_order_release);
        return false;
    }
    if (completion->queue && completion->failures_only && event->exs_evt_errno == 0)
        exs_queue_release(completion->queue);
    else if (completion->queue)
        exs_queue_post(completion->queue, event);
    return true;
}

/* ---- Threads that wait ---------------------------------------------------------------------- */

static bool is_told(void *argument, bool sleeps)
{
    struct exs_completion *completion = argument;

    (void)sleeps;
    if (atomic_load(&completion->state) == OPEN)
        return false;
    while (atomic_load_explicit(&completion->state, memory_order_acquire) != LEFT)
        (void)sched_yield();
    return true;
}

void exs_completion_await(struct exs_completion *completion, const struct exs_wait *wait)
{
    /* A signal does not end the call, which has already started. */
    while (exs_wait_until(&completion->sleeper, wait, is_told, completion) != 0)
        continue;
}

bool exs_completion_abandon(struct exs_completion *completion)
{
    int open = OPEN;

    return !atomic_compare_exchange_strong(&completion->state, &open, ABANDONED) &&
           is_told(completion, false);
}
