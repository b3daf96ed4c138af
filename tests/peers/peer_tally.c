/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_tally.h"

#include <stdio.h>
#include <string.h>

static unsigned peer_tally[PEER_OBJECTS];

void peer_tally_made(enum peer_object object)
{
    peer_tally[object]++;
}

int peer_tally_gone(enum peer_object object, const char *call, int error)
{
    if (error != 0)
        (void)fprintf(stderr, "verbs_peer: %s: %s\n", call, strerror(error));
    else
        peer_tally[object]--;
    return error;
}

bool peer_tally_empty(void)
{
    static const char *const names[] = {
        "event channel",    "id",        "protection domain", "memory region", "completion channel",
        "completion queue", "queue pair"};
    bool empty = true;

    for (unsigned i = 0; i < PEER_OBJECTS; i++) {
        if (peer_tally[i] == 0)
            continue;
        (void)fprintf(stderr, "verbs_peer: left over: %s, %u times\n", names[i], peer_tally[i]);
        empty = false;
    }
    return empty;
}
