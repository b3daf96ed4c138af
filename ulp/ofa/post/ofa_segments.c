/* SPDX-License-Identifier: BSD-2-Clause */
#include "post/ofa_post.h"

#include <errno.h>

int ofa_segments(struct ofa_context *context, const struct ibv_sge *sge, int count, int limit,
                 it_lmr_triplet_t *segments, size_t *used)
{
    size_t next = 0;

    if (count < 0 || count > limit)
        return EINVAL;
    for (int i = 0; i < count; i++)
        if (sge[i].length > 0)
            ofa_segment(context, &sge[i], &segments[next++]);
    *used = next;
    return 0;
}
