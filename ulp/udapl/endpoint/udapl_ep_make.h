/* SPDX-License-Identifier: BSD-2-Clause */
/* The EP of IT-API behind an EP. It is created when the EP has a PZ. */
#ifndef ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_EP_MAKE_H
#define ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_EP_MAKE_H

#include "object/udapl_ep.h"
#include "object/udapl_ia.h"
#include "object/udapl_srq.h"

/* The objects of an EP; each may be NULL. */
struct udapl_ep_parts {
    struct udapl_pz *pz;
    struct udapl_evd *recv_evd, *request_evd, *connect_evd;
    struct udapl_srq *srq;
};

/* Finds the objects of handles. DAT_HANDLE_NULL means none. */
DAT_RETURN udapl_ep_parts_find(const struct udapl_ia *ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
                               DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
                               struct udapl_ep_parts *parts);

/*
 * Sets the parts and the settled attributes of an EP without any and, with a PZ, creates its EP of
 * IT-API. If that fails, the EP has none of them.
 */
DAT_RETURN udapl_ep_make(struct udapl_ep *ep, const struct udapl_ep_parts *parts,
                         const DAT_EP_ATTR *attr);

/* Undoes udapl_ep_make. If IT-API refuses, the EP has not changed. */
DAT_RETURN udapl_ep_unmake(struct udapl_ep *ep);

/* Gets the parts of an EP. */
void udapl_ep_parts_of(const struct udapl_ep *ep, struct udapl_ep_parts *parts);

#endif
