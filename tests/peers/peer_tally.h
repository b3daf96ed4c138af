/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the objects of verbs and rdma_cm that exist, so that none is left at the end. */
#ifndef PEERS_TALLY_H
#define PEERS_TALLY_H

#include <stdbool.h>

enum peer_object {
    PEER_EVENT_CHANNEL,
    PEER_ID,
    PEER_PD,
    PEER_MR,
    PEER_CHANNEL,
    PEER_CQ,
    PEER_QP,
    PEER_OBJECTS
};

void peer_tally_made(enum peer_object object);

/*
 * error: what the call that destroys it gave, 0 for success. Complains of a failure; returns error.
 */
int peer_tally_gone(enum peer_object object, const char *call, int error);

/* True if nothing is left; else says on standard error what is. */
bool peer_tally_empty(void);

#endif
