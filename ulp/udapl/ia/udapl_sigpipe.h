/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sigpipe=ignore in a line of dat.conf: the process ignores SIGPIPE from the opening of such an IA
 * until the last IA of the module is closed. siw raises SIGPIPE in a thread that posts when the
 * peer has just gone. IT-API blocks that by system calls, except for EPs that are created while it
 * is ignored.
 */
#ifndef ITAPI_ULP_UDAPL_IA_UDAPL_SIGPIPE_H
#define ITAPI_ULP_UDAPL_IA_UDAPL_SIGPIPE_H

#include "object/udapl_provider.h"

/* Called for each IA, before its first EP is created. Only the default disposition is replaced. */
void udapl_sigpipe_begin(const struct udapl_provider *provider);

/* After the last IA, restores the default, unless the program has set another disposition. */
void udapl_sigpipe_end(void);

#endif
