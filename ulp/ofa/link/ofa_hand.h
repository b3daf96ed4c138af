/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs connected by hand: their programs exchange numbers, PSNs and GIDs. The end with the
 * smaller number (if equal, with the smaller address) connects to the port in the other's number.
 * The other end compares the request with the values it knows, and asks the process at the port in
 * its peer's number whether the request is its own.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_HAND_H
#define ITAPI_ULP_OFA_LINK_OFA_HAND_H

#include "link/ofa_knock.h"

/* Called when a queue pair is created. */
void ofa_hand_init(struct ofa_qp *qp);

/* Called when the queue pair, which knows its peer, enters RTR or RTS. Returns 0 or errno. */
int ofa_hand_step(struct ofa_qp *qp);

/*
 * Returns true if the queue pair, in RTR, has itself as peer. Its requests then need an EP of their
 * own: ofa_qp.send_ep.
 */
bool ofa_hand_is_own_peer(const struct ofa_qp *qp);

/*
 * Listens on the port of a number, so that peers can connect queue pairs by hand. Returns 0 or
 * errno.
 */
int ofa_hand_listen(struct ofa_context *context, uint32_t number);

/* Handles a request to a port of numbers. */
void ofa_hand_request(struct ofa_context *context, const it_conn_request_event_t *event);

/* Handles the outcome of a knock or question (link/ofa_knock.h). */
void ofa_hand_knocked(struct ofa_context *context, const struct ofa_knock_answer *answer);

/* Returns true if the answer came from the right queue pair; otherwise ends the connection. */
bool ofa_hand_agrees_locked(struct ofa_qp *qp, const it_connection_event_t *event);

/* Drops the request that was asked about. With no lock held. */
void ofa_hand_stop_asking(struct ofa_qp *qp);

/* Drops requests and knocks that wait. With no lock held. */
void ofa_hand_forget(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_LINK_OFA_HAND_H */
