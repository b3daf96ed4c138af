/* SPDX-License-Identifier: BSD-2-Clause */
#include "guard/sdp_guard.h"
#include "connection/sdp_zcopy.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Copied before a message is sent, so that the peer works on it while the next part is copied. */
#define COPY_MAX SDP_GATHER

#define LEND_MIN 16384u /* octets of a message from which they are not copied before */

#define AHEAD_MAX 32768u /* octets that TCP copies at a time, or none of them */

/* The position of a call in its vector. */
struct cursor {
    const struct iovec *parts;
    size_t at; /* offset in the first part */
    size_t left;
    size_t present; /* the next octets, which are not missing */
};

static bool cursor_start(struct cursor *cursor, const struct iovec *parts, int count)
{
    *cursor = (struct cursor){.parts = parts};
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len > SSIZE_MAX - cursor->left)
            return false;
        cursor->left += parts[i].iov_len;
    }
    if (count == 1)
        cursor->present = cursor->left; /* the copy finds out itself */
    return true;
}

/*
 * As TCP does, takes none of the next octets if one of them is missing, in whichever part. Returns
 * false then.
 */
static bool look_ahead(struct cursor *cursor)
{
    size_t left = cursor->left < AHEAD_MAX ? cursor->left : AHEAD_MAX;
    size_t at = cursor->at;

    if (cursor->present > 0)
        return true;
    cursor->present = left;
    for (const struct iovec *part = cursor->parts; left > 0; part++, at = 0) {
        size_t octets = part->iov_len - at < left ? part->iov_len - at : left;

        if (!sdp_guard_present((char *)part->iov_base + at, octets, false))
            return false;
        left -= octets;
    }
    return true;
}

static void cursor_advance(struct cursor *cursor, size_t octets)
{
    cursor->at += octets;
    cursor->left -= octets;
    cursor->present -= cursor->present < octets ? cursor->present : octets;
    while (cursor->left > 0 && cursor->at == cursor->parts->iov_len) {
        cursor->parts++;
        cursor->at = 0;
    }
}

static size_t ring_room(const struct sdp_connection *connection)
{
    size_t used = sdp_ring_used(connection);

    return used < connection->send_buffer ? connection->send_buffer - used : 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Copies as much as fits contiguously. Returns false if memory is missing. */
static bool copy_some(struct sdp_connection *connection, struct cursor *cursor)
{
    size_t at = (size_t)((connection->tx_filled - connection->ring_base) % connection->ring_size);
    size_t octets = cursor->parts->iov_len - cursor->at;
    size_t room = ring_room(connection);

    octets = least(least(octets, room), least(connection->ring_size - at, COPY_MAX));
    if (!sdp_guard_copy(connection->ring + at, (const char *)cursor->parts->iov_base + cursor->at,
                        octets))
        return false;
    connection->tx_filled += octets;
    cursor_advance(cursor, octets);
    return true;
}

/*
 * Returns how many octets may be sent from the program's memory as the next message: nothing is
 * waiting to be sent before them.
 */
static size_t may_lend(const struct sdp_connection *connection, const struct cursor *cursor)
{
    size_t at = (size_t)((connection->tx_filled - connection->ring_base) % connection->ring_size);
    size_t octets = cursor->parts->iov_len - cursor->at;

    if (!connection->direct || connection->zcopy_from == 0 || octets < LEND_MIN ||
        connection->tx_filled != connection->tx_sent || connection->urgent_count > 0 ||
        !connection->live || connection->ended || connection->frozen || connection->lost ||
        connection->post_failed || !sdp_post_room(connection))
        return 0;
    octets = least(octets, ring_room(connection)); /* what is not sent at once is copied there */
    octets = least(octets, connection->ring_size - at);
    octets = least(octets, sdp_machine_room(&connection->machine));
    return octets < LEND_MIN ? 0 : octets;
}

/*
 * Sends from the program's memory. Returns false if that cannot be. *error: EFAULT, if another
 * thread has unmapped the memory; the peer may have got zeros, so the connection is reset.
 */
static bool lend_some(struct sdp_connection *connection, struct cursor *cursor, int *error)
{
    char *from = (char *)cursor->parts->iov_base + cursor->at;
    size_t octets = cursor->left > 0 ? may_lend(connection, cursor) : 0;
    bool gathers = connection->cork;
    int guard;

    if (octets == 0 || !sdp_guard_present(from, octets, false))
        return false;
    guard = sdp_guard_hold(from, octets);
    if (guard < 0)
        return false;
    connection->lent = from;
    connection->tx_filled += octets;
    connection->more = false;
    connection->cork = false;
    sdp_push(connection);
    connection->cork = gathers;
    if (connection->lent) /* it was not sent: the connection has just failed */
        connection->tx_filled -= octets;
    connection->lent = NULL;
    cursor_advance(cursor, octets);
    if (!sdp_guard_release(guard))
        return true;
    sdp_reset(connection);
    *error = EFAULT;
    return true;
}

static int why_not(struct sdp_connection *connection)
{
    int error = connection->error;

    if (error != 0) {
        connection->error = 0;
        return error;
    }
    return EPIPE;
}

/* Returns 0 or EFAULT. */
static int copy_all(struct sdp_connection *connection, struct cursor *cursor, int flags)
{
    int error = 0;

    while (cursor->left > 0 && ring_room(connection) > 0) {
        bool present = look_ahead(cursor);

        /* The urgent octet is marked before it is sent. */
        if (present && !(flags & MSG_OOB) && lend_some(connection, cursor, &error)) {
            if (error != 0)
                return error;
            continue;
        }
        if (!present || !copy_some(connection, cursor)) {
            connection->more = (flags & MSG_MORE) != 0;
            return EFAULT;
        }
        if (cursor->left == 0) {
            connection->more = (flags & MSG_MORE) != 0;
            return 0;
        }
        connection->more = true; /* no short message in the middle of a call */
        sdp_push(connection);
    }
    return 0;
}

/* Tries ZCopy: for a large part, if the call may wait. */
static bool move_some(struct sdp_connection *connection, struct cursor *cursor, int flags,
                      const struct timespec *deadline, int *error)
{
    size_t octets = cursor->parts->iov_len - cursor->at;

    if (connection->zcopy_from == 0 || octets < connection->zcopy_from ||
        (flags & (MSG_DONTWAIT | MSG_OOB | MSG_MORE)))
        return false;
    octets = sdp_zcopy_send(connection, (const char *)cursor->parts->iov_base + cursor->at, octets,
                            deadline, error);
    cursor_advance(cursor, octets);
    return octets > 0 || *error != 0;
}

static int send_all(struct sdp_connection *connection, struct cursor *cursor, int flags,
                    const struct timespec *deadline)
{
    int error = 0;

    /* Takes credits that have arrived, in this thread. */
    if (sdp_machine_credits(&connection->machine) < SDP_BUFFERS / 4)
        (void)sdp_take(connection);
    cursor_advance(cursor, 0); /* parts may be empty */
    while (error == 0) {
        if (connection->no_sends || connection->error != 0)
            return why_not(connection);
        if (connection->vanished && cursor->left > 0) {
            sdp_fail(connection, ECONNRESET);
            cursor->left = 0; /* as TCP, whose next call fails */
            return 0;
        }
        if (cursor->left > 0 && move_some(connection, cursor, flags, deadline, &error))
            continue;
        if (connection->no_sends || connection->error != 0)
            return why_not(connection); /* it has ended while ZCopy waited */
        error = copy_all(connection, cursor, flags);
        if (cursor->left == 0)
            return 0;
        sdp_push(connection);
        if (error != 0)
            break;
        if (ring_room(connection) > 0 || ((flags & MSG_DONTWAIT) && sdp_take(connection)))
            continue;
        error = (flags & MSG_DONTWAIT) ? EAGAIN : sdp_wait(connection, deadline);
    }
    return error;
}

/* Marks the last octet copied as urgent. */
static void mark_urgent(struct sdp_connection *connection)
{
    if (connection->urgent_count < SDP_URGENT_MAX) {
        connection->urgent[connection->urgent_count++] = connection->tx_filled;
        sdp_machine_urgent(&connection->machine);
    }
}

ssize_t sdp_send(struct sdp_connection *connection, const struct iovec *parts, int count, int flags,
                 const struct timespec *deadline)
{
    struct cursor cursor;
    size_t wanted;
    int error;

    if (!cursor_start(&cursor, parts, count))
        return -EINVAL;
    error = sdp_enter(connection);
    if (error != 0)
        return -error;
    /* Most messages are complete when they have been posted. */
    if (sdp_post_completes(connection, cursor.left))
        sdp_be_quiet(connection);
    wanted = cursor.left;
    error = send_all(connection, &cursor, flags, deadline);
    if (cursor.left < wanted && (flags & MSG_OOB) && cursor.left == 0)
        mark_urgent(connection);
    sdp_leave(connection);
    return cursor.left < wanted || error == 0 ? (ssize_t)(wanted - cursor.left) : -error;
}
