/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of undecided incoming connection requests (struct ual_request, ual/vp.h). */
#ifndef ITAPI_UAL_OBJECT_UAL_REQUEST_H
#define ITAPI_UAL_OBJECT_UAL_REQUEST_H

#include "ual/object/ual.h"
#include "ual/vp.h"

/* Gives the request an id and makes it findable. */
void ual_request_add(struct ual_request *request);

/*
 * Takes the request out: the caller owns it now. NULL when the id is unknown, used, of another IA
 * (ia NULL: any), or of the other kind: one that asks for an EP of datagrams, or for a connection.
 */
struct ual_request *ual_request_take(uint64_t id, const struct ual_ia *ia, bool datagram);

/*
 * Puts a taken request back under the id it had (the call that took it failed and changes nothing).
 * The provider may look for it at any time: the id is written under the table's lock only.
 */
void ual_request_put_back(struct ual_request *request, uint64_t id);

/* The IA that a waiting request of that kind belongs to, without taking it; NULL when unknown. */
struct ual_ia *ual_request_ia(uint64_t id, bool datagram);

/* For the provider: takes this very request out. False: somebody else has it. */
bool ual_request_withdraw(struct ual_request *request);

/*
 * Queues IT_CM_REQ_CONN_REQUEST_EVENT, or that of datagrams, for it. False when the EVD has no room
 * (nobody was told).
 */
bool ual_request_announce(const struct ual_request *request);
/*
 * The same, but an EVD without room does not overflow: for a call that reports the failure itself.
 */
bool ual_request_announce_unless_full(const struct ual_request *request);

/* For it_ia_free: rejects all requests of the IA that still wait for a decision. */
void ual_request_refuse_all(struct ual_ia *ia);

#endif
