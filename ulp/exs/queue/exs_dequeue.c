/* SPDX-License-Identifier: BSD-2-Clause */
/* exs_qdequeue: threads that poll a queue, and threads that sleep on it. */
#include "queue/exs_queue_object.h"

#include <errno.h>
#include <time.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_US UINT64_C(1000)

struct want {
    struct exs_queue *queue;
    exs_event_t *events;
    size_t need;  /* events that end the wait */
    size_t count; /* events that fit */
    size_t taken;
    int error; /* of the sleep */
    struct exs_sleeper sleeper;
};

static bool take_enough(void *argument)
{
    struct want *want = argument;
    struct exs_queue *queue = want->queue;

    if (atomic_load_explicit(&queue->ready, memory_order_relaxed) < want->need)
        return false;
    (void)pthread_mutex_lock(&queue->lock);
    if (queue->count >= want->need)
        want->taken = exs_queue_pop_locked(queue, want->events, want->count);
    (void)pthread_mutex_unlock(&queue->lock);
    return want->taken > 0;
}

static void unlist(struct want *want)
{
    struct exs_sleeper **link = &want->queue->sleepers;

    (void)pthread_mutex_lock(&want->queue->lock);
    if (want->sleeper.listed) {
        while (*link != &want->sleeper)
            link = &(*link)->next;
        *link = want->sleeper.next;
    }
    (void)pthread_mutex_unlock(&want->queue->lock);
    (void)sem_destroy(&want->sleeper.wake);
}

/* A cancelled thread takes nothing. What it was woken for wakes another one. */
static void abandon(void *argument)
{
    struct want *want = argument;

    unlist(want);
    (void)pthread_mutex_lock(&want->queue->lock);
    exs_queue_wake_locked(want->queue);
    (void)pthread_mutex_unlock(&want->queue->lock);
    exs_queue_give(want->queue);
}

static void abandon_poll(void *argument)
{
    struct want *want = argument;

    exs_queue_give(want->queue);
}

/* Joins the sleepers, unless there are events enough by now: then it takes them. */
static bool lie_down(struct want *want)
{
    struct exs_queue *queue = want->queue;
    struct exs_sleeper **link = &queue->sleepers;

    (void)pthread_mutex_lock(&queue->lock);
    if (queue->count >= want->need) {
        want->taken = exs_queue_pop_locked(queue, want->events, want->count);
    } else {
        want->sleeper = (struct exs_sleeper){.need = want->need, .listed = true};
        (void)sem_init(&want->sleeper.wake, 0, 0);
        while (*link)
            link = &(*link)->next;
        *link = &want->sleeper;
        /* Others may be content with what there is. */
        exs_queue_wake_locked(queue);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return want->taken == 0;
}

/* want->error is 0, if it was woken, or an errno value of sem_wait. */
static void sleep_until(struct want *want, const struct exs_wait *wait)
{
    struct timespec until = {.tv_sec = (time_t)(wait->deadline_ns / NS_PER_S),
                             .tv_nsec = (long)(wait->deadline_ns % NS_PER_S)};
    int state;

    pthread_cleanup_push(abandon, want);
    (void)pthread_setcancelstate(wait->cancel, &state);
    if (wait->deadline_ns == EXS_TIME_NEVER
            ? sem_wait(&want->sleeper.wake)
            : sem_clockwait(&want->sleeper.wake, CLOCK_MONOTONIC, &until))
        want->error = errno;
    (void)pthread_setcancelstate(state, NULL);
    pthread_cleanup_pop(0);
    unlist(want);
}

static void take_rest(struct want *want)
{
    (void)pthread_mutex_lock(&want->queue->lock);
    want->taken = exs_queue_pop_locked(want->queue, want->events, want->count);
    (void)pthread_mutex_unlock(&want->queue->lock);
}

static int await(struct want *want, const struct exs_wait *wait)
{
    pthread_cleanup_push(abandon_poll, want);
    (void)exs_spin(&want->queue->spin, wait, take_enough, want);
    pthread_cleanup_pop(0);
    if (want->taken > 0)
        return 0;
    if (exs_clock_ns() >= wait->deadline_ns)
        want->error = ETIMEDOUT;
    while (want->error == 0 && lie_down(want))
        sleep_until(want, wait);
    if (want->error != 0)
        take_rest(want);
    return want->error == EINTR && want->taken == 0 ? EINTR : 0;
}

static bool deadline_of(const struct timeval *timeout, uint64_t *deadline_ns)
{
    *deadline_ns = EXS_TIME_NEVER;
    if (!timeout)
        return true;
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
    want.need = count < 0 ? want.count : 1;
    want.queue = exs_queue_take(handle);
    if (!want.queue)
        return EINVAL;
    wait.kind = atomic_load_explicit(&want.queue->wait, memory_order_relaxed);
    if (count != 0)
        error = await(&want, &wait);
    exs_queue_give(want.queue);
    *taken = (int)want.taken;
    return error;
}
