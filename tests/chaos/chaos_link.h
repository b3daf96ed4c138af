/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chaos_link.h - links between clients and servers: each forwards the octets of its TCP streams
 * with the faults of the plan. Each link has a port, which leads to one server.
 */
#ifndef ITAPI_TESTS_CHAOS_CHAOS_LINK_H
#define ITAPI_TESTS_CHAOS_CHAOS_LINK_H

#include "chaos/chaos.h"

enum link_fault {
    LINK_CLEAN,
    LINK_DELAY, /* each piece is held for a few milliseconds */
    LINK_STALL, /* nothing is forwarded for up to two seconds */
    LINK_RESET,
    LINK_CUT, /* the stream ends in order, in the middle of the octets */
    LINK_ALTER,
    LINK_SPLIT, /* small pieces */
    LINK_FAULTS
};

extern const char *const link_fault_names[LINK_FAULTS];
extern uint64_t link_counts[LINK_FAULTS]; /* faults that happened */

/* Opens the links of all servers. */
void links_open(void);
/* Forwards what there is, and waits for at most a few milliseconds if there is nothing. */
void links_run(void);
void links_close(void);

#endif
