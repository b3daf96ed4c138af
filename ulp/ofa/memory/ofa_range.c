/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory/ofa_range.h"

#include "memory/ofa_key.h"

bool ofa_range_find(struct ofa_context *context, const struct ofa_pd *pd, const struct ibv_sge *sge,
                    bool write, struct iovec *memory)
{
    const it_lmr_param_mask_t mask =
        (it_lmr_param_mask_t)(IT_LMR_PARAM_PZ | IT_LMR_PARAM_ADDR | IT_LMR_PARAM_LENGTH |
                              IT_LMR_PARAM_MEM_PRIV);
    const struct ofa_key *key = ofa_key_find(context, sge->lkey);
    it_lmr_param_t param;
    uint64_t offset;

    if (!key || it_lmr_query(atomic_load_explicit(&key->lmr, memory_order_relaxed), mask, &param) !=
                    IT_SUCCESS)
        return false;
    offset =
        sge->addr + atomic_load_explicit(&key->shift, memory_order_relaxed) - (uintptr_t)param.addr;
    if (param.pz != pd->pz || offset > param.length || sge->length > param.length - offset ||
        (write && !(param.privs & IT_PRIV_LOCAL_WRITE)))
        return false;
    *memory = (struct iovec){.iov_base = (char *)param.addr + offset, .iov_len = sge->length};
    return true;
}
