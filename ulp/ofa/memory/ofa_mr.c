/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions. */
#include "memory/ofa_adapter.h"
#include "memory/ofa_key.h"
#include "memory/ofa_memory.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <stdlib.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define ACCESS_KNOWN                                                                               \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |                   \
     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB)

it_mem_priv_t ofa_privileges(unsigned int access)
{
    unsigned int privileges = IT_PRIV_LOCAL_READ;

    if (access & IBV_ACCESS_LOCAL_WRITE)
        privileges |= IT_PRIV_LOCAL_WRITE;
    if (access & IBV_ACCESS_REMOTE_WRITE)
        privileges |= IT_PRIV_REMOTE_WRITE;
    if (access & IBV_ACCESS_REMOTE_READ)
        privileges |= IT_PRIV_REMOTE_READ;
    if (access & IBV_ACCESS_REMOTE_ATOMIC)
        privileges |= IT_PRIV_ATOMIC;
    return (it_mem_priv_t)privileges;
}

/* Returns 0 or errno. */
static int check_access(unsigned int access)
{
    access &= ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
    if (access & IBV_ACCESS_ON_DEMAND)
        return ofa_absent("IBV_ACCESS_ON_DEMAND", EOPNOTSUPP);
    if (access & ~(unsigned int)ACCESS_KNOWN)
        return EINVAL;
    if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
        !(access & IBV_ACCESS_LOCAL_WRITE))
        return EINVAL;
    return 0;
}

/* Creates the LMR and the keys for mr; `self` is their final owner. Returns 0 or errno. */
static int register_memory(struct ofa_context *context, const struct ofa_pd *pd, struct ofa_mr *mr,
                           struct ofa_mr *self)
{
    it_rmr_context_t rkey = 0;
    int error;

    mr->lmr = NULL;
    if (mr->base.length == 0)
        return ofa_key_add(context, context->nobody_lmr, 0, self, &mr->base.lkey);
    error = ofa_errno(itx_lmr_create_at(pd->pz, mr->base.addr, mr->base.length, mr->iova,
                                        ofa_privileges(mr->access), mr->flags, &mr->lmr, &rkey));
    if (error == 0)
        error = ofa_key_add(context, mr->lmr, (uintptr_t)mr->base.addr - mr->iova, self,
                            &mr->base.lkey);
    if (error != 0) {
        if (mr->lmr)
            (void)it_lmr_free(mr->lmr);
        return error;
    }
    ofa_remember_key(mr->lmr, (uint32_t)rkey);
    mr->base.rkey = (uint32_t)rkey;
    return 0;
}

static struct ibv_mr *create(struct ibv_pd *base, void *addr, size_t length, uint64_t iova,
                             unsigned int access, it_lmr_flag_t flags)
{
    struct ofa_pd *pd = ofa_pd_of(base);
    struct ofa_mr *mr;
    int error = check_access(access);

    if (error != 0) {
        errno = error;
        return NULL;
    }
    mr = calloc(1, sizeof(*mr));
    if (!mr)
        return NULL;
    mr->base =
        (struct ibv_mr){.context = base->context, .pd = base, .addr = addr, .length = length};
    mr->iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova;
    mr->access = access;
    mr->flags = flags;
    error = register_memory(ofa_context_of(base->context), pd, mr, mr);
    if (error != 0) {
        free(mr);
        errno = error;
        return NULL;
    }
    mr->base.handle = mr->base.lkey >> OFA_KEY_GENERATION_BITS;
    atomic_fetch_add_explicit(&pd->children, 1, memory_order_relaxed);
    return &mr->base;
}

/* The program may change the memory while it is sent: no device minds. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                unsigned int access)
{
    return create(pd, addr, length, iova, access, ITX_LMR_RESTLESS);
}

struct ibv_mr *ofa_register_still(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    return create(pd, addr, length, (uintptr_t)addr, (unsigned int)access, IT_LMR_FLAG_NONE);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                               int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

/* Frees the LMR and the key. Returns 0 or errno. */
static int unregister_memory(struct ofa_mr *mr)
{
    struct ofa_context *context = ofa_context_of(mr->base.context);
    int error = 0;

    /* No datagram may be being copied. */
    (void)pthread_mutex_lock(&context->datagram_lock);
    if (mr->lmr)
        error = ofa_errno(it_lmr_free(mr->lmr));
    if (error == 0)
        ofa_key_remove(context, mr->base.lkey);
    (void)pthread_mutex_unlock(&context->datagram_lock);
    return error;
}

int ibv_dereg_mr(struct ibv_mr *base)
{
    struct ofa_mr *mr = ofa_mr_of(base);
    int error = unregister_memory(mr);

    if (error != 0)
        return error;
    atomic_fetch_sub_explicit(&ofa_pd_of(base->pd)->children, 1, memory_order_release);
    free(mr);
    return 0;
}

/* Changes the protection zone or the rights of a region, which keeps its keys. */
static int modify(struct ofa_mr *mr, const struct ofa_mr *next)
{
    it_lmr_param_t param = {.pz = ofa_pd_of(next->base.pd)->pz,
                            .privs = ofa_privileges(next->access)};

    if (!mr->lmr)
        return 0;
    return ofa_errno(it_lmr_modify(
        mr->lmr, (it_lmr_param_mask_t)(IT_LMR_PARAM_PZ | IT_LMR_PARAM_MEM_PRIV | ITX_LMR_KEEP_KEY),
        &param));
}

/* Replaces the region by one with other memory; both keys change. */
static int replace(struct ofa_mr *mr, struct ofa_mr *next)
{
    int error =
        register_memory(ofa_context_of(mr->base.context), ofa_pd_of(next->base.pd), next, mr);

    if (error != 0)
        return error;
    error = unregister_memory(mr);
    if (error != 0) {
        (void)unregister_memory(next);
        return error;
    }
    mr->lmr = next->lmr;
    return 0;
}

static int rereg(struct ofa_mr *mr, struct ofa_mr *next, bool translation)
{
    struct ofa_context *context = ofa_context_of(mr->base.context);
    struct ibv_pd *old_pd = mr->base.pd;
    it_lmr_param_t param;
    int error = translation ? replace(mr, next) : modify(mr, next);

    if (error != 0) {
        errno = error;
        return IBV_REREG_MR_ERR_INPUT;
    }
    atomic_fetch_add_explicit(&ofa_pd_of(next->base.pd)->children, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&ofa_pd_of(old_pd)->children, 1, memory_order_release);
    (void)pthread_mutex_lock(&context->datagram_lock);
    mr->base = next->base;
    mr->iova = next->iova;
    mr->access = next->access;
    (void)pthread_mutex_unlock(&context->datagram_lock);
    if (mr->lmr && it_lmr_query(mr->lmr, IT_LMR_PARAM_RMR_CONTEXT, &param) == IT_SUCCESS)
        mr->base.rkey = (uint32_t)param.rmr_context;
    return 0;
}

int ibv_rereg_mr(struct ibv_mr *base, int flags, struct ibv_pd *pd, void *addr, size_t length,
                 int access)
{
    struct ofa_mr *mr = ofa_mr_of(base);
    struct ofa_mr next = {
        .base = mr->base, .iova = mr->iova, .access = mr->access, .flags = mr->flags};

    if (flags & ~(IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
                  IBV_REREG_MR_CHANGE_ACCESS) ||
        flags == 0 || ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) && length == 0) ||
        ((flags & IBV_REREG_MR_CHANGE_PD) && !pd) ||
        ((flags & IBV_REREG_MR_CHANGE_ACCESS) && check_access((unsigned int)access) != 0)) {
        errno = EINVAL;
        return IBV_REREG_MR_ERR_INPUT;
    }
    if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
        next.base.addr = addr;
        next.base.length = length;
        next.iova = (uintptr_t)addr;
    }
    if (flags & IBV_REREG_MR_CHANGE_PD)
        next.base.pd = pd;
    if (flags & IBV_REREG_MR_CHANGE_ACCESS)
        next.access = (unsigned int)access;
    return rereg(mr, &next, (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0);
}
