/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_interrupt.h"

#include "common/output.h"
#include "common/report.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static sigset_t signals;
static void (*write_results)(void *context);
static void *write_context;

static void *wait_for_signal(void *unused)
{
    int number = 0;

    (void)unused;
    if (sigwait(&signals, &number) != 0)
        return NULL;
    perf_interrupt_hold();
    write_results(write_context);
    /* Other threads still run, so nothing may be cleaned up. */
    _exit(output_end(128 + number));
}

bool perf_interrupt_watch(void (*write)(void *context), void *context)
{
    pthread_t thread;

    write_results = write;
    write_context = context;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    if (pthread_sigmask(SIG_BLOCK, &signals, NULL) == 0 &&
        pthread_create(&thread, NULL, wait_for_signal, NULL) == 0 && pthread_detach(thread) == 0)
        return true;
    complain("no thread could be made");
    return false;
}

void perf_interrupt_hold(void)
{
    (void)pthread_mutex_lock(&changing);
}

void perf_interrupt_release(void)
{
    (void)pthread_mutex_unlock(&changing);
}
