/* SPDX-License-Identifier: BSD-2-Clause */
/* EVDs of IT-API for streams of an EP that the consumer has no EVD for: a callback empties them. */
#ifndef ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_QUIET_H
#define ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_QUIET_H

#include "object/udapl_ia.h"

/* stream: that of completions or that of connections. */
it_status_t udapl_quiet_create(const struct udapl_ia *ia, it_event_type_t stream, size_t events,
                               it_evd_handle_t *evd);

/* Nothing feeds it any more. NULL is none. */
void udapl_quiet_free(it_evd_handle_t evd);

#endif
