/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/evd_loop.h"

#include "base/base_clock.h"

#include <event2/event.h>

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOP_NAME_BYTES 16 /* limit of the kernel, NUL included */

struct evd_loop {
    /*
     * Tasks handed over and not yet taken, newest first. Lock-free: any thread pushes, only the
     * loop's thread takes (all at once). The wake-up is armed exactly while the list is not empty:
     * the push that finds it empty writes the eventfd, no other does.
     */
    _Atomic(struct evd_task *) tasks;
    int wake_fd;             /* immutable after start */
    pthread_t thread;        /* by the starting thread only */
    struct event_base *base; /* loop's thread only, from its start to its end */
    struct event wake_event; /* likewise */
    struct evd_task stop;
    char name[LOOP_NAME_BYTES];
};

/* The loop whose thread this is. */
static _Thread_local const struct evd_loop *loop_current;

/* ---------------------------------------------------------------- tasks */

static struct evd_task *loop_take_tasks(struct evd_loop *loop)
{
    /* Acquire: pairs with the release of the push. */
    struct evd_task *newest = atomic_exchange_explicit(&loop->tasks, NULL, memory_order_acquire);
    struct evd_task *oldest = NULL;

    while (newest) {
        struct evd_task *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

static void loop_run_tasks(struct evd_loop *loop)
{
    struct evd_task *task = loop_take_tasks(loop);

    while (task) {
        /* Both are read first: the task may be submitted again, or be gone, once it runs. */
        struct evd_task *next = task->next;
        void (*run)(struct evd_task *) = task->run;

        /* A submit that still saw true happens before the run (release there, acquire here). */
        (void)atomic_exchange_explicit(&task->queued, false, memory_order_acq_rel);
        run(task);
        task = next;
    }
}

static void loop_woken(evutil_socket_t fd, short what, void *argument)
{
    eventfd_t count;

    (void)what;
    /* Before the tasks are taken: a push that comes later writes again. */
    (void)eventfd_read(fd, &count);
    loop_run_tasks(argument);
}

bool evd_loop_submit(struct evd_loop *loop, struct evd_task *task)
{
    struct evd_task *newest;

    if (atomic_exchange_explicit(&task->queued, true, memory_order_acq_rel))
        return false;
    newest = atomic_load_explicit(&loop->tasks, memory_order_relaxed);
    do {
        task->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(&loop->tasks, &newest, task,
                                                    memory_order_release, memory_order_relaxed));
    if (!newest)
        (void)eventfd_write(loop->wake_fd,
                            1); /* cannot fail: the count never gets near its limit */
    return true;
}

bool evd_loop_is_current(const struct evd_loop *loop)
{
    return loop_current == loop;
}

struct loop_call {
    struct evd_task task;
    void (*function)(void *argument);
    void *argument;
    pthread_mutex_t lock; /* guards done */
    pthread_cond_t changed;
    bool done;
};

static void loop_call_run(struct evd_task *task)
{
    struct loop_call *call = (struct loop_call *)task;

    call->function(call->argument);
    /* The caller's stack frame ends when it sees done: signal before the lock is dropped. */
    pthread_mutex_lock(&call->lock);
    call->done = true;
    pthread_cond_signal(&call->changed);
    pthread_mutex_unlock(&call->lock);
}

void evd_loop_call(struct evd_loop *loop, void (*function)(void *argument), void *argument)
{
    struct loop_call call = {
        .task = {.run = loop_call_run},
        .function = function,
        .argument = argument,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
    };

    if (evd_loop_is_current(loop)) {
        function(argument);
        return;
    }
    (void)evd_loop_submit(loop, &call.task); /* a new task is never queued already */
    pthread_mutex_lock(&call.lock);
    while (!call.done)
        pthread_cond_wait(&call.changed, &call.lock);
    pthread_mutex_unlock(&call.lock);
    pthread_cond_destroy(&call.changed);
    pthread_mutex_destroy(&call.lock);
}

/* ---------------------------------------------------------------- start and stop */

static void *loop_main(void *argument)
{
    struct evd_loop *loop = argument;

    loop_current = loop;
    (void)pthread_setname_np(pthread_self(), loop->name); /* the name serves debuggers only */
    (void)event_base_dispatch(loop->base);                /* ends by the stop task only */
    while (atomic_load_explicit(&loop->tasks, memory_order_relaxed))
        loop_run_tasks(loop); /* what the last tasks have submitted */
    return NULL;
}

static void loop_stop_run(struct evd_task *task)
{
    struct evd_loop *loop = (void *)((char *)task - offsetof(struct evd_loop, stop));

    (void)event_base_loopbreak(loop->base);
}

static struct event_base *loop_base_create(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (!config)
        return NULL;
    /* The environment may not choose another method than epoll: EVD_IO_CLOSED needs it. */
    if (event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_PRECISE_TIMER |
                                          EVENT_BASE_FLAG_IGNORE_ENV) == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

/* Signals belong to the application's threads. */
static int loop_thread_create(struct evd_loop *loop)
{
    sigset_t all;
    sigset_t before;
    int error;

    sigfillset(&all);
    error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error)
        return error;
    error = pthread_create(&loop->thread, NULL, loop_main, loop);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* restores what was valid before */
    return error;
}

it_status_t evd_loop_start(struct evd_loop **loop_out, const char *thread_name)
{
    struct evd_loop *loop = calloc(1, sizeof(*loop));

    if (!loop)
        return IT_ERR_RESOURCES;
    (void)snprintf(loop->name, sizeof(loop->name), "%s", thread_name); /* cut if too long */
    loop->stop.run = loop_stop_run;
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->wake_fd < 0)
        goto err_free;
    loop->base = loop_base_create();
    if (!loop->base)
        goto err_close;
    if (event_assign(&loop->wake_event, loop->base, loop->wake_fd, EV_READ | EV_PERSIST, loop_woken,
                     loop) != 0 ||
        event_add(&loop->wake_event, NULL) != 0)
        goto err_base;
    if (loop_thread_create(loop) != 0)
        goto err_event;
    *loop_out = loop;
    return IT_SUCCESS;

err_event:
    (void)event_del(&loop->wake_event);
err_base:
    event_base_free(loop->base);
err_close:
    (void)close(loop->wake_fd);
err_free:
    free(loop);
    return IT_ERR_RESOURCES;
}

void evd_loop_stop(struct evd_loop *loop)
{
    (void)evd_loop_submit(loop, &loop->stop); /* submitted here only */
    (void)pthread_join(loop->thread, NULL);
    (void)event_del(&loop->wake_event);
    event_base_free(loop->base);
    (void)close(loop->wake_fd);
    free(loop);
}

/* ---------------------------------------------------------------- descriptors */

static void loop_io_ready(evutil_socket_t fd, short what, void *argument)
{
    struct evd_io *io = argument;
    unsigned events = 0;

    (void)fd;
    if (what & EV_READ)
        events |= EVD_IO_READ;
    if (what & EV_WRITE)
        events |= EVD_IO_WRITE;
    if (what & EV_CLOSED)
        events |= EVD_IO_CLOSED;
    io->ready(io->argument, events); /* the watch may be gone after this */
}

bool evd_io_watch(struct evd_io *io, struct evd_loop *loop, int fd, unsigned events,
                  void (*ready)(void *argument, unsigned events), void *argument)
{
    short what = EV_PERSIST;

    evd_io_unwatch(io);
    if (events & EVD_IO_READ)
        what |= EV_READ;
    if (events & EVD_IO_WRITE)
        what |= EV_WRITE;
    if (events & EVD_IO_CLOSED)
        what |= EV_CLOSED;
    io->ready = ready;
    io->argument = argument;
    io->active = event_assign(&io->event, loop->base, fd, what, loop_io_ready, io) == 0 &&
                 event_add(&io->event, NULL) == 0;
    return io->active;
}

void evd_io_unwatch(struct evd_io *io)
{
    if (!io->active)
        return;
    io->active = false;
    (void)event_del(&io->event); /* of an added event: cannot fail */
}

/* ---------------------------------------------------------------- timers */

static void loop_timer_expired(evutil_socket_t fd, short what, void *argument)
{
    struct evd_timer *timer = argument;

    (void)fd;
    (void)what;
    timer->active = false;
    timer->expired(timer->argument); /* the timer may run again, or be gone, after this */
}

bool evd_timer_start(struct evd_timer *timer, struct evd_loop *loop, uint64_t delay_ns,
                     void (*expired)(void *argument), void *argument)
{
    struct timeval delay = {
        .tv_sec = (time_t)(delay_ns / BASE_NS_PER_S),
        /* Rounded up: a timer may be late, not early. The sum stays below one second... */
        .tv_usec = (suseconds_t)((delay_ns % BASE_NS_PER_S + BASE_NS_PER_US - 1) / BASE_NS_PER_US),
    };

    /* ...or is exactly one second, which is no valid tv_usec. */
    if (delay.tv_usec == 1000000) {
        delay.tv_sec++;
        delay.tv_usec = 0;
    }
    evd_timer_stop(timer);
    timer->expired = expired;
    timer->argument = argument;
    timer->active =
        event_assign(&timer->event, loop->base, -1, 0, loop_timer_expired, timer) == 0 &&
        event_add(&timer->event, &delay) == 0;
    return timer->active;
}

void evd_timer_stop(struct evd_timer *timer)
{
    if (!timer->active)
        return;
    timer->active = false;
    (void)event_del(&timer->event); /* of an added event: cannot fail */
}
