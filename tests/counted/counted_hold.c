/* SPDX-License-Identifier: BSD-2-Clause */
#include "counted/counted_hold.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned inside; /* threads in epoll_wait */
static bool held;

/* libevent waits here, the data path does not: it enters epoll_pwait(2) by syscall(2). */
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms)
{
    int result;
    int error;

    (void)pthread_mutex_lock(&lock);
    inside++;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    result = epoll_pwait(fd, events, count, timeout_ms, NULL);
    error = errno;
    (void)pthread_mutex_lock(&lock);
    while (held)
        (void)pthread_cond_wait(&changed, &lock);
    inside--;
    (void)pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

void counted_hold(unsigned threads)
{
    (void)pthread_mutex_lock(&lock);
    held = true;
    while (inside < threads)
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
}

void counted_release(void)
{
    (void)pthread_mutex_lock(&lock);
    held = false;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}
