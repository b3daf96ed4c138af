/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of which the program sees its own values, though the stream below has others or has none:
 * read from the TCP socket before it changes, kept from then on.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_REMEMBER_H
#define ITAPI_ULP_SDP_SOCKET_SDP_REMEMBER_H

struct sdp_socket;

/* All of them, from the TCP socket; and the connection is told of those that concern it. */
void sdp_remember_read(struct sdp_socket *socket, int fd);
void sdp_remember_apply(struct sdp_socket *socket);

/* Which one it is; below 0: none of them. */
int sdp_remember_find(int level, int name);

/* 0 or -errno. */
int sdp_remember_set(struct sdp_socket *socket, int which, int value);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_REMEMBER_H */
