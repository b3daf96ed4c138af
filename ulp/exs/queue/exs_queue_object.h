/* SPDX-License-Identifier: BSD-2-Clause */
/* The struct of a queue, for the files of this folder. */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_QUEUE_OBJECT_H
#define ITAPI_ULP_EXS_QUEUE_EXS_QUEUE_OBJECT_H

#include "handle/exs_handle.h"
#include "queue/exs_queue.h"
#include "queue/exs_wait.h"

#include <pthread.h>
#include <stdatomic.h>

/* A thread that waits until the queue has events enough, on its stack. */
struct exs_waiter {
    struct exs_sleeper sleeper;
    size_t need;
    bool listed;
    struct exs_waiter *next;
};

struct exs_queue {
    struct exs_slot *slot; /* immutable, as long as the queue has a user */
    _Atomic size_t ready;  /* count, for those who poll without the lock */
    _Atomic size_t taken;  /* places of events, and of those that are promised */
    _Atomic size_t room;   /* changed with the lock; never less */
    _Atomic int wait;      /* EXS_WAIT_ */

    pthread_mutex_t lock; /* innermost; guards all below */
    exs_event_t *events;  /* ring of room places */
    size_t first;
    size_t count;
    int depth;
    struct exs_waiter *waiters; /* the oldest first */
    int fd;                     /* -1 until somebody asks for it; readable while count > 0 */
    exs_signal_t signal;
};

/* The queue, with a user more, or NULL. */
struct exs_queue *exs_queue_take(exs_qhandle_t handle);
void exs_queue_give(struct exs_queue *queue);

/* At least so many places: 0 or ENOMEM. */
int exs_queue_grow_locked(struct exs_queue *queue, size_t need);
/* Up to count events, to where the caller wants them. Tells those who wait what is left. */
size_t exs_queue_pop_locked(struct exs_queue *queue, exs_event_t *events, size_t count);
/* Wakes the first who has events enough. */
void exs_queue_wake_locked(struct exs_queue *queue);

#endif
