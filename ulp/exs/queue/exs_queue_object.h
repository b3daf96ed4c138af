/* SPDX-License-Identifier: BSD-2-Clause */
/* The struct of a queue, for the files of this folder. */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_QUEUE_OBJECT_H
#define ITAPI_ULP_EXS_QUEUE_EXS_QUEUE_OBJECT_H

#include "handle/exs_handle.h"
#include "lock/exs_lock.h"
#include "queue/exs_queue.h"
#include "queue/exs_wait.h"

#include <stdatomic.h>

/* A thread that waits until the queue has enough events; on that thread's stack. */
struct exs_waiter {
    struct exs_sleeper sleeper;
    size_t need;
    bool listed;
    struct exs_waiter *next;
};

struct exs_queue {
    struct exs_slot *slot; /* immutable while the queue has a user */
    _Atomic size_t ready;  /* number of events, for threads that poll without the lock */
    _Atomic size_t taken;  /* slots of events, and reserved ones */
    _Atomic size_t room;   /* written with the lock held; never shrinks */
    _Atomic int wait;      /* EXS_WAIT_ */
    _Atomic bool signals;  /* signal is enabled; written with the lock held */

    struct exs_lock lock; /* innermost; guards the members below */
    exs_event_t *events;  /* ring of room slots */
    size_t first;
    size_t count;
    int depth;
    struct exs_waiter *waiters; /* oldest first */
    int fd;                     /* -1 until the program asks for it; readable while count > 0 */
    exs_signal_t signal;
};

/*
 * An array of a thread that takes events from the queue. If the thread leads, the events that it
 * produces itself go there, without the queue's lock, and other threads do not see them. The queue
 * keeps the places promised to these events until the thread calls exs_queue_give_caught.
 */
struct exs_catch {
    struct exs_queue *queue;
    exs_event_t *events;
    size_t room;
    size_t count;
};

/* For the calling thread; NULL: no more. */
void exs_queue_catch(struct exs_catch *caught);

/* Returns the queue with one user more, or NULL. */
struct exs_queue *exs_queue_take(exs_qhandle_t handle);
void exs_queue_give(struct exs_queue *queue);
/* The same, and releases the places promised to `caught` events. */
void exs_queue_give_caught(struct exs_queue *queue, size_t caught);

/* Makes the ring at least so large. Returns 0 or ENOMEM. */
int exs_queue_grow_locked(struct exs_queue *queue, size_t need);
/* Takes up to count events. Wakes waiters that the rest satisfies. */
size_t exs_queue_pop_locked(struct exs_queue *queue, exs_event_t *events, size_t count);
/* Wakes the first waiter that has enough events. */
void exs_queue_wake_locked(struct exs_queue *queue);

#endif
