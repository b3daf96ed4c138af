/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains and address handles. */
#include "memory/ofa_adapter.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_pd *ibv_alloc_pd(struct ibv_context *base)
{
    struct ofa_context *context = ofa_context_of(base);
    struct ofa_pd *pd;
    int error = ofa_adapter_open(context);

    if (error != 0) {
        errno = error;
        return NULL;
    }
    pd = calloc(1, sizeof(*pd));
    if (!pd)
        return NULL;
    error = ofa_errno(it_pz_create(context->ia, &pd->pz));
    if (error != 0) {
        free(pd);
        errno = error;
        return NULL;
    }
    pd->base.context = base;
    atomic_fetch_add_explicit(&context->children, 1, memory_order_relaxed);
    return &pd->base;
}

int ibv_dealloc_pd(struct ibv_pd *base)
{
    struct ofa_pd *pd = ofa_pd_of(base);
    struct ofa_context *context = ofa_context_of(base->context);
    int error;

    if (atomic_load_explicit(&pd->children, memory_order_acquire) > 0)
        return EBUSY;
    error = ofa_errno(it_pz_free(pd->pz));
    if (error != 0)
        return error;
    atomic_fetch_sub_explicit(&context->children, 1, memory_order_relaxed);
    free(pd);
    return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *base, struct ibv_ah_attr *attr)
{
    struct ofa_pd *pd = ofa_pd_of(base);
    struct ofa_ah *ah;

    /* On Ethernet there is no way without a GID. */
    if (attr->port_num != 1 || !attr->is_global || attr->grh.sgid_index >= OFA_MAX_GIDS) {
        errno = EINVAL;
        return NULL;
    }
    ah = calloc(1, sizeof(*ah));
    if (!ah)
        return NULL;
    ah->base.context = base->context;
    ah->base.pd = base;
    ah->attr = *attr;
    atomic_fetch_add_explicit(&pd->children, 1, memory_order_relaxed);
    return &ah->base;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    atomic_fetch_sub_explicit(&ofa_pd_of(ah->pd)->children, 1, memory_order_release);
    free(ah);
    return 0;
}
