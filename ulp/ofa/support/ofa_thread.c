/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ofa_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

int ofa_thread_start(void *(*run)(void *argument))
{
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, run, NULL);
    if (error == 0)
        (void)pthread_detach(thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
