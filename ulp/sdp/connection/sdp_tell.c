/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of poll, and notification of their changes. */
#include "connection/sdp_object.h"

#include <poll.h>

static bool is_readable(const struct sdp_connection *connection)
{
    /* At the mark, the urgent octet itself is not part of the data to read. */
    bool at_urgent = connection->mark_set && !connection->oob_inline &&
                     connection->mark == connection->rx_position;

    return connection->unread >= connection->low_water + at_urgent || connection->eof ||
           connection->no_receives || connection->error != 0;
}

static bool is_writable(const struct sdp_connection *connection)
{
    return connection->no_sends || connection->error != 0 ||
           sdp_ring_used(connection) <= connection->send_buffer / 2;
}

unsigned sdp_events_now(const struct sdp_connection *connection)
{
    bool in_over = connection->eof || connection->no_receives;

    return (is_readable(connection) ? POLLIN | POLLRDNORM : 0u) |
           (is_writable(connection) ? POLLOUT | POLLWRNORM : 0u) |
           (connection->oob_valid ? POLLPRI : 0u) | (in_over ? POLLRDHUP : 0u) |
           (in_over && connection->no_sends ? POLLHUP : 0u) |
           (connection->error != 0 ? POLLERR : 0u);
}

bool sdp_tell(struct sdp_connection *connection)
{
    struct sdp_notify notify = connection->notify;
    unsigned events, elsewhere;
    bool told = false;
    bool news;

    if (connection->telling) /* that thread checks again */
        return false;
    while (notify.changed && connection->watch != SDP_WATCH_NOTHING) {
        events = sdp_events_now(connection);
        news = connection->news && connection->watch == SDP_WATCH_NEWS;
        connection->news = false;
        if (events == connection->shown && !news)
            break;
        told = true;
        elsewhere = connection->lost ? SDP_ELSEWHERE : 0;
        connection->shown = events;
        connection->telling = true;
        (void)pthread_mutex_unlock(&connection->lock);
        notify.changed(notify.context, events | (news ? SDP_NEWS : 0) | elsewhere);
        (void)pthread_mutex_lock(&connection->lock);
        connection->telling = false;
        notify = connection->notify;
        sdp_wake_waiters(connection); /* sdp_close may wait for this */
    }
    return told;
}
