/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the end of a started call is told: to a queue, to the thread that waits for it, or nowhere.
 * EXS_BLOCK, EXS_UNSIGNALED and calls without a queue are decided here and nowhere else.
 */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_COMPLETION_H
#define ITAPI_ULP_EXS_QUEUE_EXS_COMPLETION_H

#include "include/exs.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct exs_queue;

/* A thread in a call with EXS_BLOCK, on its stack. */
struct exs_blocked {
    sem_t told;
    exs_event_t event; /* written before told is posted */
    int wait;          /* EXS_WAIT_ */
};

struct exs_completion {
    struct exs_queue *queue;     /* with a promise, or NULL */
    struct exs_blocked *blocked; /* or NULL */
    bool failures_only;
};

/* Start of a call: blocked is looked at with EXS_BLOCK only. 0, EINVAL or ENOMEM. */
int exs_completion_open(struct exs_completion *completion, exs_qhandle_t handle, int flags,
                        struct exs_blocked *blocked);
/* End of the call, once, from any thread, with any lock held. */
void exs_completion_tell(struct exs_completion *completion, const exs_event_t *event);
/* The call has not started after all. */
void exs_completion_drop(struct exs_completion *completion);

void exs_blocked_init(struct exs_blocked *blocked, int wait);
/*
 * Waits until the call has ended. If the thread is cancelled meanwhile, cancel(argument) has to see
 * to it that the call ends soon, and the thread goes when it has: nothing of its stack is used then.
 */
void exs_blocked_wait(struct exs_blocked *blocked, void (*cancel)(void *), void *argument);

#endif
