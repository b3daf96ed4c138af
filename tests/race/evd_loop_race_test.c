/* SPDX-License-Identifier: BSD-2-Clause */
/* Submits and calls from several threads: each accepted submit runs once, before a later call. */
#include "evd/evd_loop.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS      3
#define SUBMITS      50000
#define HANG_SECONDS 100

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static struct evd_loop *loop;
static struct evd_task shared_task;
static long shared_runs; /* loop's thread only */
static _Atomic long shared_submits;

struct submitter {
    struct evd_task task;
    pthread_t thread;
    long written; /* by the submitter before a submit, read by the task */
    long seen;    /* loop's thread only */
    long runs;    /* loop's thread only */
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

int main(void)
{
    static struct submitter submitters[THREADS];

    alarm(HANG_SECONDS);
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
    puts("ok");
    return 0;
}
