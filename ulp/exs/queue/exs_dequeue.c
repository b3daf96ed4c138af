/* SPDX-License-Identifier: BSD-2-Clause */
/* exs_qdequeue: threads that poll a queue, and threads that sleep on it. */
#include "queue/exs_queue_object.h"

#include <errno.h>
#include <pthread.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_US UINT64_C(1000)

struct want {
    struct exs_queue *queue;
    exs_event_t *events;
    size_t count; /* events that fit */
    size_t taken;
    struct exs_catch caught;
    struct exs_waiter waiter;
};

static void enlist_locked(struct want *want)
{
    struct exs_waiter **link = &want->queue->waiters;

    while (*link)
        link = &(*link)->next;
    *link = &want->waiter;
    want->waiter.next = NULL;
    want->waiter.listed = true;
    /* Other waiters may be satisfied by the events that are left. */
    exs_queue_wake_locked(want->queue);
}

static void delist_locked(struct want *want)
{
    struct exs_waiter **link = &want->queue->waiters;

    if (!want->waiter.listed)
        return;
    while (*link != &want->waiter)
        link = &(*link)->next;
    *link = want->waiter.next;
    want->waiter.listed = false;
}

static bool take_enough(void *argument, bool sleeps)
{
    struct want *want = argument;
    struct exs_queue *queue = want->queue;

    if (want->caught.count > 0 && !want->waiter.listed) {
        want->taken = want->caught.count;
        return true;
    }
    if (!sleeps && want->caught.count == 0 &&
        atomic_load_explicit(&queue->ready, memory_order_relaxed) < want->waiter.need)
        return false;
    exs_lock_take(&queue->lock);
    if (want->caught.count > 0) {
        delist_locked(want);
        want->taken = want->caught.count;
    } else if (queue->count >= want->waiter.need) {
        delist_locked(want);
        want->taken = exs_queue_pop_locked(queue, want->events, want->count);
    } else if (sleeps && !want->waiter.listed)
        enlist_locked(want);
    exs_lock_drop(&queue->lock);
    return want->taken > 0;
}

/* A cancelled thread takes no events; those that woke it wake another thread. */
static void leave(void *argument)
{
    struct want *want = argument;

    exs_queue_catch(NULL);
    exs_lock_take(&want->queue->lock);
    delist_locked(want);
    exs_queue_wake_locked(want->queue);
    exs_lock_drop(&want->queue->lock);
    exs_queue_give(want->queue);
}

static int await(struct want *want, const struct exs_wait *wait)
{
    int error;

    exs_sleeper_start(&want->waiter.sleeper);
    want->caught = (struct exs_catch){want->queue, want->events, want->count, 0};
    pthread_cleanup_push(leave, want);
    if (want->waiter.need == 1)
        exs_queue_catch(&want->caught);
    error = exs_wait_until(&want->waiter.sleeper, wait, take_enough, want);
    pthread_cleanup_pop(0);
    exs_queue_catch(NULL);
    if (error == 0)
        return 0;
    exs_lock_take(&want->queue->lock);
    delist_locked(want);
    want->taken = want->caught.count;
    if (want->taken == 0)
        want->taken = exs_queue_pop_locked(want->queue, want->events, want->count);
    exs_lock_drop(&want->queue->lock);
    return error == EINTR && want->taken == 0 ? EINTR : 0;
}

static bool deadline_of(const struct timeval *timeout, uint64_t *deadline_ns)
{
    *deadline_ns = EXS_TIME_NEVER;
    if (!timeout)
        return true;
    if (timeout->tv_sec == 0 && timeout->tv_usec == 0) {
        *deadline_ns = 0;
        return true;
    }
    if (timeout->tv_sec < 0 || timeout->tv_usec < 0 || timeout->tv_usec >= 1000000)
        return false;
    if ((uint64_t)timeout->tv_sec < INT32_MAX)
        *deadline_ns = exs_clock_ns() + (uint64_t)timeout->tv_sec * NS_PER_S +
                       (uint64_t)timeout->tv_usec * NS_PER_US;
    return true;
}

int exs_queue_dequeue(exs_qhandle_t handle, exs_event_t *events, int count,
                      const struct timeval *timeout, int cancel, int *taken)
{
    struct want want = {.events = events};
    struct exs_wait wait = {.cancel = cancel};
    int error = 0;

    if (count > EXS_EVTVEC_MAX || count < -EXS_EVTVEC_MAX ||
        !deadline_of(timeout, &wait.deadline_ns))
        return EINVAL;
    want.count = (size_t)(count < 0 ? -count : count);
    want.waiter.need = count < 0 ? want.count : 1;
    want.queue = exs_queue_take(handle);
    if (!want.queue)
        return EINVAL;
    wait.kind = atomic_load_explicit(&want.queue->wait, memory_order_relaxed);
    if (count != 0)
        error = await(&want, &wait);
    exs_queue_give_caught(want.queue, want.caught.count);
    *taken = (int)want.taken;
    return error;
}
