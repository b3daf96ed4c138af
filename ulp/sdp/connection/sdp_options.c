/* SPDX-License-Identifier: BSD-2-Clause */
/* Options and properties of a socket. */
#include "connection/sdp_object.h"

#include <errno.h>
#include <poll.h>

#define CONVERSION_S 5

unsigned sdp_events(struct sdp_connection *connection)
{
    int error = sdp_enter(connection);
    unsigned events;

    if (error != 0)
        return error == EBADF ? SDP_ELSEWHERE | POLLERR | POLLHUP | POLLIN | POLLOUT : 0;
    /* Otherwise a thread that sleeps in a poll reads before it sleeps (sdp_lead_begin). */
    if (sdp_adapter_get()->device)
        (void)sdp_take(connection);
    sdp_push(connection);
    events = sdp_events_now(connection);
    sdp_leave(connection);
    return events;
}

void sdp_watch(struct sdp_connection *connection, enum sdp_watch watch)
{
    if (sdp_enter(connection) != 0)
        return;
    connection->watch = watch;
    sdp_leave(connection);
}

int sdp_error(struct sdp_connection *connection)
{
    int error = sdp_enter(connection);

    if (error != 0)
        return error;
    (void)sdp_take(connection);
    error = connection->error;
    connection->error = 0;
    sdp_leave(connection);
    return error;
}

size_t sdp_unread(struct sdp_connection *connection)
{
    size_t unread;

    if (sdp_enter(connection) != 0)
        return 0;
    (void)sdp_take(connection);
    unread = connection->unread;
    /* As SIOCINQ: counts the octets before the mark, if that has not been reached. */
    if (connection->mark_set && connection->mark > connection->rx_position)
        unread = (size_t)(connection->mark - connection->rx_position);
    sdp_leave(connection);
    return unread;
}

size_t sdp_unsent(struct sdp_connection *connection)
{
    size_t unsent;

    if (sdp_enter(connection) != 0)
        return 0;
    (void)sdp_take(connection);
    unsent = sdp_ring_used(connection);
    sdp_leave(connection);
    return unsent;
}

bool sdp_at_mark(struct sdp_connection *connection)
{
    bool at;

    if (sdp_enter(connection) != 0)
        return false;
    at = connection->mark_set && connection->mark == connection->rx_position;
    sdp_leave(connection);
    return at;
}

bool sdp_is_closed(struct sdp_connection *connection)
{
    const struct sdp_machine *machine = &connection->machine;
    bool closed;

    (void)pthread_mutex_lock(&connection->lock);
    closed =
        connection->failed || (connection->ended && machine->got_disconn && machine->sent_disconn);
    (void)pthread_mutex_unlock(&connection->lock);
    return closed;
}

int sdp_set_option(struct sdp_connection *connection, enum sdp_option option, int value)
{
    int error = sdp_enter(connection);

    if (error != 0)
        return -error;
    switch (option) {
    case SDP_CORK:
        connection->cork = value != 0;
        break;
    case SDP_OOB_INLINE:
        connection->oob_inline = value != 0;
        break;
    case SDP_LOW_WATER:
        connection->low_water = value > 0 ? (size_t)value : 1;
        break;
    case SDP_SEND_BUFFER:
        connection->send_buffer = value > 4096 ? (size_t)value : 4096;
        if (connection->send_buffer > connection->ring_size)
            connection->send_buffer = connection->ring_size;
        break;
    case SDP_ZCOPY_FROM:
        connection->zcopy_from = value > 0 ? (size_t)value : 0;
        break;
    }
    connection->more = false;
    sdp_leave(connection);
    return 0;
}

void sdp_counters(struct sdp_connection *connection, struct sdp_counters *counters)
{
    static const char modes[SDP_MODES] = {'b', 'c', 'p'};

    (void)pthread_mutex_lock(&connection->lock);
    *counters = connection->counters;
    counters->mode[0] = modes[connection->machine.tx_mode];
    counters->mode[1] = modes[connection->machine.rx_mode];
    (void)pthread_mutex_unlock(&connection->lock);
}

/* ---- Options of the TCP stream below -------------------------------------------------------- */

/* Waits for the stream. Both ends have agreed already, so it takes a round trip. */
static void await_stream(struct sdp_connection *connection)
{
    struct timespec deadline;
    int error = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += CONVERSION_S;
    while (!connection->live && !connection->ended && error != EAGAIN && error != EBADF)
        error = sdp_wait(connection, &deadline);
}

/* Returns 0 if the connection and its stream exist; -ENOTCONN: the stream has ended. */
static int have_stream(struct sdp_connection *connection)
{
    int error = sdp_enter(connection);
    bool live;

    if (error != 0)
        return -error;
    await_stream(connection);
    live = connection->live && !connection->ended;
    sdp_leave(connection);
    return live ? 0 : -ENOTCONN;
}

static int errno_of(it_status_t status)
{
    if (status == IT_SUCCESS)
        return 0;
    if (status == IT_ERR_OP_NOT_SUPPORTED)
        return -EOPNOTSUPP;
    if (status == IT_ERR_INVALID_EP_STATE)
        return -ENOTCONN;
    return status == IT_ERR_RANGE ? -ENOPROTOOPT : -EINVAL;
}

int sdp_get_stream_option(struct sdp_connection *connection, int level, int name, void *value,
                          socklen_t *length)
{
    int error = have_stream(connection);

    return error ? error
                 : errno_of(itx_ep_get_stream_option(connection->ep, level, name, value, length));
}

/* Options that would change how the stream is read and written are accepted without effect. */
int sdp_set_stream_option(struct sdp_connection *connection, int level, int name, const void *value,
                          socklen_t length)
{
    int error = have_stream(connection);
    char before[256];
    socklen_t room = sizeof(before);

    if (error != 0)
        return error;
    error = errno_of(itx_ep_set_stream_option(connection->ep, level, name, value, length));
    if (error != -EOPNOTSUPP)
        return error == -ENOPROTOOPT ? -EINVAL : error;
    error = errno_of(itx_ep_get_stream_option(connection->ep, level, name, before, &room));
    return error == -EOPNOTSUPP ? 0 : error;
}
