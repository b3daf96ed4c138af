/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_region.h"

#include "socket/sdp_behind.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

__thread struct sdp_thread sdp_thread __attribute__((tls_model("initial-exec")));

static void nothing(void)
{
}
void (*sdp_run_deferred)(void) = nothing;
int (*sdp_kernel_ppoll)(struct pollfd *polls, nfds_t count, const struct timespec *limit,
                        const sigset_t *mask) = ppoll;
int (*sdp_kernel_epoll_pwait)(int set, struct epoll_event *events, int count, int limit_ms,
                              const sigset_t *mask) = epoll_pwait;

const struct timespec *sdp_deadline(struct timespec *deadline, long long microseconds)
{
    if (microseconds < 0)
        return NULL;
    (void)clock_gettime(CLOCK_MONOTONIC, deadline);
    deadline->tv_sec += microseconds / 1000000;
    deadline->tv_nsec += microseconds % 1000000 * 1000;
    if (deadline->tv_nsec >= NS_PER_S) {
        deadline->tv_nsec -= NS_PER_S;
        deadline->tv_sec++;
    }
    return deadline;
}

const struct timespec *sdp_time_left(struct timespec *left, const struct timespec *deadline)
{
    if (!deadline)
        return NULL;
    (void)clock_gettime(CLOCK_MONOTONIC, left);
    left->tv_sec = deadline->tv_sec - left->tv_sec;
    left->tv_nsec = deadline->tv_nsec - left->tv_nsec;
    if (left->tv_nsec < 0) {
        left->tv_nsec += NS_PER_S;
        left->tv_sec--;
    }
    if (left->tv_sec < 0)
        *left = (struct timespec){0};
    return left;
}

/*
 * Leaves the region before a sleep. Returns false if a deferred handler has run, so that the caller
 * must not sleep.
 */
static bool step_out(unsigned *depth)
{
    *depth = sdp_thread.depth;
    sdp_thread.depth = 0;
    if (!sdp_thread.deferred)
        return true;
    sdp_run_deferred();
    return false;
}

int sdp_sleep(struct pollfd *polls, nfds_t count, const struct timespec *deadline,
              const sigset_t *mask)
{
    struct timespec left;
    const struct timespec *limit = sdp_time_left(&left, deadline);
    int result = -EINTR;
    unsigned depth;

    if (step_out(&depth)) {
        result = sdp_kernel_ppoll(polls, count, limit, mask);
        result = result < 0 ? -errno : result;
    }
    sdp_thread.depth = depth;
    return result;
}

int sdp_sleep_leading(struct pollfd *polls, nfds_t count, const struct timespec *deadline,
                      const sigset_t *mask, struct sdp_harvest *harvest)
{
    int fd = sdp_lead_begin();
    int result;

    if (fd < 0)
        return sdp_sleep(polls, count, deadline, mask);
    polls[count] = (struct pollfd){.fd = fd, .events = POLLIN};
    result = sdp_sleep(polls, count + 1, deadline, mask);
    /* A set that is ready has events besides: they get their share of the room. */
    if (polls[0].revents != 0)
        harvest->room /= 2;
    sdp_behind_harvest(harvest);
    sdp_lead_end(result > 0 && polls[count].revents != 0);
    sdp_behind_harvest(NULL);
    return result;
}

/* Rounded up, so that no thread wakes too early. */
static int milliseconds_left(const struct timespec *deadline)
{
    struct timespec left;

    if (!sdp_time_left(&left, deadline))
        return -1;
    if (left.tv_sec >= INT_MAX / 1000)
        return INT_MAX;
    return (int)(left.tv_sec * 1000 + (left.tv_nsec + 999999) / 1000000);
}

int sdp_sleep_epoll(int set, struct epoll_event *events, int count, const struct timespec *deadline,
                    const sigset_t *mask)
{
    int limit = milliseconds_left(deadline);
    int result = -EINTR;
    unsigned depth;

    if (step_out(&depth)) {
        result = sdp_kernel_epoll_pwait(set, events, count, limit, mask);
        result = result < 0 ? -errno : result;
    }
    sdp_thread.depth = depth;
    return result;
}

/* ---- Kicks ---------------------------------------------------------------------------------- */

static _Atomic int kick_fd = -1;
static pthread_mutex_t kick_lock = PTHREAD_MUTEX_INITIALIZER; /* no other one is taken inside */
static atomic_uint sleepers;                                  /* changed with kick_lock */
static atomic_uint kicks;                                     /* the same */
static unsigned deaf; /* sleepers that have not noticed the last kick; with kick_lock */

int sdp_kick_fd(void)
{
    int fd = atomic_load(&kick_fd);

    if (fd < 0) {
        int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

        if (made < 0)
            return -1;
        if (atomic_compare_exchange_strong(&kick_fd, &fd, made))
            return made;
        (void)close(made);
    }
    return fd;
}

/* Called with kick_lock. The last one that notices a kick clears it. */
static void notice(void)
{
    int fd = atomic_load(&kick_fd);
    uint64_t count;

    if (sdp_thread.kicks == atomic_load(&kicks))
        return;
    sdp_thread.kicks = atomic_load(&kicks);
    if (--deaf == 0)
        (void)!read(fd, &count, sizeof(count));
}

/* A handler that has interrupted a sleep may sleep, too: the thread counts once. */
void sdp_kick_begin(void)
{
    (void)pthread_mutex_lock(&kick_lock);
    if (sdp_thread.sleeps++ == 0) {
        (void)atomic_fetch_add(&sleepers, 1);
        sdp_thread.kicks = atomic_load(&kicks);
    }
    (void)pthread_mutex_unlock(&kick_lock);
}

void sdp_kick_notice(void)
{
    if (sdp_thread.kicks == atomic_load(&kicks))
        return;
    (void)pthread_mutex_lock(&kick_lock);
    notice();
    (void)pthread_mutex_unlock(&kick_lock);
}

void sdp_kick_end(void)
{
    (void)pthread_mutex_lock(&kick_lock);
    notice();
    if (--sdp_thread.sleeps == 0)
        (void)atomic_fetch_sub(&sleepers, 1);
    (void)pthread_mutex_unlock(&kick_lock);
}

unsigned sdp_kick_sleepers(void)
{
    return atomic_load(&sleepers);
}

void sdp_kick(void)
{
    uint64_t one = 1;
    int fd;

    (void)pthread_mutex_lock(&kick_lock);
    fd = atomic_load(&kick_fd);
    if (fd >= 0 && atomic_load(&sleepers) > 0) {
        (void)atomic_fetch_add(&kicks, 1);
        deaf = atomic_load(&sleepers);
        (void)!write(fd, &one, sizeof(one));
    }
    (void)pthread_mutex_unlock(&kick_lock);
}

/* The descriptor is shared with the parent: the child makes a new one when it needs it. */
void sdp_kick_after_fork(void)
{
    int fd = atomic_exchange(&kick_fd, -1);

    (void)pthread_mutex_init(&kick_lock, NULL);
    if (fd >= 0)
        (void)close(fd);
    atomic_store(&sleepers, sdp_thread.sleeps > 0);
    sdp_thread.kicks = atomic_load(&kicks);
    deaf = 0;
}
