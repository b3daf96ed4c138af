/* SPDX-License-Identifier: BSD-2-Clause */
/* PZ and LMR: protection domains and registered memory. */
#include "vp/verbs/memory/verbs_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

const char *verbs_limit_text(int error, char text[VERBS_LIMIT_TEXT])
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

    text[0] = '\0';
    (void)getrlimit(RLIMIT_MEMLOCK, &limit); /* if this fails, no limit is reported */
    if (limit.rlim_cur != RLIM_INFINITY && (error == ENOMEM || error == EAGAIN))
        (void)snprintf(text, VERBS_LIMIT_TEXT, " (limit of locked memory: %llu KiB)",
                       (unsigned long long)limit.rlim_cur / 1024); /* fits */
    return text;
}

/* ---------------------------------------------------------------- PZ */

it_status_t verbs_pz_create(struct ual_pz *ual)
{
    struct verbs_ia *ia = verbs_ia_of(verbs_host->ia_of(ual));
    struct verbs_pz *pz = verbs_pz_of(ual);
    int error;

    pz->pd = ibv_alloc_pd(ia->context);
    if (!pz->pd) {
        error = errno;
        goto err_log;
    }
    if (!ia->quirks.zero_segments)
        return IT_SUCCESS;
    pz->empty_mr = ibv_reg_mr(pz->pd, pz->empty, sizeof(pz->empty), IBV_ACCESS_LOCAL_WRITE);
    if (pz->empty_mr)
        return IT_SUCCESS;
    error = errno;
    (void)ibv_dealloc_pd(pz->pd); /* nothing uses it */

err_log:
    verbs_warn(ia, "no protection domain", error);
    return IT_ERR_RESOURCES;
}

void verbs_pz_destroy(struct ual_pz *ual)
{
    struct verbs_pz *pz = verbs_pz_of(ual);

    if (pz->empty_mr)
        (void)ibv_dereg_mr(pz->empty_mr); /* nothing uses it */
    if (ibv_dealloc_pd(pz->pd) != 0)
        verbs_log(VP_LOG_WARN, "a protection domain is still in use");
}

/* ---------------------------------------------------------------- LMR */

static unsigned memory_access(const struct verbs_ia *ia, it_mem_priv_t privs)
{
    unsigned access = 0;

    if (privs & IT_PRIV_LOCAL_WRITE)
        access |= IBV_ACCESS_LOCAL_WRITE;
    if (privs & IT_PRIV_REMOTE_READ)
        access |= IBV_ACCESS_REMOTE_READ;
    if (privs & IT_PRIV_REMOTE_WRITE)
        access |= (unsigned)IBV_ACCESS_REMOTE_WRITE | (unsigned)IBV_ACCESS_LOCAL_WRITE;
    if (privs & IT_PRIV_ATOMIC)
        access |= (unsigned)IBV_ACCESS_REMOTE_ATOMIC | (unsigned)IBV_ACCESS_LOCAL_WRITE;
    if (ia->attributes.rmr_types)
        access |= IBV_ACCESS_MW_BIND;
    return access;
}

static void memory_log(const struct verbs_ia *ia, it_length_t length, int error)
{
    char limit[VERBS_LIMIT_TEXT];

    verbs_log(VP_LOG_WARN, "%s: %llu octets cannot be registered: %s%s",
              verbs_host->ia_name(ia->ual), (unsigned long long)length, strerror(error),
              verbs_limit_text(error, limit));
}

/*
 * Returns NULL with errno set on failure. Clears IBV_ACCESS_MW_BIND in *access if no window can be
 * linked to the region.
 */
static struct ibv_mr *memory_try(const struct vp_lmr_info *info, struct ual_pz *pz,
                                 unsigned *access)
{
    struct ibv_mr *mr = ibv_reg_mr(verbs_pz_of(pz)->pd, info->addr, info->length, *access);
    bool bad_memory = !mr && (errno == EFAULT || errno == EACCES);

    /* Kernels require write access for memory that may have windows, whatever those would allow. */
    if (!bad_memory || !(*access & IBV_ACCESS_MW_BIND) || (*access & IBV_ACCESS_LOCAL_WRITE))
        return mr;
    *access &= ~(unsigned)IBV_ACCESS_MW_BIND;
    return ibv_reg_mr(verbs_pz_of(pz)->pd, info->addr, info->length, *access);
}

static it_status_t memory_register(struct ual_lmr *ual, const struct vp_lmr_info *info,
                                   struct ual_pz *pz, it_mem_priv_t privs)
{
    const struct verbs_ia *ia = verbs_ia_of(verbs_host->ia_of(ual));
    struct verbs_lmr *lmr = verbs_lmr_of((it_lmr_handle_t)(void *)ual);
    unsigned access = memory_access(ia, privs);
    struct ibv_mr *mr = memory_try(info, pz, &access);
    int error;

    if (!mr) {
        error = errno;
        memory_log(ia, info->length, error);
        return error == EACCES || error == EFAULT ? IT_ERR_ACCESS : IT_ERR_RESOURCES;
    }
    lmr->mr = mr;
    lmr->lkey = mr->lkey;
    lmr->addr = (uintptr_t)info->addr;
    lmr->length = info->length;
    lmr->pd = mr->pd;
    lmr->has_windows = (access & IBV_ACCESS_MW_BIND) != 0;
    verbs_host->lmr_set_key(ual, mr->rkey);
    return IT_SUCCESS;
}

it_status_t verbs_lmr_create(struct ual_lmr *ual)
{
    struct vp_lmr_info info;

    verbs_host->lmr_info(ual, &info);
    return memory_register(ual, &info, info.pz, info.privs);
}

static void memory_deregister(struct ual_lmr *ual, struct ibv_mr *mr)
{
    int error = ibv_dereg_mr(mr);

    if (error &&
        !atomic_load_explicit(&verbs_ia_of(verbs_host->ia_of(ual))->removed, memory_order_relaxed))
        verbs_log(VP_LOG_WARN, "memory cannot be deregistered: %s", strerror(error));
}

void verbs_lmr_destroy(struct ual_lmr *ual)
{
    memory_deregister(ual, verbs_lmr_of((it_lmr_handle_t)(void *)ual)->mr);
}

/* Registers the memory again, which gives a new key: not all devices can change a registration. */
it_status_t verbs_lmr_modify(struct ual_lmr *ual, struct ual_pz *pz, it_mem_priv_t privs)
{
    struct ibv_mr *old = verbs_lmr_of((it_lmr_handle_t)(void *)ual)->mr;
    struct vp_lmr_info info;
    it_status_t status;

    verbs_host->lmr_info(ual, &info);
    status = memory_register(ual, &info, pz, privs);
    if (status == IT_SUCCESS)
        memory_deregister(ual, old);
    return status;
}
