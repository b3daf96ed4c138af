/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues of events. The start of a call reserves room in the queue, so that the event at its end
 * needs no memory and cannot fail.
 */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_QUEUE_H
#define ITAPI_ULP_EXS_QUEUE_EXS_QUEUE_H

#include "include/exs.h"

#include <stdbool.h>
#include <stddef.h>

struct exs_queue;
struct exs_slot;

/*
 * Reserves room. Returns 0, EINVAL (no such queue) or ENOMEM. Exactly one post or release must
 * follow.
 */
int exs_queue_promise(exs_qhandle_t handle, struct exs_queue **promised);
void exs_queue_post(struct exs_queue *queue, const exs_event_t *event);
void exs_queue_release(struct exs_queue *queue);
/* Returns true if there is such a queue now. */
bool exs_queue_is(exs_qhandle_t handle);

/* These implement the functions of the same names in exs.h; they return 0 or errno. */
int exs_queue_create(int depth, exs_qhandle_t *handle);
int exs_queue_delete(exs_qhandle_t handle);
/*
 * *taken is the number of events taken, also after a timeout. cancel: the cancellation state while
 * the caller waits; otherwise cancellation is disabled.
 */
int exs_queue_dequeue(exs_qhandle_t handle, exs_event_t *events, int count,
                      const struct timeval *timeout, int cancel, int *taken);
int exs_queue_fd(exs_qhandle_t handle, int *fd);
int exs_queue_set_depth(exs_qhandle_t handle, int depth);
int exs_queue_set_wait(exs_qhandle_t handle, int wait);
int exs_queue_set_signal(exs_qhandle_t handle, const exs_signal_t *signal);
int exs_queue_status(exs_qhandle_t handle, int attribute, void *value);

/* In the child after fork. */
void exs_queues_forget(void);

#endif
