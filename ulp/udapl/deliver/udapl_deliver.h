/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What events of IT-API are for the consumer. The functions fill in all of a DAT_EVENT but
 * evd_handle. False: the consumer gets nothing (the endpoint is gone, or the event is a part of one
 * that has been told already), and the next event is due.
 */
#ifndef ITAPI_ULP_UDAPL_DELIVER_UDAPL_DELIVER_H
#define ITAPI_ULP_UDAPL_DELIVER_UDAPL_DELIVER_H

#include "object/udapl_ep.h"
#include "object/udapl_ia.h"

/* A completion of the DTO stream, RMR binds included. evd: NULL for a private one. Data path. */
bool udapl_deliver_completion(struct udapl_evd *evd, const it_event_t *event, DAT_EVENT *out);

/* A connection request: makes the CR. */
bool udapl_deliver_request(struct udapl_ia *ia, const it_event_t *event, DAT_EVENT *out);

/* Of the CM message stream: keeps the private data, and the state of the EP. */
bool udapl_deliver_connection(const it_event_t *event, DAT_EVENT *out);

/* Of both asynchronous streams. */
bool udapl_deliver_async(struct udapl_ia *ia, const it_event_t *event, DAT_EVENT *out);
/* The IA has failed: fills in the event that says so. */
void udapl_deliver_failure(const struct udapl_ia *ia, DAT_EVENT *out);

/* An EP that the provider makes, unconfigured and held; NULL without memory. */
struct udapl_ep *udapl_ep_provide(struct udapl_ia *ia, const DAT_EP_ATTR *attr,
                                  enum udapl_ep_hold hold);

/*
 * The connection of an EP with an S-RQ is over: it takes no more receives of it, which DAT tells by
 * DAT_ASYNC_ERROR_EP_BROKEN. A software event brings that into the IA's EVD for errors.
 */
void udapl_srq_leave(struct udapl_ep *ep);
/* Whether a software event is such a one, and not the consumer's. */
bool udapl_is_srq_leave(const it_event_t *event);
bool udapl_deliver_srq_leave(const it_event_t *event, DAT_EVENT *out);

/* The state of an EP as the consumer sees it now. */
DAT_EP_STATE udapl_ep_state(const struct udapl_ep *ep);

#endif
