/* SPDX-License-Identifier: BSD-2-Clause */
#include "adapter/exs_thread.h"

#include <signal.h>

int exs_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    pthread_t started;
    sigset_t all;
    sigset_t before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread ? thread : &started, NULL, run, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        (void)pthread_detach(thread ? *thread : started);
    return error;
}
