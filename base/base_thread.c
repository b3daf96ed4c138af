/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_thread.h"

#include <signal.h>
#include <stddef.h>

static const int thread_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

int base_thread_create(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t blocked;
    sigset_t before;
    int error;

    (void)sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(thread_faults) / sizeof(thread_faults[0]); i++)
        (void)sigdelset(&blocked, thread_faults[i]);
    /* The new thread inherits this mask. */
    error = pthread_sigmask(SIG_SETMASK, &blocked, &before);
    if (error)
        return error;
    error = pthread_create(thread, NULL, run, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* restores the caller's mask */
    return error;
}
