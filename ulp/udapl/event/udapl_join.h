/* SPDX-License-Identifier: BSD-2-Clause */
/* An IA whose asynchronous errors go to the EVD that another opening of it has made. */
#ifndef ITAPI_ULP_UDAPL_EVENT_UDAPL_JOIN_H
#define ITAPI_ULP_UDAPL_EVENT_UDAPL_JOIN_H

#include "object/udapl_evd.h"
#include "object/udapl_ia.h"

/* The IA is being closed: it shares no EVD any more, and its own EVDs are shared no more. */
void udapl_join_end(struct udapl_ia *ia);

/* Whether a software event is such an error, and not the consumer's. */
bool udapl_join_is_error(const it_event_t *event);
void udapl_join_deliver(const it_event_t *event, DAT_EVENT *out);

#endif
