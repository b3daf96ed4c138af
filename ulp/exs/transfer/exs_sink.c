/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data for a socket whose receives are shut down. The peer may go on sending, so data in the ring
 * is dropped, and data that waits for a receive gets one of the library's own.
 */
#include "transfer/exs_connection.h"

#include "memory/exs_memory.h"

#include <stdlib.h>

#define STREAM_ROOM 65536u

struct sink {
    struct exs_request request;
    struct exs_memory own;
    char octets[];
};

static void done(struct exs_request *request, int error, size_t moved, size_t lost)
{
    struct sink *sink = (struct sink *)request; /* its first member */

    (void)error;
    (void)moved;
    (void)lost;
    exs_memory_give(&sink->own);
    free(sink);
}

/* For packets nothing needs to be written. If memory runs out, the peer waits for the next push. */
static void post(struct exs_connection *connection)
{
    size_t room = exs_is_stream(connection) ? STREAM_ROOM : 0;
    struct sink *sink = calloc(1, sizeof(*sink) + room);

    if (!sink)
        return;
    sink->own = (struct exs_memory){.addr = sink->octets, .length = room, .receive = true};
    /* Calls that cancel pass over it. */
    sink->request = (struct exs_request){.addr = sink->octets,
                                         .length = room,
                                         .memory = &sink->own,
                                         .done = done,
                                         .cancelled = true};
    if (exs_is_stream(connection))
        exs_stream_receive(connection, &sink->request);
    else
        exs_packet_receive(connection, &sink->request);
}

void exs_sink_push(struct exs_connection *connection)
{
    bool needed;

    if (connection->got_end)
        return;
    if (exs_is_stream(connection)) {
        exs_stream_in_drop(&connection->in);
        needed = exs_stream_in_is_needed(&connection->in);
    } else {
        exs_packet_drop(connection);
        /* One at a time: the peer may have lied about the packets before the one that it needs. */
        needed =
            connection->packet_in.count == 0 && exs_packet_in_is_needed(&connection->packet_in);
    }
    if (needed)
        post(connection);
}
