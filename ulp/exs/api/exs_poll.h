/* SPDX-License-Identifier: BSD-2-Clause */
/* Outstanding calls of exs_poll. */
#ifndef ITAPI_ULP_EXS_API_EXS_POLL_H
#define ITAPI_ULP_EXS_API_EXS_POLL_H

#include "include/exs.h"

#include <stddef.h>

/* Ends the calls with this ahandle that have the descriptor among theirs; returns how many. */
size_t exs_polls_cancel(int fd, exs_ahandle_t ahandle);

/* In the child after fork. */
void exs_polls_forget(void);

#endif /* ITAPI_ULP_EXS_API_EXS_POLL_H */
