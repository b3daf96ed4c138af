/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets over a connection. All with the socket's lock, which the caller gives back with
 * exs_socket_leave; 0 or errno, and if it is not 0 the request is not touched.
 */
#ifndef ITAPI_ULP_EXS_TRANSFER_EXS_TRANSFER_H
#define ITAPI_ULP_EXS_TRANSFER_EXS_TRANSFER_H

#include "object/exs_socket.h"

/* EBUSY without a credit; socket->credit tells when it is worth trying again. */
int exs_transfer_send(struct exs_socket *socket, struct exs_request *request);
int exs_transfer_recv(struct exs_socket *socket, struct exs_request *request);

/* The send of this context has no further piece, although the last one said so. */
void exs_transfer_send_over(struct exs_socket *socket, const void *context);

/*
 * Ends those that match with error, as far as none of their octets are under way; a receive that is
 * advertised ends after a round trip. Returns how many that are. The others complete as they would.
 */
size_t exs_transfer_cancel(struct exs_socket *socket,
                           bool (*match)(const struct exs_request *request, const void *key),
                           const void *key, int error);

#endif /* ITAPI_ULP_EXS_TRANSFER_EXS_TRANSFER_H */
