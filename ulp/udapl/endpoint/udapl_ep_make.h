/* SPDX-License-Identifier: BSD-2-Clause */
/* The EP of IT-API behind an EP, which begins when it has a PZ. */
#ifndef ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_EP_MAKE_H
#define ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_EP_MAKE_H

#include "object/udapl_ep.h"
#include "object/udapl_ia.h"
#include "object/udapl_srq.h"

/* Objects that an EP is made with; each may be NULL. */
struct udapl_ep_parts {
    struct udapl_pz *pz;
    struct udapl_evd *recv_evd, *request_evd, *connect_evd;
    struct udapl_srq *srq;
};

/* Finds the objects of handles; DAT_HANDLE_NULL is none. */
DAT_RETURN udapl_ep_parts_find(const struct udapl_ia *ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
                               DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
                               struct udapl_ep_parts *parts);

/*
 * Gives an EP that has none parts and attributes, which are settled, and, with a PZ, its EP of
 * IT-API. An EP that cannot have them stays without.
 */
DAT_RETURN udapl_ep_make(struct udapl_ep *ep, const struct udapl_ep_parts *parts,
                         const DAT_EP_ATTR *attr);

/* Takes all that away again. A refusal of IT-API leaves the EP as it is. */
DAT_RETURN udapl_ep_unmake(struct udapl_ep *ep);

/* What an EP is made of now. */
void udapl_ep_parts_of(const struct udapl_ep *ep, struct udapl_ep_parts *parts);

#endif
