/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers over a connection. The caller holds the socket's lock and releases it with
 * exs_socket_leave. All return 0 or errno; on failure the request is unchanged.
 */
#ifndef ITAPI_ULP_EXS_TRANSFER_EXS_TRANSFER_H
#define ITAPI_ULP_EXS_TRANSFER_EXS_TRANSFER_H

#include "object/exs_socket.h"

/* Returns EBUSY without a credit; socket->credit shows when to try again. */
int exs_transfer_send(struct exs_socket *socket, struct exs_request *request);
int exs_transfer_recv(struct exs_socket *socket, struct exs_request *request);

/*
 * Sends octets in a message that has a copy of them, so that the send has ended. Returns false, and
 * does nothing, if another send is outstanding or some of the octets would have to wait.
 */
bool exs_transfer_send_at_once(struct exs_socket *socket, const void *octets, size_t length);

/* The send of this context has no further piece, although its last piece announced one. */
void exs_transfer_send_over(struct exs_socket *socket, const void *context);

/*
 * Ends matching requests with error, unless some of their octets are being transferred; an
 * advertised receive ends after a round trip. Returns the number of requests that end this way. The
 * others complete normally. Calls waits of each one that matches and has not ended yet.
 */
size_t exs_transfer_cancel(struct exs_socket *socket,
                           bool (*match)(const struct exs_request *request, const void *key),
                           const void *key, int error);

/* Ends the connection if a request matches: the peer has not answered. */
void exs_transfer_break(struct exs_socket *socket,
                        bool (*match)(const struct exs_request *request, const void *key),
                        const void *key);

#endif /* ITAPI_ULP_EXS_TRANSFER_EXS_TRANSFER_H */
