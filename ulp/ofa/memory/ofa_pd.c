/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains. */
#include "memory/ofa_adapter.h"
#include "memory/ofa_memory.h"

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
    error = pd->parent ? 0 : ofa_errno(it_pz_free(pd->pz));
    if (error != 0)
        return error;
    if (pd->parent)
        atomic_fetch_sub_explicit(&pd->parent->children, 1, memory_order_release);
    if (pd->td)
        atomic_fetch_sub_explicit(&pd->td->children, 1, memory_order_release);
    atomic_fetch_sub_explicit(&context->children, 1, memory_order_relaxed);
    free(pd);
    return 0;
}

/* ---- Parent domains and thread domains ------------------------------------------------------- */

/*
 * With a thread domain, a program promises that only one thread uses its objects; with a parent
 * domain it offers memory for queues. This library may use both, and does not.
 */
struct ibv_td *ofa_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
    struct ofa_td *td;

    if (attr->comp_mask != 0) {
        errno = EINVAL;
        return NULL;
    }
    td = calloc(1, sizeof(*td));
    if (!td)
        return NULL;
    td->base.context = context;
    return &td->base;
}

int ofa_dealloc_td(struct ibv_td *base)
{
    struct ofa_td *td = (struct ofa_td *)(void *)base;

    if (atomic_load_explicit(&td->children, memory_order_acquire) > 0)
        return EBUSY;
    free(td);
    return 0;
}

struct ibv_pd *ofa_alloc_parent_domain(struct ibv_context *context,
                                       struct ibv_parent_domain_init_attr *attr)
{
    const uint32_t known =
        IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
    struct ofa_pd *pd;

    if (!attr->pd || attr->pd->context != context || (attr->comp_mask & ~known)) {
        errno = EINVAL;
        return NULL;
    }
    pd = calloc(1, sizeof(*pd));
    if (!pd)
        return NULL;
    pd->base = *attr->pd;
    pd->parent = ofa_pd_of(attr->pd);
    pd->pz = pd->parent->pz;
    pd->td = (struct ofa_td *)(void *)attr->td;
    if (pd->td)
        atomic_fetch_add_explicit(&pd->td->children, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&pd->parent->children, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&ofa_context_of(context)->children, 1, memory_order_relaxed);
    return &pd->base;
}
