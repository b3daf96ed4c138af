/* SPDX-License-Identifier: BSD-2-Clause */
/* The descriptors that a sleeping call must watch for undecided sockets. */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_WATCHED_H
#define ITAPI_ULP_SDP_SOCKET_SDP_WATCHED_H

#include "agree/sdp_agree.h"

#include <poll.h>
#include <stdbool.h>
#include <time.h>

/* Further sockets are checked again after a short time. */
#define SDP_WATCHED_MAX 64

struct sdp_watched {
    struct pollfd *polls;
    nfds_t count;
    struct timespec until; /* the earliest timeout */
    bool has_until;
};

void sdp_watched_start(struct sdp_watched *watched, struct pollfd *polls);
/* Adds the events of `wait`. */
void sdp_watched_add(struct sdp_watched *watched, const struct sdp_agree_wait *wait);
/* Adds all undecided sockets of an epoll set. */
void sdp_watched_set(struct sdp_watched *watched, int set);
/* Adds the kick. Returns the number of descriptors. */
nfds_t sdp_watched_end(struct sdp_watched *watched);
/* Returns the earlier deadline. */
const struct timespec *sdp_watched_until(struct sdp_watched *watched,
                                         const struct timespec *deadline);

/*
 * Returns true if the socket waits only for its own descriptor, without a limit: it may be reported
 * as writable.
 */
bool sdp_wait_is_open(const struct sdp_agree_wait *wait, int number);

/* A deadline of NULL is never over. */
bool sdp_is_over(const struct timespec *deadline);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_WATCHED_H */
