/* SPDX-License-Identifier: BSD-2-Clause */
/* The change of what stands in a socket's numbers: from the TCP stream to a face. */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_SWAP_H
#define ITAPI_ULP_SDP_SOCKET_SDP_SWAP_H

#include <stdbool.h>

struct sdp_settings;
struct sdp_socket;

/*
 * Starts the connection, with socket->deciding held. All that the program has set goes over to the
 * face: numbers, epoll interests, O_ASYNC and its owner, O_NONBLOCK, time limits. false: it cannot
 * go on; the stream has been shut, and stays in its numbers.
 */
bool sdp_swap(struct sdp_socket *socket, bool active, const struct sdp_settings *settings);

/* The events of now, for a poller that is about to sleep on the face. */
unsigned sdp_swap_show(struct sdp_socket *socket);

/* The same after a transfer, if the face shows one of these events: it may be over. */
void sdp_swap_correct(struct sdp_socket *socket, unsigned events);

/* After a send that found no room, or not enough. */
void sdp_swap_blocked(struct sdp_socket *socket);

/* Epoll interests or O_ASYNC have changed. */
void sdp_swap_watch(struct sdp_socket *socket);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_SWAP_H */
