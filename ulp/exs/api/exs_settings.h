/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings that exs_fcntl and the socket options have in common. */
#ifndef ITAPI_ULP_EXS_API_EXS_SETTINGS_H
#define ITAPI_ULP_EXS_API_EXS_SETTINGS_H

#include "object/exs_socket.h"

/* With the socket's lock: 0; EISCONN: it is too late. */
int exs_settings_open(const struct exs_socket *socket);
/* 0 or errno. Without a buffer small sends have nothing to wait for. */
int exs_settings_stream_buffer(struct exs_socket *socket, size_t octets);

#endif /* ITAPI_ULP_EXS_API_EXS_SETTINGS_H */
