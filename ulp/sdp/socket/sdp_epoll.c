/* SPDX-License-Identifier: BSD-2-Clause */
/* epoll: the kernel's, in whose sets faces represent converted sockets. */
#include "connection/sdp_connection.h"
#include "guard/sdp_guard.h"
#include "socket/sdp_behind.h"
#include "socket/sdp_calls.h"
#include "socket/sdp_decide.h"
#include "socket/sdp_forked.h"
#include "socket/sdp_interest.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_swap.h"
#include "socket/sdp_table.h"
#include "socket/sdp_watched.h"

#include <errno.h>
#include <limits.h>

#define EVENTS_MAX (INT_MAX / (int)sizeof(struct epoll_event)) /* the kernel's limit of a call */

/* Returns true if the face shows all that the interest asks for, as soon as it happens. */
static bool is_shown(struct sdp_socket *socket, const struct epoll_event *event)
{
    bool shown;

    if (atomic_load(&socket->state) != SDP_CONVERTED || event->events & EPOLLET ||
        sdp_forked_ever())
        return false;
    (void)pthread_mutex_lock(&socket->lock);
    shown = !socket->behind && !socket->wants_news;
    (void)pthread_mutex_unlock(&socket->lock);
    return shown;
}

int sdp_wait_epoll_control(int set, int operation, int number, struct epoll_event *event)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    struct sdp_agree_wait wait;
    int result;

    if (!socket) {
        if (sdp_table_kind(number) == SDP_NUMBER_EPOLL)
            sdp_forked_nest();
        return SDP_KERNEL;
    }
    result = sdp_interest_change(socket, set, operation, number, event);
    if (result == 0 && operation != EPOLL_CTL_DEL && !is_shown(socket, event))
        switch (sdp_decide_step(socket, SDP_POLLS, &wait)) {
        case SDP_BY_KERNEL:
            break;
        case SDP_BY_CONNECTION:
            sdp_swap_watch(socket);
            (void)sdp_swap_show(socket);
            break;
        case SDP_MUST_WAIT:
            if (sdp_wait_is_open(&wait, number))
                sdp_decide_tell_writable(socket);
            sdp_interests_wake(socket); /* waiting threads watch the socket from now on */
            break;
        }
    sdp_socket_release(socket);
    return result;
}

/* Removes the events by which this library wakes threads. */
static int without_wakes(struct epoll_event *events, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++)
        if (events[i].data.ptr != &sdp_interest_wake_mark)
            events[kept++] = events[i];
    return kept;
}

/*
 * Adds the kernel's events to those that the thread has taken itself. A socket may have both.
 * Returns how many there are, at most `room`, or -errno.
 */
static int add_kernels(const struct sdp_harvest *taken, int room)
{
    struct epoll_event *more = taken->events + taken->count;
    int count = epoll_wait(taken->set, more, room - taken->count, 0);
    int kept = taken->count;

    if (count < 0)
        return taken->count > 0 ? taken->count : -errno;
    for (int i = 0; i < count; i++) {
        int j = 0;

        while (j < taken->count && taken->events[j].data.u64 != more[i].data.u64)
            j++;
        if (j < taken->count)
            taken->events[j].events |= more[i].events;
        else
            taken->events[kept++] = more[i];
    }
    return kept;
}

/*
 * Sleeps in a poll of the set, of what its undecided sockets wait for, and of the connections'
 * descriptor.
 */
static int wait_beside(int set, struct epoll_event *events, int count,
                       const struct timespec *deadline, const sigset_t *mask)
{
    struct pollfd polls[1 + SDP_WATCHED_MAX + 1] = {{.fd = set, .events = POLLIN}};
    struct sdp_harvest taken = {.set = set, .events = events, .room = count};
    struct sdp_watched watched;
    const struct timespec *until;
    int slept;
    int result;

    sdp_behind_catch_up();
    sdp_forked_wait(set);
    sdp_watched_start(&watched, &polls[1]);
    sdp_watched_set(&watched, set);
    until = sdp_watched_until(&watched, deadline);
    slept = sdp_sleep_leading(polls, 1 + sdp_watched_end(&watched), until, mask, &taken);
    if (taken.count > 0 && polls[0].revents == 0)
        return taken.count; /* the set has no other events */
    result = add_kernels(&taken, count);
    return result == 0 && slept < 0 ? slept : result;
}

static int wait_once(int set, struct epoll_event *events, int count,
                     const struct timespec *deadline, const sigset_t *mask)
{
    if (sdp_socket_count(SDP_UNDECIDED) > 0 || sdp_socket_count(SDP_CONVERTED) > 0)
        return wait_beside(set, events, count, deadline, mask);
    return sdp_sleep_epoll(set, events, count, deadline, mask);
}

/* Like the kernel, notices that the array is missing when there is an event. */
static int wait_for_nowhere(int set, const struct timespec *deadline, const sigset_t *mask)
{
    struct epoll_event event = {0};
    int result = sdp_wait_epoll(set, &event, 1, deadline, mask);

    return result > 0 ? -EFAULT : result;
}

int sdp_wait_epoll(int set, struct epoll_event *events, int count, const struct timespec *deadline,
                   const sigset_t *mask)
{
    struct epoll_event first;
    int result;

    if (sdp_table_kind(set) != SDP_NUMBER_EPOLL || !events || count <= 0 || count > EVENTS_MAX)
        return SDP_KERNEL;
    if (!sdp_guard_copy(&first, events, sizeof(first)))
        return wait_for_nowhere(set, deadline, mask);
    sdp_kick_begin();
    sdp_interests_settle();
    do {
        sdp_kick_notice();
        result = wait_once(set, events, count, deadline, mask);
        if (result > 0)
            result = sdp_interests_correct(set, events, without_wakes(events, result));
    } while (result == 0 && !sdp_is_over(deadline));
    sdp_kick_end();
    if (result <= 0)
        events[0] = first; /* nothing is reported, so the array must be unchanged */
    return result;
}
