/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ofa_watch.h"

#include "support/ofa_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct ofa_watch *watches;
static struct ofa_watch *running;
static int epoll_fd = -1;
static bool started; /* the thread, in this process */

/* ---- The thread ----------------------------------------------------------------------------- */

static bool is_open_locked(const struct ofa_watch *watch)
{
    const struct ofa_watch *one = watches;

    while (one && one != watch)
        one = one->next;
    return one != NULL;
}

/* Gets one event at a time, so that no later event can name a closed watch. */
static void *thread_main(void *argument)
{
    struct epoll_event event;

    (void)argument;
    for (;;) {
        if (epoll_wait(epoll_fd, &event, 1, -1) != 1)
            continue;
        (void)pthread_mutex_lock(&lock);
        if (is_open_locked(event.data.ptr)) {
            running = event.data.ptr;
            (void)pthread_mutex_unlock(&lock);
            running->callback(running);
            (void)pthread_mutex_lock(&lock);
            running = NULL;
            (void)pthread_cond_broadcast(&ended);
        }
        (void)pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* Starts the thread, also in the child of a fork. Returns 0 or errno. */
static int start_locked(void)
{
    int error;

    if (started)
        return 0;
    if (epoll_fd < 0)
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0)
        return errno;
    error = ofa_thread_start(thread_main);
    started = error == 0;
    return error;
}

/* ---- Processes that fork --------------------------------------------------------------------- */

static void lock_watches(void)
{
    (void)pthread_mutex_lock(&lock);
}

static void unlock_watches(void)
{
    (void)pthread_mutex_unlock(&lock);
}

/* In the child: the thread exists only in the parent, which goes on with the epoll instance. */
static void begin_anew(void)
{
    if (epoll_fd >= 0)
        (void)close(epoll_fd);
    epoll_fd = -1;
    running = NULL;
    started = false;
    unlock_watches();
}

void ofa_watch_survive_fork(void)
{
    (void)pthread_atfork(lock_watches, unlock_watches, begin_anew);
}

/* ---- Watches -------------------------------------------------------------------------------- */

static int arm_locked(struct ofa_watch *watch)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = watch};
    int error = start_locked();

    if (error != 0)
        return error;
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) == 0 ||
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0)
        return 0;
    return errno;
}

int ofa_watch_open(struct ofa_watch *watch)
{
    int error;

    (void)pthread_mutex_lock(&lock);
    error = arm_locked(watch);
    if (error == 0) {
        watch->next = watches;
        watches = watch;
    }
    (void)pthread_mutex_unlock(&lock);
    return error;
}

void ofa_watch_arm(struct ofa_watch *watch)
{
    (void)pthread_mutex_lock(&lock);
    (void)arm_locked(watch);
    (void)pthread_mutex_unlock(&lock);
}

void ofa_watch_close(struct ofa_watch *watch)
{
    struct ofa_watch **link = &watches;

    (void)pthread_mutex_lock(&lock);
    while (*link != watch)
        link = &(*link)->next;
    *link = watch->next;
    while (running == watch)
        (void)pthread_cond_wait(&ended, &lock);
    (void)epoll_ctl(epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    (void)pthread_mutex_unlock(&lock);
}
