/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the end of a started call is reported: to a queue, to the thread that waits for it, or
 * nowhere. The meaning of EXS_BLOCK, EXS_UNSIGNALED and a missing queue is implemented only here.
 */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_COMPLETION_H
#define ITAPI_ULP_EXS_QUEUE_EXS_COMPLETION_H

#include "include/exs.h"
#include "queue/exs_wait.h"

#include <stdatomic.h>
#include <stdbool.h>

struct exs_queue;

struct exs_completion {
    struct exs_queue *queue; /* with room promised in it; or NULL */
    bool blocks;             /* a thread waits, through the members below */
    bool failures_only;
    _Atomic int state;
    struct exs_sleeper sleeper;
    exs_event_t event;
};

/* At the start of a call. Returns 0, EINVAL or ENOMEM. */
int exs_completion_open(struct exs_completion *completion, exs_qhandle_t handle, int flags);
/*
 * For a call that succeeds at once. Sets *silent if a flag suppresses the event; then nothing has
 * been opened. Returns like exs_completion_open.
 */
int exs_completion_open_success(struct exs_completion *completion, exs_qhandle_t handle, int flags,
                                bool *silent);
/* For a call that does not start after all. */
void exs_completion_drop(struct exs_completion *completion);

/*
 * Reports the end of the call, once, from any thread, with any lock held. Returns true if no other
 * thread uses the completion any more; false if the waiting thread owns it now.
 */
bool exs_completion_tell(struct exs_completion *completion, const exs_event_t *event);

/* With EXS_BLOCK: waits until the call has ended; a cancellation point if wait allows it. */
void exs_completion_await(struct exs_completion *completion, const struct exs_wait *wait);
/* The thread stops waiting. Returns true if the end has been reported already. */
bool exs_completion_abandon(struct exs_completion *completion);

#endif /* ITAPI_ULP_EXS_QUEUE_EXS_COMPLETION_H */
