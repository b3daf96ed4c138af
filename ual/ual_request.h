/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Undecided incoming connection requests, found by their cn_est_id (process-wide, never 0, never
 * reused). A request is the provider's memory; whoever takes it out of the table owns it, so of
 * racing accept, reject, handoff and "the peer gave up" exactly one wins.
 */
#ifndef ITAPI_UAL_UAL_REQUEST_H
#define ITAPI_UAL_UAL_REQUEST_H

#include "ual/ual.h"

struct ual_request {
    struct ual_request *next;  /* hash chain; by the table's lock */
    it_cn_est_identifier_t id; /* set by ual_request_add */
    struct ual_ia *ia;
    struct evd *connect_evd; /* of the listen point; held by the listen point only */
    size_t spigot_id;
    it_conn_qual_t conn_qual;
    it_net_addr_t source_addr;
    uint32_t peer_ird, peer_ord;
    const void *private_data;
    size_t private_length;
};

/* Gives the request an id and makes it findable. */
void ual_request_add(struct ual_request *request);

/*
 * Takes the request out: the caller owns it now. NULL when the id is unknown, used or of another
 * IA (ia NULL: any).
 */
struct ual_request *ual_request_take(it_cn_est_identifier_t id, const struct ual_ia *ia);

/* Puts a taken request back under the same id (the call that took it failed and changes nothing). */
void ual_request_put_back(struct ual_request *request);

/* The IA that a waiting request belongs to, without taking it; NULL when unknown. */
struct ual_ia *ual_request_ia(it_cn_est_identifier_t id);

/* For the provider: takes this very request out. False: somebody else has it. */
bool ual_request_withdraw(struct ual_request *request);

/* Queues IT_CM_REQ_CONN_REQUEST_EVENT for it. False when the EVD has no room (nobody was told). */
bool ual_request_announce(const struct ual_request *request);
/* The same, but an EVD without room does not overflow: for a call that reports the failure itself. */
bool ual_request_announce_unless_full(const struct ual_request *request);

/* For it_ia_free: rejects all requests of the IA that still wait for a decision. */
void ual_request_refuse_all(struct ual_ia *ia);

#endif
