/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converting events of IT-API to events of DAT. The functions fill in a DAT_EVENT except
 * evd_handle. They return false if the consumer gets no event: the endpoint was freed, or the event
 * is a part of one already delivered. The caller then takes the next event.
 */
#ifndef ITAPI_ULP_UDAPL_DELIVER_UDAPL_DELIVER_H
#define ITAPI_ULP_UDAPL_DELIVER_UDAPL_DELIVER_H

#include "object/udapl_ep.h"
#include "object/udapl_ia.h"

/* Data path. A completion of the DTO stream, also of an RMR bind. evd: NULL for a private one. */
bool udapl_deliver_completion(struct udapl_evd *evd, const it_event_t *event, DAT_EVENT *out);

/* A connection request: creates the CR. */
bool udapl_deliver_request(struct udapl_ia *ia, const it_event_t *event, DAT_EVENT *out);

/* An event of the CM message stream. Stores the private data and the addresses in the EP. */
bool udapl_deliver_connection(const it_event_t *event, DAT_EVENT *out);

/* An event of either asynchronous stream. */
bool udapl_deliver_async(struct udapl_ia *ia, const it_event_t *event, DAT_EVENT *out);
/* Fills in the event for a failed IA. */
void udapl_deliver_failure(const struct udapl_ia *ia, DAT_EVENT *out);

/* Creates an EP for the provider, unconfigured and held. NULL: no memory. */
struct udapl_ep *udapl_ep_provide(struct udapl_ia *ia, const DAT_EP_ATTR *attr,
                                  enum udapl_ep_hold hold);

/*
 * Called when the connection of an EP with an S-RQ has ended, so that it takes no more receives.
 * DAT reports that by DAT_ASYNC_ERROR_EP_BROKEN. A software event sends it to the IA's EVD for
 * errors.
 */
void udapl_srq_leave(struct udapl_ep *ep);
/* Returns true if a software event is such an error, not one of the consumer. */
bool udapl_is_srq_leave(const it_event_t *event);
bool udapl_deliver_srq_leave(const it_event_t *event, DAT_EVENT *out);

/* Returns the current state of an EP for the consumer. */
DAT_EP_STATE udapl_ep_state(const struct udapl_ep *ep);

#endif
