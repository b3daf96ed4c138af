/* SPDX-License-Identifier: BSD-2-Clause */
/* Which way a socket goes, and the change of what stands in its numbers. */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_DECIDE_H
#define ITAPI_ULP_SDP_SOCKET_SDP_DECIDE_H

#include "agree/sdp_agree.h"

#include <stdbool.h>
#include <time.h>

struct sdp_socket;

/* Who serves a call. */
enum sdp_way {
    SDP_BY_KERNEL,
    SDP_BY_CONNECTION,
    SDP_MUST_WAIT
};

/* Reads the rules, and sees that agree/ may ask for what it needs. Once, at the start. */
void sdp_decide_start(void);

/* One step; SDP_MUST_WAIT: for what `wait` says. */
enum sdp_way sdp_decide_step(struct sdp_socket *socket, enum sdp_agree_call call,
                             struct sdp_agree_wait *wait);

/*
 * For a data call: waits as long as the program would. SDP_MUST_WAIT is not returned, but -EAGAIN
 * (it does not block, or the deadline is over) or -EINTR.
 */
int sdp_decide(struct sdp_socket *socket, enum sdp_agree_call call, bool block,
               const struct timespec *deadline);

/* It waits for its peer without a limit: epoll may tell that it is writable. */
void sdp_decide_tell_writable(struct sdp_socket *socket);

/*
 * It is or becomes plain TCP: the kernel's alone. false: it is converted, or has been agreed to be,
 * and is by now. One that is not connected stays as it is.
 */
bool sdp_decide_tcp(struct sdp_socket *socket);

/* The rules, and the first question: right before connect, after it, after listen, after accept. */
void sdp_decide_connecting(int number, const struct sockaddr *peer, socklen_t length);
void sdp_decide_connect_failed(int number);
void sdp_decide_listening(int number);
void sdp_decide_accepted(int listener, int number);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_DECIDE_H */
