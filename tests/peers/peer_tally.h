/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the existing objects of verbs and rdma_cm, so that a leak shows at the end. */
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
 * Counts a destroyed object. error is the result of the call that destroyed it, 0 for success.
 * Prints an error and returns it.
 */
int peer_tally_gone(enum peer_object object, const char *call, int error);

/* Returns true if no object is left; otherwise prints which ones are. */
bool peer_tally_empty(void);

#endif
