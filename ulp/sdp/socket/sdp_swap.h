/* SPDX-License-Identifier: BSD-2-Clause */
/* The exchange of a socket's numbers from the TCP stream to a face. */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_SWAP_H
#define ITAPI_ULP_SDP_SOCKET_SDP_SWAP_H

#include <stdbool.h>

struct sdp_settings;
struct sdp_socket;

/*
 * Starts the connection, with socket->deciding held. All that the program has set moves to the
 * face: numbers, epoll interests, O_ASYNC and its owner, O_NONBLOCK, time limits. Returns false if
 * it fails: the stream has been shut down, and keeps its numbers.
 */
bool sdp_swap(struct sdp_socket *socket, bool active, const struct sdp_settings *settings);

/* Returns the present events, for a poller that is about to sleep on the face. */
unsigned sdp_swap_show(struct sdp_socket *socket);

/* The same for one that does not sleep: the face may be behind. */
unsigned sdp_swap_look(struct sdp_socket *socket);

/* As sdp_swap_show after a transfer, if the face shows one of these events: it may have ended. */
void sdp_swap_correct(struct sdp_socket *socket, unsigned events);

/* Called after a send that found no room, or not enough. */
void sdp_swap_blocked(struct sdp_socket *socket);

/* Called when epoll interests or O_ASYNC have changed. */
void sdp_swap_watch(struct sdp_socket *socket);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_SWAP_H */
