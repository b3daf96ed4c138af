/* SPDX-License-Identifier: BSD-2-Clause */
/* IAs whose asynchronous errors go to an EVD of another opening. */
#ifndef ITAPI_ULP_UDAPL_EVENT_UDAPL_JOIN_H
#define ITAPI_ULP_UDAPL_EVENT_UDAPL_JOIN_H

#include "object/udapl_evd.h"
#include "object/udapl_ia.h"

/* Called when the IA is closed. It leaves the EVD it shares, and other IAs leave its EVDs. */
void udapl_join_end(struct udapl_ia *ia);

/* Returns true if a software event is such an error, not one of the consumer. */
bool udapl_join_is_error(const it_event_t *event);
void udapl_join_deliver(const it_event_t *event, DAT_EVENT *out);

#endif
