/* SPDX-License-Identifier: BSD-2-Clause */
/* What a call that sleeps must watch on behalf of sockets that are not decided. */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_WATCHED_H
#define ITAPI_ULP_SDP_SOCKET_SDP_WATCHED_H

#include "agree/sdp_agree.h"

#include <poll.h>
#include <stdbool.h>
#include <time.h>

/* With more, the rest is looked at again after a short time. */
#define SDP_WATCHED_MAX 64

struct sdp_watched {
    struct pollfd *polls;
    nfds_t count;
    struct timespec until; /* the earliest end of a wait */
    bool has_until;
};

void sdp_watched_start(struct sdp_watched *watched, struct pollfd *polls);
/* What `wait` says. */
void sdp_watched_add(struct sdp_watched *watched, const struct sdp_agree_wait *wait);
/* All undecided sockets of an epoll set. */
void sdp_watched_set(struct sdp_watched *watched, int set);
/* The kick; how many there are. */
nfds_t sdp_watched_end(struct sdp_watched *watched);
/* The earlier one. */
const struct timespec *sdp_watched_until(struct sdp_watched *watched,
                                         const struct timespec *deadline);

/* It waits for its own descriptor without a limit: the program may be told that it is writable. */
bool sdp_wait_is_open(const struct sdp_agree_wait *wait, int number);

/* NULL is never over. */
bool sdp_is_over(const struct timespec *deadline);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_WATCHED_H */
