/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of connections; shared by the files of this folder. */
#ifndef ITAPI_ULP_EXS_SOCKET_EXS_EVENTS_H
#define ITAPI_ULP_EXS_SOCKET_EXS_EVENTS_H

#include "transfer/exs_connection.h"

/* Creates a connection for the socket; called without a lock. Returns 0 or errno. */
int exs_events_connect(struct exs_socket *socket, struct exs_connection **result);

/* Frees a connection that does not belong to the socket yet. */
void exs_events_discard(struct exs_connection *connection);

/* Called with the lock. Ends shutdown and close as the state of the connection allows. */
void exs_events_advance(struct exs_socket *socket);

/*
 * Called with the lock. The connection has ended and is freed, with the socket if that is closed.
 */
void exs_events_bury(struct exs_socket *socket);

#endif /* ITAPI_ULP_EXS_SOCKET_EXS_EVENTS_H */
