/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that sends and receives of every kind share. */
#ifndef ITAPI_ULP_EXS_API_EXS_TRANSFER_CALLS_H
#define ITAPI_ULP_EXS_API_EXS_TRANSFER_CALLS_H

#include "api/exs_call.h"

/* Checks flags and length for this socket. Returns 0 or errno. */
int exs_api_check_transfer(const struct exs_socket *socket, int flags, bool receive, size_t length);

/*
 * Starts the request of the call and its time limit; the socket's lock is held. With
 * EXS_CREDIT_WAIT it waits for a credit; cancel is the cancellation state during that wait. Returns
 * 0, or errno: the call then still belongs to the caller.
 */
int exs_api_start_transfer(struct exs_socket *socket, struct exs_call *call,
                           struct exs_request *request, bool receive, int cancel);

#endif /* ITAPI_ULP_EXS_API_EXS_TRANSFER_CALLS_H */
