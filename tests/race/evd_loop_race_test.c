/* SPDX-License-Identifier: BSD-2-Clause */
/* Submits and calls from several threads: each accepted submit runs once, before a later call. */
#include "evd/loop/evd_loop.h"

#include "support/check.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define THREADS 3
#define SUBMITS 50000

static struct evd_loop *loop;
static struct evd_task shared_task;
static long shared_runs; /* used by the loop's thread only */
static _Atomic long shared_submits;

struct submitter {
    struct evd_task task;
    pthread_t thread;
    long written; /* set by the submitter before a submit, read by the task */
    long seen;    /* used by the loop's thread only */
    long runs;    /* used by the loop's thread only */
};

static void run_own(struct evd_task *task)
{
    struct submitter *submitter = (struct submitter *)task;

    submitter->runs++;
    CHECK(evd_loop_is_current(loop));
}

static void run_shared(struct evd_task *task)
{
    (void)task;
    shared_runs++;
}

static void read_written(void *argument)
{
    struct submitter *submitter = argument;

    submitter->seen = submitter->written;
}

static void *submit(void *argument)
{
    struct submitter *submitter = argument;
    long accepted = 0;

    for (long i = 0; i < SUBMITS; i++) {
        accepted += evd_loop_submit(loop, &submitter->task);
        if (evd_loop_submit(loop, &shared_task))
            atomic_fetch_add(&shared_submits, 1);
        if (i % 100 != 0)
            continue;
        submitter->written = i;
        evd_loop_call(loop, read_written, submitter);
        CHECK(submitter->seen == i);
        CHECK(submitter->runs == accepted); /* the loop does not touch it until the next submit */
    }
    return NULL;
}

/* ---------------------------------------------------------------- loops that call each other */

#define LOOPS 3
#define CALLS 5000

struct caller {
    struct evd_task task;
    struct evd_loop *loop;
    struct evd_loop *next;
    long calls;   /* used by its own loop only */
    long answers; /* used by its own loop only */
    _Atomic bool done;
};

static struct caller callers[LOOPS];

static void answer(void *argument)
{
    struct caller *caller = argument;

    CHECK(evd_loop_is_current(caller->loop));
    caller->answers++;
}

/*
 * All loops call at the same time, in a circle: each waits for the next one, which waits as well.
 */
static void call_next(struct evd_task *task)
{
    struct caller *caller = (struct caller *)task;
    struct caller *next = &callers[(caller - callers + 1) % LOOPS];

    evd_loop_call(next->loop, answer, next);
    if (++caller->calls < CALLS)
        CHECK(evd_loop_submit(caller->loop, &caller->task));
    else
        atomic_store(&caller->done, true);
}

static void circle(void)
{
    for (int i = 0; i < LOOPS; i++) {
        callers[i] = (struct caller){.task = {.run = call_next, .calls_out = true}};
        CHECK(evd_loop_start(&callers[i].loop, "itapi-race") == IT_SUCCESS);
    }
    for (int i = 0; i < LOOPS; i++)
        CHECK(evd_loop_submit(callers[i].loop, &callers[i].task));
    for (int i = 0; i < LOOPS; i++) {
        while (!atomic_load(&callers[i].done))
            sched_yield();
    }
    for (int i = 0; i < LOOPS; i++)
        evd_loop_stop(callers[i].loop);
    for (int i = 0; i < LOOPS; i++)
        CHECK(callers[i].answers == CALLS);
}

int main(void)
{
    static struct submitter submitters[THREADS];

    for (int round = 0; round < 3; round++) {
        CHECK(evd_loop_start(&loop, "itapi-race") == IT_SUCCESS);
        shared_task.run = run_shared;
        shared_runs = 0;
        atomic_store(&shared_submits, 0);
        for (int i = 0; i < THREADS; i++) {
            submitters[i] = (struct submitter){.task = {.run = run_own}};
            CHECK(pthread_create(&submitters[i].thread, NULL, submit, &submitters[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(submitters[i].thread, NULL);
        evd_loop_stop(loop);
        CHECK(shared_runs == atomic_load(&shared_submits));
    }
    puts("tasks and calls: ok");
    circle();
    puts("calls in a circle: ok");
    return 0;
}
