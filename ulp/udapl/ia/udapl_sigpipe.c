/* SPDX-License-Identifier: BSD-2-Clause */
#include "ia/udapl_sigpipe.h"

#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next */
static unsigned ias;
static bool changed; /* this module has replaced the default */

/* With the lock held. Replaces the disposition `from`, if it is set, by `to`; then returns true. */
static bool change(void (*from)(int), void (*to)(int))
{
    struct sigaction action;

    return sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == from &&
           signal(SIGPIPE, to) != SIG_ERR;
}

void udapl_sigpipe_begin(const struct udapl_provider *provider)
{
    pthread_mutex_lock(&lock);
    ias++;
    if (provider->ignores_sigpipe && !changed)
        changed = change(SIG_DFL, SIG_IGN);
    pthread_mutex_unlock(&lock);
}

void udapl_sigpipe_end(void)
{
    pthread_mutex_lock(&lock);
    if (--ias == 0 && changed) {
        (void)change(SIG_IGN, SIG_DFL);
        changed = false;
    }
    pthread_mutex_unlock(&lock);
}
