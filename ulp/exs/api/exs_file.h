/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of exs_sendfile that are outstanding. */
#ifndef ITAPI_ULP_EXS_API_EXS_FILE_H
#define ITAPI_ULP_EXS_API_EXS_FILE_H

#include "include/exs.h"

#include <stdbool.h>
#include <stddef.h>

struct exs_socket;

/* With the socket's lock: its files, all or those with this ahandle, end. How many. */
size_t exs_files_cancel(struct exs_socket *socket, bool all, exs_ahandle_t ahandle);

/* In the child after fork. */
void exs_files_forget(void);

#endif /* ITAPI_ULP_EXS_API_EXS_FILE_H */
