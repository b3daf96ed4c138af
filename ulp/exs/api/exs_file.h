/* SPDX-License-Identifier: BSD-2-Clause */
/* Outstanding calls of exs_sendfile. */
#ifndef ITAPI_ULP_EXS_API_EXS_FILE_H
#define ITAPI_ULP_EXS_API_EXS_FILE_H

#include "include/exs.h"

#include <stdbool.h>
#include <stddef.h>

struct exs_socket;

/*
 * Called with the socket's lock. Ends the socket's calls, all or those with this ahandle; returns
 * how many.
 */
size_t exs_files_cancel(struct exs_socket *socket, bool all, exs_ahandle_t ahandle);

/* In the child after fork. */
void exs_files_forget(void);

#endif /* ITAPI_ULP_EXS_API_EXS_FILE_H */
