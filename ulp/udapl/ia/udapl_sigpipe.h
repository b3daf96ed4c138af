/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sigpipe=ignore of a line of dat.conf: the process ignores SIGPIPE from the opening of such a line
 * until the last IA of the module is closed. siw raises it in a thread that posts when the peer has
 * just gone; IT-API keeps it away by system calls, but for EPs that are made while it is ignored.
 */
#ifndef ITAPI_ULP_UDAPL_IA_UDAPL_SIGPIPE_H
#define ITAPI_ULP_UDAPL_IA_UDAPL_SIGPIPE_H

#include "object/udapl_provider.h"

/* For each IA, before its first EP is made. A disposition other than the default stays. */
void udapl_sigpipe_begin(const struct udapl_provider *provider);

/* Behind the last IA the default is in force again, unless the program has set another. */
void udapl_sigpipe_end(void);

#endif
