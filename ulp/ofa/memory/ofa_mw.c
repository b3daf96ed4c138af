/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows. */
#include "memory/ofa_adapter.h"
#include "memory/ofa_memory.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_mw *ofa_alloc_mw(struct ibv_pd *base, enum ibv_mw_type type)
{
    struct ofa_pd *pd = ofa_pd_of(base);
    struct ofa_mw *mw;
    it_rmr_context_t rkey;
    it_context_t self;
    int error;

    if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
        errno = EINVAL;
        return NULL;
    }
    mw = calloc(1, sizeof(*mw));
    if (!mw)
        return NULL;
    error = ofa_errno(it_rmr_create20(
        pd->pz, type == IBV_MW_TYPE_1 ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW, &mw->rmr));
    if (error == 0)
        error = ofa_errno(itx_rmr_key(mw->rmr, &rkey));
    if (error != 0) {
        if (mw->rmr)
            (void)it_rmr_free(mw->rmr);
        free(mw);
        errno = error;
        return NULL;
    }
    self.ptr = mw;
    (void)it_set_consumer_context(mw->rmr, self);
    mw->base.rkey = (uint32_t)rkey;
    mw->base.context = base->context;
    mw->base.pd = base;
    mw->base.type = type;
    atomic_fetch_add_explicit(&pd->children, 1, memory_order_relaxed);
    return &mw->base;
}

int ofa_dealloc_mw(struct ibv_mw *base)
{
    struct ofa_mw *mw = (struct ofa_mw *)(void *)base;
    int error = ofa_errno(it_rmr_free(mw->rmr));

    if (error != 0)
        return error;
    atomic_fetch_sub_explicit(&ofa_pd_of(base->pd)->children, 1, memory_order_release);
    free(mw);
    return 0;
}
