/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions. */
#include "memory/ofa_adapter.h"
#include "memory/ofa_key.h"
#include "memory/ofa_memory.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* 0 or errno. */
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

/* Whether there is memory. A device would pin it, and so find out. */
static int check_memory(const void *addr, size_t length)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)addr / page * page;
    uintptr_t last = (uintptr_t)addr + length - 1;

    if (last < (uintptr_t)addr)
        return EINVAL;
    /* Asks nothing of the pages, and fails where there are none. */
    if (msync((void *)first, last - first + 1, MS_ASYNC) != 0 && errno == ENOMEM)
        return EFAULT;
    return 0;
}

/* The region of IT-API behind mr, and its keys. 0 or errno. */
static int register_memory(struct ofa_context *context, const struct ofa_pd *pd, struct ofa_mr *mr)
{
    bool relative = mr->iova == 0 && mr->base.addr != NULL;
    uintptr_t start = relative ? 0 : (uintptr_t)mr->base.addr;
    it_rmr_context_t rkey = 0;
    it_lmr_handle_t lmr = NULL;
    int error;

    if (mr->base.length == 0)
        return ofa_key_add(context, context->nobody_lmr, 0, &mr->base.lkey);
    if (!relative && mr->iova != (uintptr_t)mr->base.addr)
        return ofa_absent("an iova that is neither the address nor 0", EOPNOTSUPP);
    error = check_memory(mr->base.addr, mr->base.length);
    if (error != 0)
        return error;
    error =
        ofa_errno(it_lmr_create21(pd->pz, mr->base.addr, NULL, mr->base.length,
                                  relative ? IT_ADDR_MODE_RELATIVE : IT_ADDR_MODE_ABSOLUTE,
                                  ofa_privileges(mr->access), IT_LMR_FLAG_NONE, 0, &lmr, &rkey));
    if (error != 0)
        return error;
    error = ofa_key_add(context, lmr, start - mr->iova, &mr->base.lkey);
    if (error != 0) {
        (void)it_lmr_free(lmr);
        return error;
    }
    mr->lmr = lmr;
    mr->base.rkey = (uint32_t)rkey;
    return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *base, void *addr, size_t length, uint64_t iova,
                                unsigned int access)
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
    error = register_memory(ofa_context_of(base->context), pd, mr);
    if (error != 0) {
        free(mr);
        errno = error;
        return NULL;
    }
    mr->base.handle = mr->base.lkey >> 8;
    atomic_fetch_add_explicit(&pd->children, 1, memory_order_relaxed);
    return &mr->base;
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

/* 0 or errno: the region serves nobody afterwards. */
static int unregister_memory(struct ofa_mr *mr)
{
    int error = mr->lmr ? ofa_errno(it_lmr_free(mr->lmr)) : 0;

    if (error == 0)
        ofa_key_remove(ofa_context_of(mr->base.context), mr->base.lkey);
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

/* The region with what "flags" changes: a new one takes its place, so both keys change. */
static int rereg(struct ofa_mr *mr, struct ofa_mr *next)
{
    struct ibv_pd *old_pd = mr->base.pd;
    int error = register_memory(ofa_context_of(mr->base.context), ofa_pd_of(next->base.pd), next);

    if (error != 0) {
        errno = error;
        return IBV_REREG_MR_ERR_INPUT;
    }
    error = unregister_memory(mr);
    if (error != 0) {
        (void)unregister_memory(next);
        errno = error;
        return IBV_REREG_MR_ERR_INPUT;
    }
    atomic_fetch_add_explicit(&ofa_pd_of(next->base.pd)->children, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&ofa_pd_of(old_pd)->children, 1, memory_order_release);
    mr->base = next->base;
    mr->lmr = next->lmr;
    mr->iova = next->iova;
    mr->access = next->access;
    return 0;
}

int ibv_rereg_mr(struct ibv_mr *base, int flags, struct ibv_pd *pd, void *addr, size_t length,
                 int access)
{
    struct ofa_mr *mr = ofa_mr_of(base);
    struct ofa_mr next = {.base = mr->base, .iova = mr->iova, .access = mr->access};

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
    return rereg(mr, &next);
}
