/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the payload of long messages is placed (itx_ep_aim): in the memory of a receiving call, and
 * otherwise in one spare buffer, which stays in the cache. (Slots take turns, and do not.)
 */
#include "guard/sdp_guard.h"
#include "connection/sdp_object.h"

#include <errno.h>

#define AIM_MIN 16384u  /* octets of a call from which its memory is aimed at */
#define AIM_MAX 262144u /* of one call: its pages are touched first */

/* Not for short messages: to touch the memory and to set an aim costs more than a copy of them. */
static bool may_aim(const struct sdp_connection *connection)
{
    return connection->direct && connection->zcopy_from != 0 && connection->bulk &&
           connection->live && connection->machine.open && !connection->ended &&
           !connection->failed && !connection->frozen && !connection->lost;
}

static bool set(struct sdp_connection *connection, void *octets, size_t length)
{
    const struct itx_aim aim = {.size = sizeof(aim),
                                .octets = octets,
                                .length = length,
                                .skip = SDP_HEAD_OCTETS,
                                .least = SDP_AIM_LEAST,
                                .mark = SDP_AIM_MARK};

    if (itx_ep_aim(connection->ep, &aim, NULL) != IT_SUCCESS)
        return false;
    connection->aim = (struct sdp_aim){.octets = octets, .length = length};
    return true;
}

/*
 * Ends the aim, and handles the completions of messages that have gone there. While it waits for
 * the driver, a fork may call it, too.
 */
static void finish(struct sdp_connection *connection)
{
    struct sdp_aim *aim = &connection->aim;

    if (!aim->over)
        (void)itx_ep_aim(connection->ep, NULL, &aim->used);
    aim->over = true;
    while (aim->placed < aim->used) {
        if (sdp_take_here(connection))
            continue;
        if (!connection->driver)
            break; /* the connection has failed: its events are dropped */
        (void)sdp_wait_turn(connection, NULL);
    }
}

/* ---- The spare buffer ----------------------------------------------------------------------- */

void sdp_aim_spare(struct sdp_connection *connection)
{
    unsigned char *spare = sdp_slot(connection, connection->slots);

    if (connection->spare_pieces > 0 || !may_aim(connection))
        return;
    if (connection->aim.octets &&
        (!connection->aim.spare || connection->aim.placed == 0 || connection->driver))
        return;
    if (connection->aim.octets)
        finish(connection);
    connection->aim.octets = NULL;
    if (connection->spare_pieces > 0)
        return;
    connection->aim.spare =
        set(connection, spare + SDP_HEAD_OCTETS, connection->own.receive_size - SDP_HEAD_OCTETS);
}

/* ---- The program's memory ------------------------------------------------------------------- */

static bool may_aim_at_program(const struct sdp_connection *connection, size_t count)
{
    return count >= AIM_MIN && connection->piece_count == 0 && !connection->mark_set &&
           !connection->driver && !connection->held && may_aim(connection) &&
           (!connection->aim.octets || connection->aim.spare);
}

bool sdp_aim_program(struct sdp_connection *connection, void *octets, size_t count)
{
    int guard;

    if (!may_aim_at_program(connection, count))
        return false;
    if (count > AIM_MAX)
        count = AIM_MAX;
    if (!sdp_guard_present(octets, count, true))
        return false; /* the copy finds out how much of it is there */
    if (connection->aim.octets)
        finish(connection);
    connection->aim.octets = NULL;
    guard = connection->piece_count > 0 ? -1 : sdp_guard_hold(octets, count);
    if (guard < 0)
        return false;
    if (!set(connection, octets, count)) {
        (void)sdp_guard_release(guard);
        return false;
    }
    connection->aim.guard = guard;
    return true;
}

/*
 * A transport that met the fault in the kernel has ended. Either way octets are lost, so the
 * connection is reset.
 */
size_t sdp_aim_end(struct sdp_connection *connection, int *error)
{
    struct sdp_aim *aim = &connection->aim;
    bool faulted;

    finish(connection);
    faulted = sdp_guard_release(aim->guard);
    if (!faulted && connection->ended)
        faulted = sdp_guard_is_missing(aim->octets, aim->length);
    aim->octets = NULL;
    if (!faulted)
        return aim->taken;
    sdp_reset(connection);
    *error = EFAULT;
    return 0;
}

/* ---- fork ----------------------------------------------------------------------------------- */

void sdp_aim_before_fork(struct sdp_connection *connection)
{
    if (connection->aim.octets && !connection->aim.spare)
        finish(connection);
}

void sdp_aim_in_child(struct sdp_connection *connection)
{
    if (!connection->aim.spare)
        connection->aim.octets = NULL;
}
