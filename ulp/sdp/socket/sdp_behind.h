/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faces that are behind. A thread that sleeps in epoll_wait or poll reads for all connections when
 * it wakes. If sockets become readable by that, it takes their events itself, and their faces need
 * not show them: the program mostly has read the data before a thread sleeps again. So a request
 * costs no system call for a face.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_BEHIND_H
#define ITAPI_ULP_SDP_SOCKET_SDP_BEHIND_H

#include <stdbool.h>
#include <sys/epoll.h>

struct sdp_socket;

/* What a thread takes while it reads. */
struct sdp_harvest {
    int set;                    /* the epoll set that it waits for; -1: it asks each socket */
    struct epoll_event *events; /* of members of the set */
    int room;
    int count;
};

/* From now on this thread takes events into *harvest; NULL: no longer. */
void sdp_behind_harvest(struct sdp_harvest *harvest);

/*
 * Called with the socket's lock when its events have changed. Returns true if the face need not
 * show them before a thread sleeps.
 */
bool sdp_behind_may_be(struct sdp_socket *socket, unsigned events);

/* Lets all faces show their events. Called behind sdp_kick_begin before a thread sleeps. */
void sdp_behind_catch_up(void);

/*
 * The first one catches up, so that no process must claim a connection to do so. Called before any
 * other lock is taken, and after all have been dropped.
 */
void sdp_behind_before_fork(void);
void sdp_behind_after_fork(bool child);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_BEHIND_H */
