/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/exs_timer.h"

#include "adapter/exs_thread.h"
#include "queue/exs_wait.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below */
static pthread_cond_t changed;                           /* waits on the monotonic clock */
static struct exs_timer timers = {.next = &timers, .previous = &timers}; /* earliest first */
static bool running;                                                     /* the thread runs */

static void unlink_locked(struct exs_timer *timer)
{
    timer->previous->next = timer->next;
    timer->next->previous = timer->previous;
    timer->set = false;
}

static void fire_locked(struct exs_timer *timer)
{
    const struct exs_timer copy = *timer;

    unlink_locked(timer);
    (void)pthread_mutex_unlock(&lock);
    copy.fire(copy.socket, copy.serial);
    (void)pthread_mutex_lock(&lock);
}

static void *thread_main(void *unused)
{
    (void)unused;
    (void)pthread_mutex_lock(&lock);
    while (timers.next != &timers) {
        uint64_t at_ns = timers.next->at_ns;
        struct timespec until = {.tv_sec = (time_t)(at_ns / NS_PER_S),
                                 .tv_nsec = (long)(at_ns % NS_PER_S)};

        if (exs_clock_ns() >= at_ns)
            fire_locked(timers.next);
        else
            (void)pthread_cond_timedwait(&changed, &lock, &until);
    }
    running = false;
    (void)pthread_mutex_unlock(&lock);
    return NULL;
}

static int run_locked(void)
{
    pthread_condattr_t clock;
    int error;

    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    error = exs_thread_start(NULL, thread_main, NULL);
    running = error == 0;
    return error;
}

int exs_timer_start(struct exs_timer *timer)
{
    struct exs_timer *before;
    int error = 0;

    (void)pthread_mutex_lock(&lock);
    if (!running)
        error = run_locked();
    if (error == 0) {
        /* Time limits are mostly equal, so the place is near the end. */
        before = timers.previous;
        while (before != &timers && before->at_ns > timer->at_ns)
            before = before->previous;
        timer->previous = before;
        timer->next = before->next;
        before->next->previous = timer;
        before->next = timer;
        timer->set = true;
        if (before == &timers)
            (void)pthread_cond_signal(&changed);
    }
    (void)pthread_mutex_unlock(&lock);
    return error;
}

void exs_timer_stop(struct exs_timer *timer)
{
    (void)pthread_mutex_lock(&lock);
    if (timer->set)
        unlink_locked(timer);
    (void)pthread_mutex_unlock(&lock);
}

void exs_timers_forget(void)
{
    (void)pthread_mutex_init(&lock, NULL);
    timers.next = timers.previous = &timers;
    running = false;
}
