/* SPDX-License-Identifier: BSD-2-Clause */
/* What sends and receives of every kind have in common. */
#ifndef ITAPI_ULP_EXS_API_EXS_TRANSFER_CALLS_H
#define ITAPI_ULP_EXS_API_EXS_TRANSFER_CALLS_H

#include "api/exs_call.h"

/* Flags and length, on this socket: 0 or errno. */
int exs_api_check_transfer(const struct exs_socket *socket, int flags, bool receive, size_t length);

/*
 * Starts the request of the call, with the socket's lock. Waits for a credit with EXS_CREDIT_WAIT;
 * cancel is the state of the caller's cancellation meanwhile. Sets the limit of time. 0 or errno:
 * the call is the caller's.
 */
int exs_api_start_transfer(struct exs_socket *socket, struct exs_call *call,
                           struct exs_request *request, bool receive, int cancel);

#endif /* ITAPI_ULP_EXS_API_EXS_TRANSFER_CALLS_H */
