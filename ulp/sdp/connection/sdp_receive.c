/* SPDX-License-Identifier: BSD-2-Clause */
#include "guard/sdp_guard.h"
#include "connection/sdp_zcopy.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* The position of a call in its vector, and the pieces that it has read. */
struct reading {
    const struct iovec *parts;
    int count;
    size_t at; /* offset in the first part */
    size_t wanted;
    size_t got;
    int flags;
    bool faulted; /* memory of the program is missing */
};

static bool reading_start(struct reading *reading, const struct iovec *parts, int count, int flags)
{
    *reading = (struct reading){.parts = parts, .count = count, .flags = flags};
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len > SSIZE_MAX - reading->wanted)
            return false;
        reading->wanted += parts[i].iov_len;
    }
    return true;
}

/* Skips octets that are already in place. */
static void skip(struct reading *reading, size_t octets)
{
    reading->got += octets;
    if (reading->flags & MSG_TRUNC)
        return;
    reading->at += octets;
    while (reading->got < reading->wanted && reading->at == reading->parts->iov_len) {
        reading->parts++;
        reading->at = 0;
    }
}

/*
 * As TCP does, takes no octet of a message if memory for one of them is missing, in whichever part.
 * Returns false then. A copy to one part finds out itself.
 */
static bool has_room(struct reading *reading, size_t octets)
{
    const struct iovec *part = reading->parts;
    size_t at = reading->at;

    if (reading->flags & MSG_TRUNC || octets <= part->iov_len - at)
        return true;
    for (; octets > 0; part++, at = 0) {
        size_t some = part->iov_len - at < octets ? part->iov_len - at : octets;

        if (!sdp_guard_present((char *)part->iov_base + at, some, true))
            return false;
        octets -= some;
    }
    return true;
}

/* Returns how many octets the program's memory has taken: fewer if some of it is missing. */
static size_t put(struct reading *reading, const unsigned char *octets, size_t count)
{
    size_t left = count;
    size_t part;

    if (reading->flags & MSG_TRUNC) {
        skip(reading, count);
        return count;
    }
    if (!has_room(reading, count)) {
        reading->faulted = true;
        return 0;
    }
    for (; left > 0; left -= part) {
        part = reading->parts->iov_len - reading->at;
        if (part > left)
            part = left;
        if (!sdp_guard_copy((char *)reading->parts->iov_base + reading->at, octets, part)) {
            reading->faulted = true;
            break;
        }
        octets += part;
        skip(reading, part);
    }
    return count - left;
}

/* ---- Pieces --------------------------------------------------------------------------------- */

/* Marks octets of the first piece as read; its receive is posted again when none are left. */
static void consume(struct sdp_connection *connection, uint32_t octets)
{
    struct sdp_piece *piece = &connection->pieces[connection->piece_first];

    piece->at += octets;
    piece->octets -= octets;
    connection->rx_position += octets;
    connection->unread -= octets;
    connection->counters.received += octets;
    if (piece->octets > 0)
        return;
    if (piece->slot == connection->slots)
        connection->spare_pieces--;
    else if (!connection->ended && !connection->failed) {
        sdp_post_receive(connection, piece->slot);
        sdp_machine_posted(&connection->machine);
    }
    connection->piece_first = (connection->piece_first + 1) % connection->piece_room;
    connection->piece_count--;
    /* The peer may be waiting for it. Behind the last piece the call ends or waits, and pushes. */
    if (connection->piece_count > 0)
        sdp_push(connection);
}

/* Handles a mark that has been reached. Returns false if reading must stop before it. */
static bool pass_mark(struct sdp_connection *connection, const struct reading *reading)
{
    if (reading->got > 0)
        return false;
    if (reading->flags & MSG_PEEK)
        return true;
    connection->mark_set = false;
    connection->oob_valid = false;
    if (!connection->oob_inline)
        consume(connection, 1);
    return true;
}

static void read_pieces(struct sdp_connection *connection, struct reading *reading)
{
    while (connection->piece_count > 0 && reading->got < reading->wanted && !reading->faulted) {
        const struct sdp_piece *piece = &connection->pieces[connection->piece_first];
        uint64_t before_mark = connection->mark - connection->rx_position;
        size_t octets = reading->wanted - reading->got;

        if (connection->mark_set && before_mark == 0) {
            if (!pass_mark(connection, reading))
                return;
            continue;
        }
        if (octets > piece->octets)
            octets = piece->octets;
        if (connection->mark_set && octets > before_mark)
            octets = (size_t)before_mark;
        octets = put(reading, sdp_slot(connection, piece->slot) + piece->at, octets);
        consume(connection, (uint32_t)octets);
    }
}

/* The same for MSG_PEEK: all octets stay. */
static void peek_pieces(const struct sdp_connection *connection, struct reading *reading)
{
    uint64_t limit = connection->mark_set ? connection->mark - connection->rx_position : UINT64_MAX;
    bool skip = limit == 0 && !connection->oob_inline; /* the urgent octet comes first */

    if (limit == 0)
        limit = UINT64_MAX;
    for (uint32_t i = 0; i < connection->piece_count && reading->got < reading->wanted; i++) {
        const struct sdp_piece *piece =
            &connection->pieces[(connection->piece_first + i) % connection->piece_room];
        uint32_t skipped = skip ? 1 : 0;
        size_t octets = reading->wanted - reading->got;

        skip = false;
        if (octets > piece->octets - skipped)
            octets = piece->octets - skipped;
        if (octets > limit - reading->got)
            octets = (size_t)(limit - reading->got);
        if (put(reading, sdp_slot(connection, piece->slot) + piece->at + skipped, octets) < octets)
            return;
    }
}

/* ---- The call ------------------------------------------------------------------------------- */

static size_t enough(const struct sdp_connection *connection, const struct reading *reading)
{
    size_t least = (reading->flags & MSG_WAITALL) ? reading->wanted : connection->low_water;

    return least < reading->wanted ? least : reading->wanted;
}

static int why_nothing(struct sdp_connection *connection)
{
    int error = connection->error;

    if (connection->machine.got_disconn)
        return 0; /* the peer has ended before; the error is the sender's */
    connection->error = 0;
    return error;
}

static bool is_over(const struct sdp_connection *connection)
{
    return connection->eof || connection->no_receives || connection->error != 0;
}

/* Tries ZCopy: for a large part, if nothing has arrived and the call may wait. */
static bool move_some(struct sdp_connection *connection, struct reading *reading,
                      const struct timespec *deadline, int *error)
{
    size_t octets = reading->wanted - reading->got;

    connection->large_read = false;
    if (octets == 0 || connection->piece_count > 0 || is_over(connection) || connection->mark_set)
        return false;
    octets = reading->parts->iov_len - reading->at;
    connection->large_read = connection->zcopy_from != 0 && octets >= connection->zcopy_from &&
                             !(reading->flags & (MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC));
    if (!connection->large_read) {
        (void)sdp_machine_refuse(&connection->machine);
        return false;
    }
    octets = sdp_zcopy_receive(connection, (char *)reading->parts->iov_base + reading->at, octets,
                               deadline, error);
    skip(reading, octets);
    return octets > 0 || *error != 0;
}

/*
 * Takes the octets that have arrived, or waits. While it waits, payload may arrive directly in the
 * call's memory. Returns false if a call that does not wait has found nothing.
 */
static bool await_some(struct sdp_connection *connection, struct reading *reading,
                       const struct timespec *deadline, int *error)
{
    bool waits = !(reading->flags & MSG_DONTWAIT) && !is_over(connection);
    bool aimed = !(reading->flags & (MSG_PEEK | MSG_TRUNC)) && !is_over(connection) &&
                 sdp_aim_program(connection, (char *)reading->parts->iov_base + reading->at,
                                 reading->parts->iov_len - reading->at);
    bool found = connection->piece_count > 0 && !(reading->flags & MSG_PEEK);

    /* A call that waits also takes what has arrived, with fewer system calls. */
    if (!found && waits)
        *error = sdp_wait(connection, deadline);
    else if (!found)
        found = sdp_take(connection);
    if (aimed)
        skip(reading, sdp_aim_end(connection, error));
    return found || waits;
}

static int receive_all(struct sdp_connection *connection, struct reading *reading,
                       const struct timespec *deadline)
{
    struct reading first;
    bool peek = (reading->flags & MSG_PEEK) != 0;
    size_t marked;
    int error = 0;

    skip(reading, 0); /* parts may be empty */
    first = *reading;
    while (true) {
        if (peek) {
            *reading = first;
            peek_pieces(connection, reading);
        } else
            read_pieces(connection, reading);
        if (reading->faulted)
            return EFAULT;
        marked = connection->mark_set && connection->mark == connection->rx_position ? 1 : 0;
        if (reading->got >= enough(connection, reading) || (marked && reading->got > 0))
            return 0;
        if (error != 0)
            return error;
        if (move_some(connection, reading, deadline, &error) ||
            (connection->piece_count > 0 && !peek))
            continue;
        if (await_some(connection, reading, deadline, &error))
            continue;
        if (is_over(connection))
            return reading->got > 0 ? 0 : why_nothing(connection);
        if (reading->flags & MSG_DONTWAIT)
            return EAGAIN;
    }
}

static ssize_t receive_urgent(struct sdp_connection *connection, struct reading *reading)
{
    if (connection->oob_inline)
        return -EINVAL;
    if (!connection->oob_valid)
        return connection->oob_pending && !is_over(connection) ? -EAGAIN : -EINVAL;
    if (reading->wanted > 0 && put(reading, &connection->oob_octet, 1) == 0)
        return -EFAULT;
    if (!(reading->flags & MSG_PEEK))
        connection->oob_valid = false;
    return (ssize_t)reading->got;
}

ssize_t sdp_receive(struct sdp_connection *connection, const struct iovec *parts, int count,
                    int flags, const struct timespec *deadline)
{
    struct reading reading;
    ssize_t result;
    int error;

    if (!reading_start(&reading, parts, count, flags))
        return -EINVAL;
    error = sdp_enter(connection);
    if (error != 0)
        return -error;
    if (flags & MSG_OOB) {
        (void)sdp_take(connection);
        result = receive_urgent(connection, &reading);
    } else {
        error = reading.wanted > 0 ? receive_all(connection, &reading, deadline) : 0;
        result = reading.got > 0 || error == 0 ? (ssize_t)reading.got : -error;
        sdp_aim_spare(connection);
    }
    sdp_leave(connection);
    return result;
}
