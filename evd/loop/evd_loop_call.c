/* SPDX-License-Identifier: BSD-2-Clause */
/* Running a function on another thread's loop, and waiting for its end. */
#include "evd/loop/evd_loop_private.h"

#include "base/base_call.h"

/*
 * One such call; on the stack of the caller, the thread that waits. The caller may have loops of
 * its own. Their work goes on while it waits: otherwise two threads that call into each other's
 * loops would wait for ever. A function that uses data of the caller's loops sets .holds. Before
 * it runs, the other thread asks the caller (.asked) to leave its loops alone, and waits until the
 * caller confirms this (.held). From then on the caller only waits for .done.
 */
struct loop_call {
    struct evd_task task;
    struct evd_loop *loop;
    void (*function)(void *argument);
    void *argument;
    bool holds;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool asked;
    bool held;
    bool done;
    int kick_fd; /* eventfd that the caller polls; -1: it waits for .changed */
};

static void loop_call_wake_locked(struct loop_call *call)
{
    if (call->kick_fd >= 0)
        base_event_raise(call->kick_fd);
    else
        pthread_cond_signal(&call->changed);
}

/*
 * Waits until the caller works for no loop. It always comes to that: while it serves its loops, it
 * runs nothing that could wait for this thread.
 */
static void loop_call_hold(struct loop_call *call)
{
    pthread_mutex_lock(&call->lock);
    call->asked = true;
    loop_call_wake_locked(call);
    while (!call->held)
        pthread_cond_wait(&call->changed, &call->lock);
    pthread_mutex_unlock(&call->lock);
}

static void loop_call_finish(struct loop_call *call)
{
    if (call->holds)
        loop_call_hold(call);
    call->function(call->argument);
    /* *call is gone when the caller sees .done: so the signal comes before the lock is dropped. */
    pthread_mutex_lock(&call->lock);
    call->done = true;
    loop_call_wake_locked(call);
    pthread_mutex_unlock(&call->lock);
}

static void loop_call_run(struct evd_task *task)
{
    loop_call_finish((struct loop_call *)task);
}

void loop_call_note(struct evd_task *task)
{
    struct loop_call *call = (struct loop_call *)task;

    task->run = loop_call_run;
    call->loop->last = task;
}

static void loop_call_wait(struct evd_loop *loop, struct loop_call *call)
{
    (void)evd_loop_submit(loop, &call->task); /* a new task is never queued already */
    pthread_mutex_lock(&call->lock);
    while (!call->done) {
        /* Found anew in each round: another thread may have adopted this thread's loop. */
        call->kick_fd = evd_loop_is_here() && !call->asked ? loop_first_here()->wake_fd : -1;
        if (call->asked && !call->held) {
            call->held = true;
            pthread_cond_signal(&call->changed);
        }
        if (call->kick_fd < 0) {
            pthread_cond_wait(&call->changed, &call->lock);
            continue;
        }
        pthread_mutex_unlock(&call->lock);
        loop_serve();
        pthread_mutex_lock(&call->lock);
    }
    pthread_mutex_unlock(&call->lock);
    pthread_cond_destroy(&call->changed);
    pthread_mutex_destroy(&call->lock);
}

void loop_call(struct evd_loop *loop, void (*run)(struct evd_task *task),
               void (*function)(void *argument), void *argument, bool holds)
{
    struct loop_call call = {
        .task = {.run = run},
        .loop = loop,
        .function = function,
        .argument = argument,
        .holds = holds,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .kick_fd = -1,
    };

    if (evd_loop_is_current(loop))
        function(argument);
    else
        loop_call_wait(loop, &call);
}

void evd_loop_call(struct evd_loop *loop, void (*function)(void *argument), void *argument)
{
    loop_call(loop, loop_call_run, function, argument, false);
}

struct loop_run {
    it_status_t (*function)(void *argument);
    void *argument;
    it_status_t status;
};

static void loop_run(void *argument)
{
    struct loop_run *run = argument;

    run->status = run->function(run->argument);
}

it_status_t evd_loop_run(struct evd_loop *loop, it_status_t (*function)(void *argument),
                         void *argument)
{
    struct loop_run run = {.function = function, .argument = argument};

    evd_loop_call(loop, loop_run, &run);
    return run.status;
}
