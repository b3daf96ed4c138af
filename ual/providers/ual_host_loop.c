/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of ual/vp_host.h that concerns the IA's thread: calls, tasks, watches, timers. */
#include "evd/loop/evd_loop.h"
#include "ual/providers/ual_providers.h"

#include "ual/object/ual.h"

#include <stdlib.h>

static struct evd_loop *host_loop(const struct ual_ia *ia)
{
    return ia->evd.loop;
}

void ual_host_ia_call(struct ual_ia *ia, void (*function)(void *argument), void *argument)
{
    evd_loop_call(host_loop(ia), function, argument);
}

bool ual_host_ia_is_current(const struct ual_ia *ia)
{
    return evd_loop_is_current(host_loop(ia));
}

/* ---------------------------------------------------------------- tasks */

/* Used only on the loop's thread, except for submit. */
struct vp_task {
    struct evd_task task;
    struct evd_loop *loop;
    void (*run)(void *argument);
    void *argument;
    bool freed;
};

static void host_task_run(struct evd_task *task)
{
    struct vp_task *own = (struct vp_task *)task;

    if (own->freed)
        free(own);
    else
        own->run(own->argument);
}

struct vp_task *ual_host_task_new(struct ual_ia *ia, void (*run)(void *argument), void *argument)
{
    struct vp_task *task = calloc(1, sizeof(*task));

    if (!task)
        return NULL;
    task->task.run = host_task_run;
    task->loop = host_loop(ia);
    task->run = run;
    task->argument = argument;
    return task;
}

void ual_host_task_submit(struct vp_task *task)
{
    (void)evd_loop_submit(task->loop, &task->task); /* false: it is already queued */
}

static void host_task_free(void *argument)
{
    struct vp_task *task = argument;

    task->freed = true;
    (void)evd_loop_submit(task->loop, &task->task); /* its last run frees it */
}

void ual_host_task_free(struct vp_task *task)
{
    if (task)
        evd_loop_call(task->loop, host_task_free, task);
}

/* ---------------------------------------------------------------- watches */

struct vp_watch {
    struct evd_io io;
    struct evd_loop *loop;
    int fd;
    void (*ready)(void *argument);
    void *argument;
    bool started;
};

static void host_watch_ready(void *argument, unsigned events)
{
    struct vp_watch *watch = argument;

    (void)events;
    watch->ready(watch->argument);
}

static void host_watch_begin(void *argument)
{
    struct vp_watch *watch = argument;

    watch->started =
        evd_io_watch(&watch->io, watch->loop, watch->fd, EVD_IO_READ, host_watch_ready, watch);
}

struct vp_watch *ual_host_watch_start(struct ual_ia *ia, int fd, void (*ready)(void *argument),
                                      void *argument)
{
    struct vp_watch *watch = calloc(1, sizeof(*watch));

    if (!watch)
        return NULL;
    watch->loop = host_loop(ia);
    watch->fd = fd;
    watch->ready = ready;
    watch->argument = argument;
    evd_loop_call(watch->loop, host_watch_begin, watch);
    if (watch->started)
        return watch;
    free(watch);
    return NULL;
}

static void host_watch_end(void *argument)
{
    evd_io_unwatch(&((struct vp_watch *)argument)->io);
}

void ual_host_watch_stop(struct vp_watch *watch)
{
    if (!watch)
        return;
    evd_loop_call(watch->loop, host_watch_end, watch);
    free(watch);
}

/* ---------------------------------------------------------------- timers */

struct vp_timer {
    struct evd_timer timer; /* .loop, .expired and .argument are set at creation */
};

struct vp_timer *ual_host_timer_new(struct ual_ia *ia, void (*expired)(void *argument),
                                    void *argument)
{
    struct vp_timer *timer = calloc(1, sizeof(*timer));

    if (timer)
        timer->timer =
            (struct evd_timer){.loop = host_loop(ia), .expired = expired, .argument = argument};
    return timer;
}

bool ual_host_timer_start(struct vp_timer *timer, uint64_t delay_ns)
{
    struct evd_timer *own = &timer->timer;

    return evd_timer_start(own, own->loop, delay_ns, own->expired, own->argument);
}

void ual_host_timer_stop(struct vp_timer *timer)
{
    evd_timer_stop(&timer->timer);
}

void ual_host_timer_free(struct vp_timer *timer)
{
    if (timer)
        evd_timer_stop(&timer->timer);
    free(timer);
}
