/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks of a loop: any thread submits them, the loop's thread runs them. */
#include "evd/loop/evd_loop_private.h"

#include "base/base_call.h"

#include <stdlib.h>

_Thread_local struct loop_thread loop_here;

/* ---------------------------------------------------------------- the thread a loop belongs to */

bool loop_thread_reserve(struct loop_thread *here, size_t more)
{
    size_t needed = here->descriptors + more;
    size_t capacity = here->capacity ? here->capacity : LOOP_POLLS;
    struct pollfd *polls;

    if (needed <= capacity)
        return true;
    while (capacity < needed)
        capacity *= 2;
    polls = realloc(here->polls, capacity * sizeof(*polls));
    if (!polls)
        return false;
    here->polls = polls;
    here->capacity = capacity;
    return true;
}

void loop_thread_release(struct loop_thread *here)
{
    if (!base_list_is_empty(&here->loops))
        return;
    free(here->polls);
    here->polls = NULL;
    here->capacity = 0;
}

bool evd_loop_has_tasks(const struct evd_loop *loop)
{
    return !base_list_is_empty(&loop->pending) || !base_stack_is_empty(&loop->tasks);
}

/* Moves the tasks that other threads submitted to the list of pending ones. */
static void loop_take_tasks(struct evd_loop *loop)
{
    struct base_stack_link *link = base_stack_take(&loop->tasks);

    for (; link; link = link->next) {
        struct evd_task *task = BASE_STACK_ITEM(link, struct evd_task, handed_over);

        base_list_append(&loop->pending, &task->pending);
        loop->pending_count++;
    }
}

/* Returns the first task that may run now, or NULL. */
static struct evd_task *loop_runnable(const struct evd_loop *loop)
{
    BASE_LIST_EACH(struct evd_task, task, &loop->pending, pending) {
        if (!loop_here.quiet || !task->calls_out)
            return task;
    }
    return NULL;
}

static struct evd_task *loop_next_task(struct evd_loop *loop)
{
    struct evd_task *task = loop_runnable(loop);

    if (task) {
        base_list_remove(&loop->pending, &task->pending);
        loop->pending_count--;
    }
    return task;
}

void loop_run_tasks(struct evd_loop *loop)
{
    struct evd_task *task;
    size_t budget;

    loop_take_tasks(loop);
    for (budget = loop->pending_count; budget > 0 && (task = loop_next_task(loop)); budget--) {
        void (*run)(struct evd_task *) = task->run;

        /* A submit that still found true happens before the run: its release, this acquire. */
        (void)atomic_exchange_explicit(&task->queued, false, memory_order_acq_rel);
        run(task); /* may submit the task again, or free it */
    }
}

bool loop_has_runnable(const struct evd_loop *loop)
{
    return loop_runnable(loop) || !base_stack_is_empty(&loop->tasks);
}

void loop_arm(struct evd_loop *loop)
{
    base_event_raise(loop->wake_fd);
}

void loop_enter(struct evd_loop *loop)
{
    loop->depth++;
    loop_here.depth++;
}

void loop_leave(struct evd_loop *loop)
{
    struct evd_task *last;

    loop_run_tasks(loop);
    if (!base_stack_is_empty(&loop->tasks))
        loop_take_tasks(loop);
    if (loop_has_runnable(loop))
        loop_arm(loop);
    loop_here.depth--;
    loop->depth--;
    last = loop->depth == 0 ? loop->last : NULL;
    if (last) {
        loop->last = NULL;
        last->run(last);
    }
}

void loop_woken(struct evd_loop *loop)
{
    loop_enter(loop);
    /* Drained before the tasks are taken: a later push writes again. */
    base_event_clear(loop->wake_fd);
    loop_leave(loop);
}

bool evd_loop_submit(struct evd_loop *loop, struct evd_task *task)
{
    if (atomic_exchange_explicit(&task->queued, true, memory_order_acq_rel))
        return false;
    if (base_stack_push(&loop->tasks, &task->handed_over) && !evd_loop_is_inside(loop))
        loop_arm(loop);
    return true;
}

bool evd_loop_is_current(const struct evd_loop *loop)
{
    return atomic_load_explicit(&loop->owner, memory_order_relaxed) == &loop_here;
}

bool evd_loop_is_here(void)
{
    return !base_list_is_empty(&loop_here.loops);
}

bool evd_loop_is_inside(const struct evd_loop *loop)
{
    return evd_loop_is_current(loop) && loop->depth > 0;
}
