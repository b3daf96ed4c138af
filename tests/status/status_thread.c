/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/status_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "support/it_fixture.h"

struct task {
    it_evd_handle_t evd;
    pthread_t caller;
    int caller_id;
    atomic_int id;
};

static struct task task;

static void start(void *(*run)(void *), it_evd_handle_t evd)
{
    pthread_t thread;

    task.evd = evd;
    task.caller = pthread_self();
    task.caller_id = fx_thread_id();
    atomic_store(&task.id, 0);
    CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
}

static void *wait_forever(void *none)
{
    it_event_t event;

    atomic_store(&task.id, fx_thread_id());
    EXPECT_STATUS(IT_ERR_ABORT, it_evd_wait(task.evd, IT_TIMEOUT_INFINITE, &event, NULL));
    return none;
}

void status_thread_waits(it_evd_handle_t evd)
{
    start(wait_forever, evd);
    FX_WAIT_WHILE(atomic_load(&task.id) == 0, "the waiter");
    fx_thread_sleeps(atomic_load(&task.id));
}

static void *free_evd(void *none)
{
    fx_thread_sleeps(task.caller_id);
    EXPECT_OK(it_evd_free(task.evd));
    return none;
}

void status_thread_frees(it_evd_handle_t evd)
{
    start(free_evd, evd);
}

static void ignore(int number)
{
    (void)number;
}

static void *interrupt(void *none)
{
    fx_thread_sleeps(task.caller_id);
    CHECK(pthread_kill(task.caller, SIGUSR1) == 0);
    return none;
}

void status_thread_interrupts(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = ignore;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    start(interrupt, NULL);
}
