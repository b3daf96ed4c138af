/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens to connections; shared by the files of this folder. */
#ifndef ITAPI_ULP_EXS_SOCKET_EXS_EVENTS_H
#define ITAPI_ULP_EXS_SOCKET_EXS_EVENTS_H

#include "transfer/exs_connection.h"

/* A connection for the socket. Without a lock. 0 or errno. */
int exs_events_connect(struct exs_socket *socket, struct exs_connection **result);

/* Gives up a connection that is not the socket's yet. */
void exs_events_discard(struct exs_connection *connection);

/* What follows from the state of the connection: the ends of shutdown and close. With the lock. */
void exs_events_advance(struct exs_socket *socket);

/* The connection is over: it goes with the socket. With the lock. */
void exs_events_bury(struct exs_socket *socket);

#endif /* ITAPI_ULP_EXS_SOCKET_EXS_EVENTS_H */
