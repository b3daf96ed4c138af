/* SPDX-License-Identifier: BSD-2-Clause */
#include "post/ofa_post.h"

#include "memory/ofa_key.h"

#include <errno.h>

/*
 * A key that names nothing is found out when the request runs, as with a device: it stands for a
 * region that may not be used.
 */
static void segment(struct ofa_context *context, const struct ibv_sge *sge,
                    it_lmr_triplet_t *triplet)
{
    const struct ofa_key *key = ofa_key_find(context, sge->lkey);

    triplet->length = sge->length;
    if (!key) {
        triplet->lmr = context->nobody_lmr;
        triplet->addr.rel = sge->addr;
        return;
    }
    triplet->lmr = atomic_load_explicit(&key->lmr, memory_order_relaxed);
    triplet->addr.rel = sge->addr + atomic_load_explicit(&key->shift, memory_order_relaxed);
}

int ofa_segments(struct ofa_context *context, const struct ibv_sge *sge, int count, int limit,
                 it_lmr_triplet_t *segments, size_t *used)
{
    size_t next = 0;

    if (count < 0 || count > limit)
        return EINVAL;
    for (int i = 0; i < count; i++)
        if (sge[i].length > 0)
            segment(context, &sge[i], &segments[next++]);
    *used = next;
    return 0;
}
