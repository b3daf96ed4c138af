/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After a fork, a process that waits for connections takes them over, as one does that uses them.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_FORKED_H
#define ITAPI_ULP_SDP_SOCKET_SDP_FORKED_H

#include <stdbool.h>

/* Called in both processes. */
void sdp_forked(bool child);

/* Returns true if this process shares connections, or epoll sets with them, with another one. */
bool sdp_forked_ever(void);

/*
 * Called before a thread waits for an epoll set, without locks. If the set has no events yet, its
 * connections continue in this process.
 */
void sdp_forked_wait(int set);

/* Called when a set is added to another one. */
void sdp_forked_nest(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_FORKED_H */
