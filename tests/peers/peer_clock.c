/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_clock.h"

#include "peer_answer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

static int64_t peer_clock_now(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        peer_die("clock_gettime: %s", strerror(errno));
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t peer_clock_deadline(uint64_t timeout_ms)
{
    return peer_clock_now() + (int64_t)timeout_ms * NS_PER_MS;
}

static int64_t peer_clock_left(int64_t deadline)
{
    int64_t left = deadline - peer_clock_now();

    return left > 0 ? left : 0;
}

bool peer_clock_over(int64_t deadline)
{
    return peer_clock_left(deadline) == 0;
}

void peer_clock_sleep(int64_t duration_ns, int64_t deadline)
{
    int64_t left = peer_clock_left(deadline);
    struct timespec rest;

    if (duration_ns > left)
        duration_ns = left;
    rest.tv_sec = duration_ns / NS_PER_S;
    rest.tv_nsec = duration_ns % NS_PER_S;
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
}

static bool peer_clock_poll(struct pollfd *wait, nfds_t count, int64_t deadline)
{
    int result;

    do {
        int64_t left_ms = (peer_clock_left(deadline) + NS_PER_MS - 1) / NS_PER_MS;

        result = poll(wait, count, (int)left_ms);
        if (result < 0 && errno != EINTR)
            peer_die("poll: %s", strerror(errno));
    } while (result < 0 || (result == 0 && !peer_clock_over(deadline)));
    return result > 0;
}

bool peer_clock_readable(int fd, int64_t deadline)
{
    struct pollfd wait = {fd, POLLIN, 0};

    return peer_clock_poll(&wait, 1, deadline);
}

bool peer_clock_readable_either(int fd, int other, int64_t deadline, bool *first)
{
    struct pollfd wait[2] = {{fd, POLLIN, 0}, {other, POLLIN, 0}};
    bool readable = peer_clock_poll(wait, 2, deadline);

    *first = wait[0].revents != 0;
    return readable;
}
