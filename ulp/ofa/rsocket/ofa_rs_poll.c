/* SPDX-License-Identifier: BSD-2-Clause */
/* rpoll and rselect: rsockets and other descriptors together. */
#include "rsocket/ofa_rsocket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>

/* A stream polls two descriptors: its event channel and its completion channel. */
#define REAL_PER_FD 2

#define FEW 32 /* descriptors that need no heap */

/* ---- One rsocket ---------------------------------------------------------------------------- */

static short state_of(const struct rsock *rs, short wanted)
{
    unsigned found = 0;

    switch (rs->state) {
    case RS_LISTENING:
        found = rs_has_events(rs) ? POLLIN : 0;
        break;
    case RS_CONNECTED:
        found = (rs_can_receive(rs) ? POLLIN : 0) | (rs_can_send(rs) ? POLLOUT : 0);
        break;
    case RS_OVER:
        /* Programs stop at POLLHUP, so it is reported after the data were read. */
        return (short)((unsigned)(wanted & POLLIN) | (rs->ready == 0 ? POLLHUP : 0));
    case RS_FAILED:
        return (short)((unsigned)(wanted & (POLLIN | POLLOUT)) | POLLERR);
    case RS_IDLE:
    case RS_BOUND:
    case RS_CONNECTING:
    case RS_ACCEPTING:
    default:
        break;
    }
    return (short)(found & (unsigned)wanted);
}

/* Returns the events that the rsocket is ready for. arm: if there are none, arms its CQs. */
static short look(struct rsock *rs, short wanted, bool arm)
{
    short found;

    rs_progress(rs);
    found = state_of(rs, wanted);
    if (found != 0 || !arm || !rs_arm(rs, wanted & POLLOUT))
        return found;
    rs_progress(rs);
    return state_of(rs, wanted);
}

static struct rsock *stream_of(int fd)
{
    struct rsock *rs = fd < 0 ? NULL : rs_find(fd);

    return rs && rs->type == SOCK_STREAM ? rs : NULL;
}

/* ---- All of them ---------------------------------------------------------------------------- */

struct round {
    struct pollfd *fds;
    struct pollfd *real; /* REAL_PER_FD for each */
    nfds_t count;
    bool sleeps;
    uint64_t since; /* when it began to poll */
};

/* Prepares a poll. Returns 0 if it should sleep: no rsocket is ready, or polled longer. */
static int prepare(struct round *round)
{
    bool polls = false;
    int ready = 0;

    for (nfds_t i = 0; i < round->count; i++) {
        struct pollfd *real = &round->real[i * REAL_PER_FD];
        struct rsock *rs = stream_of(round->fds[i].fd);

        round->fds[i].revents = 0;
        real[0] = round->fds[i];
        real[1] = (struct pollfd){.fd = -1};
        if (!rs)
            continue;
        real[0].events = POLLIN;
        (void)pthread_mutex_lock(&rs->lock);
        polls = polls || (round->sleeps && rs_goes_on_polling(rs, &round->since));
        round->fds[i].revents = look(rs, round->fds[i].events, round->sleeps && !polls);
        if (rs->events)
            real[1] = (struct pollfd){.fd = rs->events->fd, .events = POLLIN};
        rs->pollers++;
        (void)pthread_mutex_unlock(&rs->lock);
        ready += round->fds[i].revents != 0;
    }
    return polls ? ready + 1 : ready; /* does not sleep */
}

/*
 * Takes events and returns how many descriptors are ready. If several threads sleep for an event,
 * the last one takes it, so that it wakes all of them.
 */
static int collect(struct round *round)
{
    int ready = 0;

    for (nfds_t i = 0; i < round->count; i++) {
        const struct pollfd *real = &round->real[i * REAL_PER_FD];
        struct rsock *rs = stream_of(round->fds[i].fd);

        if (!rs) {
            round->fds[i].revents = real[0].revents;
        } else {
            (void)pthread_mutex_lock(&rs->lock);
            rs->pollers--;
            if (real[1].revents != 0 && rs->pollers == 0)
                rs_take_cq_event(rs);
            round->fds[i].revents = look(rs, round->fds[i].events, false);
            (void)pthread_mutex_unlock(&rs->lock);
        }
        ready += round->fds[i].revents != 0;
    }
    return ready;
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int sleep_ms(const struct round *round, int ready, int64_t deadline)
{
    int64_t left = deadline < 0 ? -1 : deadline - now_ms();

    if (ready > 0 || !round->sleeps)
        return 0;
    if (deadline >= 0 && left < 0)
        left = 0;
    return (int)left;
}

static int poll_all(struct round *round, int timeout)
{
    int64_t deadline = timeout < 0 ? -1 : now_ms() + timeout;
    int ready;
    int found;
    int error;

    do {
        ready = prepare(round);
        found = poll(round->real, round->count * REAL_PER_FD, sleep_ms(round, ready, deadline));
        error = errno;
        ready = collect(round);
        if (found < 0) {
            errno = error;
            return -1;
        }
    } while (ready == 0 && timeout != 0 && (deadline < 0 || now_ms() < deadline));
    return ready;
}

int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
    struct round round = {.fds = fds, .count = nfds, .sleeps = timeout != 0};
    struct pollfd few[FEW * REAL_PER_FD];
    struct pollfd *many = nfds > FEW ? calloc(nfds, REAL_PER_FD * sizeof(*many)) : NULL;
    int ready;
    int error;

    if (nfds > FEW && !many) {
        errno = ENOMEM;
        return -1;
    }
    round.real = many ? many : few;
    ready = poll_all(&round, timeout);
    error = errno;
    free(many);
    errno = error;
    return ready;
}

/* ---- rselect -------------------------------------------------------------------------------- */

static bool is_in(int fd, const fd_set *set)
{
    return set && FD_ISSET(fd, set);
}

static nfds_t from_sets(int nfds, const fd_set *readfds, const fd_set *writefds,
                        const fd_set *exceptfds, struct pollfd *fds)
{
    nfds_t count = 0;

    for (int fd = 0; fd < nfds; fd++) {
        unsigned events = (is_in(fd, readfds) ? POLLIN : 0) | (is_in(fd, writefds) ? POLLOUT : 0) |
                          (is_in(fd, exceptfds) ? POLLPRI : 0);

        if (events != 0)
            fds[count++] = (struct pollfd){.fd = fd, .events = (short)events};
    }
    return count;
}

/* Keeps the descriptor in the set if it is ready. */
static int keep(int fd, fd_set *set, bool ready)
{
    if (!is_in(fd, set))
        return 0;
    if (ready)
        return 1;
    FD_CLR(fd, set);
    return 0;
}

static int timeout_of(const struct timeval *timeout)
{
    if (!timeout)
        return -1;
    if (timeout->tv_sec > INT32_MAX / 1000 - 1)
        return INT32_MAX;
    return (int)(timeout->tv_sec * 1000 + (timeout->tv_usec + 999) / 1000);
}

int rselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, struct timeval *timeout)
{
    struct pollfd fds[FD_SETSIZE];
    nfds_t count;
    int ready = 0;

    if (nfds < 0 || nfds > FD_SETSIZE) {
        errno = EINVAL;
        return -1;
    }
    count = from_sets(nfds, readfds, writefds, exceptfds, fds);
    if (rpoll(fds, count, timeout_of(timeout)) < 0)
        return -1;
    for (nfds_t i = 0; i < count; i++) {
        unsigned events = (unsigned)fds[i].revents;

        if (events & POLLNVAL) {
            errno = EBADF;
            return -1;
        }
        ready += keep(fds[i].fd, readfds, events & (POLLIN | POLLHUP | POLLERR));
        ready += keep(fds[i].fd, writefds, events & (POLLOUT | POLLERR));
        ready += keep(fds[i].fd, exceptfds, events & POLLPRI);
    }
    return ready;
}
