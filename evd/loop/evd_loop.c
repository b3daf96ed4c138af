/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks of a loop: handed over by any thread, run on the loop's. */
#include "evd/loop/evd_loop_private.h"

#include <stdlib.h>
#include <sys/eventfd.h>

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
    if (here->loops)
        return;
    free(here->polls);
    here->polls = NULL;
    here->capacity = 0;
}

static bool loop_has_handed_over(const struct evd_loop *loop)
{
    return atomic_load_explicit(&loop->tasks, memory_order_relaxed) != NULL;
}

bool evd_loop_has_tasks(const struct evd_loop *loop)
{
    return loop->pending || loop_has_handed_over(loop);
}

/* What others have handed over goes behind what is pending. */
static void loop_take_tasks(struct evd_loop *loop)
{
    /* Acquire: pairs with the release of the push. */
    struct evd_task *newest = atomic_exchange_explicit(&loop->tasks, NULL, memory_order_acquire);
    struct evd_task *oldest = NULL;
    struct evd_task *last = newest;

    while (newest) {
        struct evd_task *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
        loop->pending_count++;
    }
    if (!oldest)
        return;
    *loop->pending_end = oldest;
    loop->pending_end = &last->next;
}

static struct evd_task *loop_next_task(struct evd_loop *loop)
{
    struct evd_task **link = &loop->pending;
    struct evd_task *task;

    while (*link && loop_here.quiet && (*link)->calls_out)
        link = &(*link)->next;
    task = *link;
    if (!task)
        return NULL;
    *link = task->next;
    if (!*link)
        loop->pending_end = link;
    loop->pending_count--;
    return task;
}

void loop_run_tasks(struct evd_loop *loop)
{
    struct evd_task *task;
    size_t budget;

    loop_take_tasks(loop);
    for (budget = loop->pending_count; budget > 0 && (task = loop_next_task(loop)); budget--) {
        void (*run)(struct evd_task *) = task->run;

        /* A submit that still saw true happens before the run (release there, acquire here). */
        (void)atomic_exchange_explicit(&task->queued, false, memory_order_acq_rel);
        run(task); /* may submit the task again, or be the end of it */
    }
}

bool loop_has_runnable(const struct evd_loop *loop)
{
    const struct evd_task *task = loop->pending;

    while (task && loop_here.quiet && task->calls_out)
        task = task->next;
    return task || loop_has_handed_over(loop);
}

void loop_arm(struct evd_loop *loop)
{
    (void)eventfd_write(loop->wake_fd, 1); /* cannot fail: the count never gets near its limit */
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
    if (loop_has_handed_over(loop))
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
    eventfd_t count;

    loop_enter(loop);
    /* Before the tasks are taken: a push that comes later writes again. */
    (void)eventfd_read(loop->wake_fd, &count);
    loop_leave(loop);
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
    if (!newest && !evd_loop_is_inside(loop))
        loop_arm(loop);
    return true;
}

bool evd_loop_is_current(const struct evd_loop *loop)
{
    return atomic_load_explicit(&loop->owner, memory_order_relaxed) == &loop_here;
}

bool evd_loop_is_here(void)
{
    return loop_here.loops != NULL;
}

bool evd_loop_is_inside(const struct evd_loop *loop)
{
    return evd_loop_is_current(loop) && loop->depth > 0;
}
