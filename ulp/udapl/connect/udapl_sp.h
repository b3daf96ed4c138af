/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions common to all service points. */
#ifndef ITAPI_ULP_UDAPL_CONNECT_UDAPL_SP_H
#define ITAPI_ULP_UDAPL_CONNECT_UDAPL_SP_H

#include "object/udapl_ia.h"
#include "object/udapl_sp.h"

#include <dat2/udat.h>

/* Creates a service point with a reference to its EVD. It is no valid handle yet. */
DAT_RETURN udapl_sp_make(struct udapl_ia *ia, DAT_HANDLE_TYPE type, DAT_EVD_HANDLE evd_handle,
                         struct udapl_sp **sp);
/* Undoes udapl_sp_make. */
void udapl_sp_unmake(struct udapl_sp *sp);

/*
 * Makes the service point a valid handle and listens on its conn_qual; 0: on any free one. On
 * failure it is unmade.
 */
DAT_RETURN udapl_sp_listen(struct udapl_sp *sp);

/* Stops listening. Returns the EP reserved for a request, or NULL. */
struct udapl_ep *udapl_sp_close(struct udapl_sp *sp);

/* Last step of a free. */
void udapl_sp_end(struct udapl_sp *sp);

#endif
