/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_forked.h"

#include "socket/sdp_interest.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_swap.h"
#include "socket/sdp_table.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>

static atomic_uint forks;
static atomic_bool nested; /* sets are nested, so it is unknown which one waits for what */

/* The set for which this thread has taken over the connections since that fork. */
static __thread struct {
    unsigned forks;
    int set;
} taken __attribute__((tls_model("initial-exec")));

/* Reads the events of the wanted sockets, which claims their connections for this process. */
static void take_over(bool (*wanted)(struct sdp_socket *socket, int set), int set)
{
    for (int number = sdp_table_next(0, INT_MAX); number >= 0;
         number = sdp_table_next((unsigned)number + 1, INT_MAX)) {
        struct sdp_socket *socket = sdp_socket_hold(number);

        if (!socket)
            continue;
        if (atomic_load(&socket->state) == SDP_CONVERTED && wanted(socket, set))
            (void)sdp_swap_show(socket);
        sdp_socket_release(socket);
    }
}

static bool is_in_set(struct sdp_socket *socket, int set)
{
    bool result;

    (void)pthread_mutex_lock(&socket->lock);
    result = sdp_interested(socket, set) || (atomic_load(&nested) && socket->interests_count > 0);
    (void)pthread_mutex_unlock(&socket->lock);
    return result;
}

void sdp_forked_wait(int set)
{
    static const struct timespec now = {0, 0};
    const unsigned since = atomic_load(&forks);
    struct pollfd poll = {.fd = set, .events = POLLIN};

    if (since == 0 || (taken.forks == since && taken.set == set) ||
        sdp_kernel_ppoll(&poll, 1, &now, NULL) > 0)
        return;
    take_over(is_in_set, set);
    taken.forks = since;
    taken.set = set;
}

void sdp_forked_nest(void)
{
    atomic_store(&nested, true);
}

/* Signals go to the process that has asked for them. */
static bool sends_signals(struct sdp_socket *socket, int set)
{
    (void)set;
    return (atomic_load(&socket->flags) & O_ASYNC) != 0;
}

bool sdp_forked_ever(void)
{
    return atomic_load(&forks) > 0;
}

void sdp_forked(bool child)
{
    if (sdp_socket_count(SDP_CONVERTED) == 0)
        return;
    (void)atomic_fetch_add(&forks, 1);
    if (child)
        return;
    take_over(sends_signals, -1);
    sdp_kick(); /* threads that sleep take over what they wait for */
}
