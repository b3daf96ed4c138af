/* SPDX-License-Identifier: BSD-2-Clause */
/* Private EVDs for streams of an EP without an EVD of the consumer. A callback empties them. */
#ifndef ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_QUIET_H
#define ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_QUIET_H

#include "object/udapl_ia.h"

/* stream: of completions or of connections. */
it_status_t udapl_quiet_create(const struct udapl_ia *ia, it_event_type_t stream, size_t events,
                               it_evd_handle_t *evd);

/* Frees an EVD that no object uses any more. Ignores NULL. */
void udapl_quiet_free(it_evd_handle_t evd);

#endif
