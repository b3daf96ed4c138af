/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains. */
#include "memory/ofa_adapter.h"

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
