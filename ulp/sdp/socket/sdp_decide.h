/* SPDX-License-Identifier: BSD-2-Clause */
/* Deciding between TCP and SDP, and exchanging what a socket's numbers refer to. */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_DECIDE_H
#define ITAPI_ULP_SDP_SOCKET_SDP_DECIDE_H

#include "agree/sdp_agree.h"

#include <stdbool.h>
#include <time.h>

struct sdp_socket;

/* The part of the library, or the kernel, that serves a call. */
enum sdp_way {
    SDP_BY_KERNEL,
    SDP_BY_CONNECTION,
    SDP_MUST_WAIT
};

/* Called once at the start: reads the rules, and gives agree/ the functions that it needs. */
void sdp_decide_start(void);

/* Makes one step. SDP_MUST_WAIT: the caller has to wait for the events in `wait`. */
enum sdp_way sdp_decide_step(struct sdp_socket *socket, enum sdp_agree_call call,
                             struct sdp_agree_wait *wait);

/*
 * For a data call: waits as long as the program would. Returns -EAGAIN (it does not block, or the
 * deadline is over) or -EINTR instead of SDP_MUST_WAIT.
 */
int sdp_decide(struct sdp_socket *socket, enum sdp_agree_call call, bool block,
               const struct timespec *deadline);

/* The socket waits for its peer without a limit: epoll may report it as writable. */
void sdp_decide_tell_writable(struct sdp_socket *socket);

/*
 * Makes the socket plain TCP, the kernel's alone. Returns false if it is converted, or if that had
 * been agreed and has now happened. A socket that is not connected stays as it is.
 */
bool sdp_decide_tcp(struct sdp_socket *socket);

/*
 * Apply the rules and ask the first question: right before connect, after it, after listen, after
 * accept.
 */
void sdp_decide_connecting(int number, const struct sockaddr *peer, socklen_t length);
void sdp_decide_connect_failed(int number);
void sdp_decide_listening(int number);
void sdp_decide_accepted(int listener, int number);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_DECIDE_H */
