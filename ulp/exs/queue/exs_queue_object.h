/* SPDX-License-Identifier: BSD-2-Clause */
/* The struct of a queue, for the files of this folder. */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_QUEUE_OBJECT_H
#define ITAPI_ULP_EXS_QUEUE_EXS_QUEUE_OBJECT_H

#include "handle/exs_handle.h"
#include "queue/exs_queue.h"
#include "queue/exs_spin.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

/* A thread that sleeps until the queue has events enough, on its stack. */
struct exs_sleeper {
    sem_t wake;
    size_t need;
    bool listed;
    struct exs_sleeper *next;
};

struct exs_queue {
    struct exs_slot *slot; /* immutable, as long as the queue has a user */
    _Atomic size_t ready;  /* count, for those who poll without the lock */
    _Atomic int wait;      /* EXS_WAIT_ */
    struct exs_spin spin;

    pthread_mutex_t lock; /* innermost; guards all below */
    exs_event_t *events;  /* ring of room places: count events, and room for those promised */
    size_t room;
    size_t first;
    size_t count;
    size_t promised;
    int depth;
    struct exs_sleeper *sleepers; /* the oldest first */
    int fd;                       /* -1 until somebody asks for it; readable while count > 0 */
    exs_signal_t signal;
};

/* The queue, with a user more, or NULL. */
struct exs_queue *exs_queue_take(exs_qhandle_t handle);
void exs_queue_give(struct exs_queue *queue);

/* Room for count, promised and this many more: 0 or ENOMEM. */
int exs_queue_grow_locked(struct exs_queue *queue, size_t more);
/* Up to count events, to where the caller wants them. Tells the sleepers what is left. */
size_t exs_queue_pop_locked(struct exs_queue *queue, exs_event_t *events, size_t count);
/* Wakes the first sleeper who has events enough. */
void exs_queue_wake_locked(struct exs_queue *queue);

#endif
