/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening sockets, for the files of this folder. The socket's lock is held. */
#ifndef ITAPI_ULP_EXS_SOCKET_EXS_LISTEN_H
#define ITAPI_ULP_EXS_SOCKET_EXS_LISTEN_H

#include "object/exs_socket.h"

/* Ends the accepts that match, or all if want is NULL. Returns how many. */
size_t exs_listen_cancel(struct exs_socket *socket,
                         bool (*want)(const struct exs_request *request, const void *key),
                         const void *key, int error);
/* Called when the socket is closed. */
void exs_listen_end(struct exs_socket *socket);
/* Returns true if a peer waits to be accepted. */
bool exs_listen_ready(const struct exs_socket *socket);

#endif /* ITAPI_ULP_EXS_SOCKET_EXS_LISTEN_H */
