/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that make many requests: burst, echo, sink. prepare posts the receives of echo and sink.
 */
#ifndef PEERS_STREAM_H
#define PEERS_STREAM_H

#include "peer_args.h"

#include <stdbool.h>
#include <stdint.h>

struct peer_memory;

/*
 * The receives of echo or sink, part of a connection. Message k goes to slot k modulo slots, since
 * receives complete in the order of posting.
 */
struct peer_stream {
    bool prepared; /* `prepare` has posted receives that are not used yet */
    bool echo;     /* the second half of the memory holds the messages that are sent back */
    uint64_t count;
    uint64_t length;
    uint64_t serial; /* serial of the memory */
    struct peer_memory *memory;
    uint64_t slots;
    uint64_t posted;
};

void peer_stream_burst_command(struct peer_args *args);
void peer_stream_prepare_command(struct peer_args *args);
void peer_stream_echo_command(struct peer_args *args);
void peer_stream_sink_command(struct peer_args *args);

#endif
