/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_watched.h"

#include "socket/sdp_decide.h"
#include "socket/sdp_interest.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_table.h"

#include <stddef.h>

#define TOO_MANY_US 10000

bool sdp_wait_is_open(const struct sdp_agree_wait *wait, int number)
{
    return (wait->fd[0] == number || wait->fd[1] == number) && wait->timeout_us < 0;
}

static bool is_earlier(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

bool sdp_is_over(const struct timespec *deadline)
{
    struct timespec left;

    return sdp_time_left(&left, deadline) && left.tv_sec == 0 && left.tv_nsec == 0;
}

void sdp_watched_start(struct sdp_watched *watched, struct pollfd *polls)
{
    *watched = (struct sdp_watched){.polls = polls};
}

static void limit(struct sdp_watched *watched, long long microseconds)
{
    struct timespec until;

    if (sdp_deadline(&until, microseconds) &&
        (!watched->has_until || is_earlier(&until, &watched->until))) {
        watched->until = until;
        watched->has_until = true;
    }
}

void sdp_watched_add(struct sdp_watched *watched, const struct sdp_agree_wait *wait)
{
    limit(watched, wait->timeout_us);
    for (unsigned i = 0; i < 2; i++) {
        if (wait->fd[i] < 0)
            continue;
        if (watched->count + 1 < SDP_WATCHED_MAX)
            watched->polls[watched->count++] = (struct pollfd){.fd = wait->fd[i], .events = POLLIN};
        else
            limit(watched, TOO_MANY_US);
    }
}

/* ---- The undecided ones of an epoll set ------------------------------------------------------ */

/* The undecided members of a set. Each is referenced, because a step takes further locks. */
struct members {
    int set;
    unsigned count;
    bool more;
    struct sdp_socket *sockets[SDP_WATCHED_MAX];
    int numbers[SDP_WATCHED_MAX];
};

static void collect(struct sdp_socket *socket, int number, void *context)
{
    struct members *members = context;
    bool is_one;

    if (atomic_load(&socket->state) != SDP_UNDECIDED)
        return;
    (void)pthread_mutex_lock(&socket->lock);
    is_one = sdp_interested(socket, members->set);
    (void)pthread_mutex_unlock(&socket->lock);
    if (!is_one)
        return;
    if (members->count == SDP_WATCHED_MAX) {
        members->more = true;
        return;
    }
    (void)atomic_fetch_add(&socket->references, 1);
    members->sockets[members->count] = socket;
    members->numbers[members->count++] = number;
}

void sdp_watched_set(struct sdp_watched *watched, int set)
{
    struct members found = {.set = set};

    if (sdp_socket_count(SDP_UNDECIDED) == 0)
        return;
    sdp_table_lock();
    sdp_socket_each(collect, &found);
    sdp_table_unlock();
    for (unsigned i = 0; i < found.count; i++) {
        struct sdp_agree_wait wait;

        if (sdp_decide_step(found.sockets[i], SDP_POLLS, &wait) == SDP_MUST_WAIT) {
            sdp_watched_add(watched, &wait);
            if (sdp_wait_is_open(&wait, found.numbers[i]))
                sdp_decide_tell_writable(found.sockets[i]);
        }
        sdp_socket_release(found.sockets[i]);
    }
    if (found.more)
        limit(watched, TOO_MANY_US);
}

nfds_t sdp_watched_end(struct sdp_watched *watched)
{
    watched->polls[watched->count] = (struct pollfd){.fd = sdp_kick_fd(), .events = POLLIN};
    return watched->count + 1;
}

const struct timespec *sdp_watched_until(struct sdp_watched *watched,
                                         const struct timespec *deadline)
{
    if (!watched->has_until)
        return deadline;
    return deadline && is_earlier(deadline, &watched->until) ? deadline : &watched->until;
}
