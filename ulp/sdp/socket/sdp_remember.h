/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of which the program sees its own values, though the stream below has others or none.
 * They are read from the TCP socket before the conversion and kept from then on.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_REMEMBER_H
#define ITAPI_ULP_SDP_SOCKET_SDP_REMEMBER_H

struct sdp_socket;

/* Read all of them from the TCP socket, and pass on those that concern the connection. */
void sdp_remember_read(struct sdp_socket *socket, int fd);
void sdp_remember_apply(struct sdp_socket *socket);

/* Returns its index; below 0: it is none of them. */
int sdp_remember_find(int level, int name);

/* Returns 0 or -errno. */
int sdp_remember_set(struct sdp_socket *socket, int which, int value);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_REMEMBER_H */
