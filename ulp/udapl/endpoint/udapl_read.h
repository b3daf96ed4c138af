/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA Reads that are shortened or split. */
#ifndef ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_READ_H
#define ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_READ_H

#include "endpoint/udapl_segments.h"
#include "object/udapl_ep.h"

/* Shortens segments to a smaller total length. */
void udapl_read_shorten(struct udapl_segments *segments, uint64_t length);

/*
 * Posts a Read as several Reads, each with as many segments as the adapter takes. They complete in
 * order, so the last one reports the success of all.
 */
DAT_RETURN udapl_read_split(struct udapl_ep *ep, const struct udapl_segments *segments,
                            uint64_t cookie, const DAT_RMR_TRIPLET *remote,
                            DAT_COMPLETION_FLAGS flags);

#endif
