/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ofa_timer.h"

#include "support/ofa_thread.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* uses the monotonic clock */
static bool has_condition;     /* it is initialized, in this process */
static struct ofa_timer *timers;
static struct ofa_timer *running;
static pid_t owner; /* process with the thread; 0: none */

uint64_t ofa_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- The thread ----------------------------------------------------------------------------- */

static struct ofa_timer *earliest_locked(void)
{
    struct ofa_timer *first = timers;

    for (struct ofa_timer *timer = timers; timer; timer = timer->next)
        if (timer->at_ns < first->at_ns)
            first = timer;
    return first;
}

static void unlink_locked(struct ofa_timer *timer)
{
    struct ofa_timer **link = &timers;

    while (*link != timer)
        link = &(*link)->next;
    *link = timer->next;
    timer->set = false;
}

static void run_locked(struct ofa_timer *timer)
{
    unlink_locked(timer);
    running = timer;
    (void)pthread_mutex_unlock(&lock);
    timer->callback(timer);
    (void)pthread_mutex_lock(&lock);
    running = NULL;
    (void)pthread_cond_broadcast(&changed);
}

static void *thread_main(void *argument)
{
    struct ofa_timer *timer;

    (void)argument;
    (void)pthread_mutex_lock(&lock);
    while ((timer = earliest_locked()) != NULL) {
        struct timespec until = {.tv_sec = (time_t)(timer->at_ns / NS_PER_S),
                                 .tv_nsec = (long)(timer->at_ns % NS_PER_S)};

        if (ofa_clock_ns() >= timer->at_ns)
            run_locked(timer);
        else
            (void)pthread_cond_timedwait(&changed, &lock, &until);
    }
    owner = 0;
    (void)pthread_mutex_unlock(&lock);
    return NULL;
}

/* Once only: threads that cancel timers may still wait on it when the next thread starts. */
static void open_condition_locked(void)
{
    pthread_condattr_t clock;

    if (has_condition)
        return;
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    has_condition = true;
}

static void start_locked(void)
{
    open_condition_locked();
    if (ofa_thread_start(thread_main) == 0)
        owner = getpid();
}

/* ---- Processes that fork --------------------------------------------------------------------- */

static void lock_timers(void)
{
    (void)pthread_mutex_lock(&lock);
}

static void unlock_timers(void)
{
    (void)pthread_mutex_unlock(&lock);
}

/* In the child: the threads that wait on the condition exist only in the parent. */
static void begin_anew(void)
{
    running = NULL;
    owner = 0;
    has_condition = false;
    unlock_timers();
}

void ofa_timer_survive_fork(void)
{
    (void)pthread_atfork(lock_timers, unlock_timers, begin_anew);
}

/* ---- Timers --------------------------------------------------------------------------------- */

void ofa_timer_set(struct ofa_timer *timer, uint64_t at_ns)
{
    (void)pthread_mutex_lock(&lock);
    if (!timer->set) {
        timer->set = true;
        timer->at_ns = at_ns;
        timer->next = timers;
        timers = timer;
    } else if (at_ns < timer->at_ns) {
        timer->at_ns = at_ns;
    }
    if (owner != getpid())
        start_locked();
    else
        (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

void ofa_timer_unset(struct ofa_timer *timer)
{
    (void)pthread_mutex_lock(&lock);
    if (timer->set) {
        unlink_locked(timer);
        (void)pthread_cond_broadcast(&changed);
    }
    (void)pthread_mutex_unlock(&lock);
}

void ofa_timer_cancel(struct ofa_timer *timer)
{
    (void)pthread_mutex_lock(&lock);
    while (running == timer)
        (void)pthread_cond_wait(&changed, &lock);
    if (timer->set) /* its callback may have set it */
        unlink_locked(timer);
    (void)pthread_mutex_unlock(&lock);
}
