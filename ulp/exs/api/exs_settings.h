/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings that exs_fcntl and the socket options share. */
#ifndef ITAPI_ULP_EXS_API_EXS_SETTINGS_H
#define ITAPI_ULP_EXS_API_EXS_SETTINGS_H

#include "object/exs_socket.h"

/* Called with the socket's lock. Returns 0, or EISCONN if it is too late to change the setting. */
int exs_settings_open(const struct exs_socket *socket);
/* Returns 0 or errno. Without a buffer, small sends have nothing to wait for. */
int exs_settings_stream_buffer(struct exs_socket *socket, size_t octets);

#endif /* ITAPI_ULP_EXS_API_EXS_SETTINGS_H */
