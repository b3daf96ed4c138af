/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that this layer copies itself. */
#ifndef ITAPI_ULP_OFA_MEMORY_OFA_RANGE_H
#define ITAPI_ULP_OFA_MEMORY_OFA_RANGE_H

#include "object/ofa_object.h"

#include <sys/uio.h>

/*
 * Finds the memory of a segment. Returns false if its key does not allow the access. The caller
 * holds ofa_context.datagram_lock; the memory stays registered until it drops it.
 */
bool ofa_range_find(struct ofa_context *context, const struct ofa_pd *pd, const struct ibv_sge *sge,
                    bool write, struct iovec *memory);

#endif /* ITAPI_ULP_OFA_MEMORY_OFA_RANGE_H */
