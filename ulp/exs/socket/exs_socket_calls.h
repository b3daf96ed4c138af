/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket calls of the API. The caller has checked the arguments that do not depend on the
 * socket; these functions look up the descriptor. They return 0 or errno; on failure the request is
 * unchanged and done is not called.
 */
#ifndef ITAPI_ULP_EXS_SOCKET_EXS_SOCKET_CALLS_H
#define ITAPI_ULP_EXS_SOCKET_EXS_SOCKET_CALLS_H

#include "object/exs_socket.h"

int exs_socket_open(int domain, int type, int *fd);
int exs_socket_bind(int fd, const struct sockaddr *address, socklen_t length);
int exs_socket_listen(int fd, int backlog);

/* Each request is one element; either all or none are taken. */
int exs_socket_accept(int fd, struct exs_request *const *requests, size_t count);

/* timeout_us: IT_TIMEOUT_INFINITE waits as long as the transport does. */
int exs_socket_connect(int fd, const struct sockaddr *address, socklen_t length,
                       uint64_t timeout_us, struct exs_request *request);

int exs_socket_shutdown(int fd, int how, struct exs_request *request);

/* The descriptor is closed when this returns 0. cut: EXS_DONTLINGER. */
int exs_socket_close(int fd, bool cut, struct exs_request *request);

/*
 * Called with the lock. Ends calls that match with error: accepts, a connect, sends and receives.
 * Returns how many will end.
 */
size_t exs_socket_cancel(struct exs_socket *socket,
                         bool (*match)(const struct exs_request *request, const void *key),
                         const void *key, int error);

/* Called with the lock. Returns EXS_POLLIN and EXS_POLLOUT bits. */
int exs_socket_ready(const struct exs_socket *socket);

#endif /* ITAPI_ULP_EXS_SOCKET_EXS_SOCKET_CALLS_H */
