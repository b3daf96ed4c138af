/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of undecided incoming connection requests (struct ual_request, ual/vp.h). */
#ifndef ITAPI_UAL_OBJECT_UAL_REQUEST_H
#define ITAPI_UAL_OBJECT_UAL_REQUEST_H

#include "ual/object/ual.h"
#include "ual/vp.h"

/* Gives the request an id and makes it findable. */
void ual_request_add(struct ual_request *request);

/*
 * Takes the request out: the caller owns it now. NULL when the id is unknown, used or of another
 * IA (ia NULL: any).
 */
struct ual_request *ual_request_take(it_cn_est_identifier_t id, const struct ual_ia *ia);
/* The same for one that asks for an EP of datagrams: each kind is unknown to the other's calls. */
struct ual_request *ual_request_take_ud(it_ud_svc_req_identifier_t id, const struct ual_ia *ia);

/*
 * Puts a taken request back under the id it had (the call that took it failed and changes nothing). The provider may
 * look for it meanwhile: the id is written under the table's lock only.
 */
void ual_request_put_back(struct ual_request *request, uint64_t id);

/* The IA that a waiting request belongs to, without taking it; NULL when unknown. */
struct ual_ia *ual_request_ia(it_cn_est_identifier_t id);
struct ual_ia *ual_request_ud_ia(it_ud_svc_req_identifier_t id);

/* For the provider: takes this very request out. False: somebody else has it. */
bool ual_request_withdraw(struct ual_request *request);

/* Queues IT_CM_REQ_CONN_REQUEST_EVENT, or that of datagrams, for it. False when the EVD has no room (nobody was told). */
bool ual_request_announce(const struct ual_request *request);
/* The same, but an EVD without room does not overflow: for a call that reports the failure itself. */
bool ual_request_announce_unless_full(const struct ual_request *request);

/* For it_ia_free: rejects all requests of the IA that still wait for a decision. */
void ual_request_refuse_all(struct ual_ia *ia);

#endif
