/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of undecided incoming connection requests (struct ual_request, ual/vp.h). */
#ifndef ITAPI_UAL_OBJECT_UAL_REQUEST_H
#define ITAPI_UAL_OBJECT_UAL_REQUEST_H

#include "ual/object/ual.h"
#include "ual/vp.h"

/* Gives the request an id and enters it in the table. */
void ual_request_add(struct ual_request *request);

/*
 * Takes the request out of the table; the caller owns it now. Returns NULL when the id is unknown,
 * already taken, of another IA (ia NULL: any), or of the other kind: for a UD endpoint instead of a
 * connection, or the reverse.
 */
struct ual_request *ual_request_take(uint64_t id, const struct ual_ia *ia, bool datagram);

/*
 * Puts a taken request back under its former id, when the call that took it failed and must change
 * nothing. The provider may look for the request at any time, so the id is written only under the
 * table's lock.
 */
void ual_request_put_back(struct ual_request *request, uint64_t id);

/* Returns the IA of a waiting request of that kind without taking it, or NULL if it is unknown. */
struct ual_ia *ual_request_ia(uint64_t id, bool datagram);

/* For the provider: takes this request out. Returns false when a call has already taken it. */
bool ual_request_withdraw(struct ual_request *request);

/*
 * Queues IT_CM_REQ_CONN_REQUEST_EVENT, or the event of datagrams, for the request. Returns false
 * when the EVD has no room: the event is lost.
 */
bool ual_request_announce(const struct ual_request *request);
/* The same, but an EVD without room does not overflow, since the caller reports the failure. */
bool ual_request_announce_unless_full(const struct ual_request *request);

/* In the child of fork(2): all requests are the parent's. */
void ual_requests_forget(void);

/* For it_evd_free: rejects a request, unless it was answered or its peer has given up. */
void ual_request_refuse_id(uint64_t id, bool datagram);

/* For it_ia_free: rejects all requests of the IA that still wait for a decision. */
void ual_request_refuse_all(struct ual_ia *ia);

#endif
