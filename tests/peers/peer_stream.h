/* SPDX-License-Identifier: BSD-2-Clause */
/* Many requests by one command: burst, echo, sink; prepare posts the receives of the latter two. */
#ifndef PEERS_STREAM_H
#define PEERS_STREAM_H

#include "peer_args.h"

#include <stdbool.h>
#include <stdint.h>

struct peer_memory;

/*
 * The receives of echo or sink, part of a connection. Message k goes to slot k modulo slots:
 * receives complete in the order they were posted in.
 */
struct peer_stream {
    bool prepared; /* by `prepare`, not used yet */
    bool echo;     /* the second half of the memory is for what is sent back */
    uint64_t count;
    uint64_t length;
    uint64_t serial; /* of the memory */
    struct peer_memory *memory;
    uint64_t slots;
    uint64_t posted;
};

void peer_stream_burst_command(struct peer_args *args);
void peer_stream_prepare_command(struct peer_args *args);
void peer_stream_echo_command(struct peer_args *args);
void peer_stream_sink_command(struct peer_args *args);

#endif
