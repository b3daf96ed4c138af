/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the end of a started call is told: to a queue, to the thread that waits for it, or nowhere.
 * EXS_BLOCK, EXS_UNSIGNALED and calls without a queue are decided here and nowhere else.
 */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_COMPLETION_H
#define ITAPI_ULP_EXS_QUEUE_EXS_COMPLETION_H

#include "include/exs.h"
#include "queue/exs_wait.h"

#include <stdatomic.h>
#include <stdbool.h>

struct exs_queue;

struct exs_completion {
    struct exs_queue *queue; /* with a promise, or NULL */
    bool blocks;             /* a thread waits: by what follows */
    bool failures_only;
    _Atomic int state;
    struct exs_sleeper sleeper;
    exs_event_t event;
};

/* Start of a call: 0, EINVAL or ENOMEM. */
int exs_completion_open(struct exs_completion *completion, exs_qhandle_t handle, int flags);
/* The call has not started after all. */
void exs_completion_drop(struct exs_completion *completion);

/*
 * End of the call, once, from any thread, with any lock held. True: nobody else looks at the
 * completion any more. False: the thread that waits has it now.
 */
bool exs_completion_tell(struct exs_completion *completion, const exs_event_t *event);

/* With EXS_BLOCK. Waits until the call has ended; a cancellation point, if wait says so. */
void exs_completion_await(struct exs_completion *completion, const struct exs_wait *wait);
/* Nobody waits any more. True: the end has been told already. */
bool exs_completion_abandon(struct exs_completion *completion);

#endif /* ITAPI_ULP_EXS_QUEUE_EXS_COMPLETION_H */
