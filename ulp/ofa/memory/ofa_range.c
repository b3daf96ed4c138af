/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory/ofa_range.h"

#include "memory/ofa_key.h"

bool ofa_range_find(struct ofa_context *context, const struct ofa_pd *pd, const struct ibv_sge *sge,
                    bool write, struct iovec *memory)
{
    const struct ofa_key *key = ofa_key_find(context, sge->lkey);
    const struct ofa_mr *mr;
    uint64_t offset;

    if (!key)
        return false;
    mr = key->mr;
    offset = sge->addr - mr->iova;
    if (ofa_pd_of(mr->base.pd)->pz != pd->pz || offset > mr->base.length ||
        sge->length > mr->base.length - offset || (write && !(mr->access & IBV_ACCESS_LOCAL_WRITE)))
        return false;
    *memory = (struct iovec){.iov_base = (char *)mr->base.addr + offset, .iov_len = sge->length};
    return true;
}
