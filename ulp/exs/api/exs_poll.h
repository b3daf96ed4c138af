/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of exs_poll that are outstanding. */
#ifndef ITAPI_ULP_EXS_API_EXS_POLL_H
#define ITAPI_ULP_EXS_API_EXS_POLL_H

#include "include/exs.h"

#include <stddef.h>

/* Ends those with this ahandle that have the descriptor among theirs; how many. */
size_t exs_polls_cancel(int fd, exs_ahandle_t ahandle);

/* In the child after fork. */
void exs_polls_forget(void);

#endif /* ITAPI_ULP_EXS_API_EXS_POLL_H */
