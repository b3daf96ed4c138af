/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs connected by hand: their programs have told each other numbers, PSNs and GIDs. The
 * end with the smaller number (of equal ones, the smaller address) connects to the port in the
 * other's number; the other end compares what it is told with what it knows, and asks the process
 * at the port in its peer's number whether the request is its own.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_HAND_H
#define ITAPI_ULP_OFA_LINK_OFA_HAND_H

#include "link/ofa_knock.h"

/* The queue pair is in RTR or RTS and knows its peer; called at both steps. 0 or errno. */
int ofa_hand_step(struct ofa_qp *qp);

/*
 * Whether the queue pair is in RTR with its own number, of this device. Its requests need an EP of
 * their own then: ofa_qp.send_ep.
 */
bool ofa_hand_is_own_peer(const struct ofa_qp *qp);

/* Listens on the port of a number, so that peers can connect queue pairs by hand. 0 or errno. */
int ofa_hand_listen(struct ofa_context *context, uint32_t number);

/* A request has come to a port of numbers. */
void ofa_hand_request(struct ofa_context *context, const it_conn_request_event_t *event);

/* What has become of a knock or a question (link/ofa_knock.h). */
void ofa_hand_knocked(struct ofa_context *context, const struct ofa_knock_answer *answer);

/* Whether the peer's answer is that of the right queue pair; if not, the connection is ended. */
bool ofa_hand_agrees_locked(struct ofa_qp *qp, const it_connection_event_t *event);

/* Forgets the request that was asked about. With no lock held. */
void ofa_hand_stop_asking(struct ofa_qp *qp);

/* Forgets requests that wait. With no lock held. */
void ofa_hand_forget(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_LINK_OFA_HAND_H */
