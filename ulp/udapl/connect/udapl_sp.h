/* SPDX-License-Identifier: BSD-2-Clause */
/* What service points have in common. */
#ifndef ITAPI_ULP_UDAPL_CONNECT_UDAPL_SP_H
#define ITAPI_ULP_UDAPL_CONNECT_UDAPL_SP_H

#include "object/udapl_ia.h"
#include "object/udapl_sp.h"

#include <dat2/udat.h>

/* A service point whose requests go to an EVD, which it holds. It is no handle yet. */
DAT_RETURN udapl_sp_make(struct udapl_ia *ia, DAT_HANDLE_TYPE type, DAT_EVD_HANDLE evd_handle,
                         struct udapl_sp **sp);
/* Undoes that. */
void udapl_sp_unmake(struct udapl_sp *sp);

/*
 * Starts the service point and listens on its conn_qual, or on any that is free if that is 0. On
 * failure it is unmade.
 */
DAT_RETURN udapl_sp_listen(struct udapl_sp *sp);

/* Stops listening. The EP that it had for a request, or NULL. */
struct udapl_ep *udapl_sp_close(struct udapl_sp *sp);

/* Last step of a free. */
void udapl_sp_end(struct udapl_sp *sp);

#endif
