/* SPDX-License-Identifier: BSD-2-Clause */
/* Local memory regions: it_lmr_create10, it_lmr_create20, it_lmr_create21, query, free. */

#include "ual/memory/ual_memory.h"
#include "ual/object/ual_object.h"

#define UAL_LMR_PRIVS ((unsigned)IT_PRIV_ALL)
#define UAL_LMR_READS ((unsigned)IT_PRIV_LOCAL_READ | (unsigned)IT_PRIV_REMOTE_READ)
#define UAL_LMR_WRITES                                                                             \
    ((unsigned)IT_PRIV_LOCAL_WRITE | (unsigned)IT_PRIV_REMOTE_WRITE | (unsigned)IT_PRIV_ATOMIC)
#define UAL_LMR_FLAGS                                                                              \
    ((unsigned)IT_LMR_FLAG_NONE | (unsigned)IT_LMR_FLAG_SHARED |                                   \
     (unsigned)IT_LMR_FLAG_NONCOHERENT | (unsigned)IT_LMR_FLAG_NON_SHAREABLE |                     \
     (unsigned)ITX_LMR_STEADY | (unsigned)ITX_LMR_RESTLESS)
#define UAL_LMR_PARAMS (((unsigned)IT_LMR_PARAM_IOBL_TYPE << 1) - 1) /* all bits up to the last */

/* The arguments of a create. */
struct ual_lmr_spec {
    const char *call;
    void *addr;
    it_length_t length;
    it_addr_mode_t addr_mode;
    it_mem_priv_t privs;
    it_lmr_flag_t flags;
    uint32_t shared_id;
    const it_iobl_t *iobl;      /* 2.1 only; usually NULL */
    bool tells_no_addr;         /* 2.1: IT_NO_ADDR has a status of its own */
    const it_rdma_addr_t *base; /* address of the first octet for peers; NULL: as addr_mode says */
};

/* ---------------------------------------------------------------- create */

it_status_t ual_lmr_check_flags(const char *call, it_lmr_flag_t flags)
{
    if (((unsigned)flags & ~UAL_LMR_FLAGS) ||
        ((flags & IT_LMR_FLAG_SHARED) && (flags & IT_LMR_FLAG_NON_SHAREABLE)))
        return base_refuse_bits(IT_ERR_INVALID_FLAGS, call, flags);
    return IT_SUCCESS;
}

it_status_t ual_lmr_check_privs(const char *call, it_mem_priv_t privs,
                                const struct vp_attributes *attributes)
{
    if (((unsigned)privs & ~UAL_LMR_PRIVS) ||
        ((privs & IT_PRIV_REMOTE_WRITE) && !(privs & IT_PRIV_LOCAL_WRITE)) ||
        ((privs & IT_PRIV_ATOMIC) && !attributes->atomics))
        return base_refuse_bits(IT_ERR_INVALID_PRIVS, call, privs);
    return IT_SUCCESS;
}

it_status_t ual_lmr_check_memory(const char *call, const void *addr, it_length_t length,
                                 it_mem_priv_t privs)
{
    it_status_t status = ual_mem_range_check((uintptr_t)addr, length, (privs & UAL_LMR_READS) != 0,
                                             (privs & UAL_LMR_WRITES) != 0);

    return base_refuse(status, call, "addr %p, length %llu, privs %#x", addr,
                       (unsigned long long)length, (unsigned)privs);
}

/*
 * No Interface of this library is privileged, so a list of I/O addresses is always refused; the
 * status depends on what is wrong with it.
 */
static it_status_t ual_lmr_refuse_iobl(const char *call, const it_iobl_t *iobl)
{
    bool variable = iobl->iobl_type == IT_IOBL_VE_PAGE_LIST;

    if (!variable && iobl->iobl_type != IT_IOBL_PAGE_LIST && iobl->iobl_type != IT_IOBL_BLOCK_LIST)
        return base_refuse_number(IT_ERR_INVALID_IOBL, call, iobl->iobl_type);
    if (iobl->num_elts == 0)
        return base_refuse_number(IT_ERR_INVALID_IOBL, call, iobl->num_elts);
    if (variable ? !iobl->list.ve_list.list_elt : !iobl->list.ce_list.list_elt)
        return base_refuse(IT_ERR_INVALID_IOBL, call, "iobl->list is NULL");
    return base_refuse(IT_ERR_PRIV_OPS_UNAVAILABLE, call, "iobl %p: for privileged programs only",
                       (const void *)iobl);
}

static it_status_t ual_lmr_check_values(const struct ual_lmr_spec *spec,
                                        const struct vp_attributes *attributes)
{
    const char *call = spec->call;
    it_status_t status = ual_lmr_check_flags(call, spec->flags);

    if (status == IT_SUCCESS)
        status = ual_lmr_check_privs(call, spec->privs, attributes);
    if (status != IT_SUCCESS)
        return status;
    if ((unsigned)spec->addr_mode > IT_ADDR_MODE_RELATIVE ||
        (spec->addr_mode == IT_ADDR_MODE_RELATIVE && !attributes->relative_addressing))
        return base_refuse_number(IT_ERR_INVALID_ADDR_MODE, call, spec->addr_mode);
    if (spec->iobl)
        return ual_lmr_refuse_iobl(call, spec->iobl);
    if (spec->addr == IT_NO_ADDR && spec->tells_no_addr)
        return base_refuse(IT_ERR_ADDRESS, call, "addr is IT_NO_ADDR");
    if (spec->length == 0)
        return base_refuse_number(IT_ERR_INVALID_LENGTH, call, spec->length);
    if (spec->length > attributes->max_lmr_length)
        return base_refuse_above(IT_ERR_RESOURCE_LMR_LENGTH, call, spec->length,
                                 attributes->max_lmr_length);
    return ual_lmr_check_memory(call, spec->addr, spec->length, spec->privs);
}

void ual_lmr_renew_pass(struct ual_lmr *lmr)
{
    static _Atomic uint64_t last;

    atomic_store_explicit(&lmr->pass, atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1,
                          memory_order_release);
}

static it_status_t ual_lmr_new(struct ual_pz *pz, const struct ual_lmr_spec *spec,
                               it_lmr_handle_t *lmr_handle, it_rmr_context_t *rmr_context)
{
    struct ual_ia *ia = ual_ia_of(&pz->object);
    struct ual_lmr *lmr;
    it_status_t status;

    lmr = ual_object_new_child(spec->call, ia, IT_HANDLE_TYPE_LMR, pz, IT_ERR_INVALID_PZ, &status);
    if (!lmr)
        return status;
    lmr->pz = pz;
    lmr->addr = spec->addr;
    lmr->length = spec->length;
    lmr->addr_mode = spec->addr_mode;
    lmr->privs = spec->privs;
    lmr->flags = spec->flags;
    lmr->shared_id = spec->shared_id;
    base_lock_init(&lmr->lock);
    status =
        spec->base ? ia->provider->lmr_create_at(lmr, *spec->base) : ia->provider->lmr_create(lmr);
    if (status != IT_SUCCESS) {
        base_lock_destroy(&lmr->lock);
        ual_object_discard_child(&lmr->object, pz);
        return base_refuse(status, spec->call, "addr %p, length %llu, privs %#x: refused by %s",
                           spec->addr, (unsigned long long)spec->length, (unsigned)spec->privs,
                           ia->provider->name);
    }
    ual_object_start(&lmr->object);
    ual_lmr_renew_pass(lmr);
    if (rmr_context)
        *rmr_context = lmr->key;
    *lmr_handle = (it_lmr_handle_t)(void *)lmr;
    return IT_SUCCESS;
}

static it_status_t ual_lmr_create(it_pz_handle_t pz_handle, const struct ual_lmr_spec *spec,
                                  it_lmr_handle_t *lmr_handle, it_rmr_context_t *rmr_context)
{
    struct ual_pz *pz = ual_pz_from(pz_handle);
    struct ual_ia *ia;
    it_status_t status;

    if (!pz)
        return base_refuse_handle(IT_ERR_INVALID_PZ, spec->call, pz_handle);
    if (!lmr_handle)
        return base_refuse_null(spec->call, lmr_handle);
    ia = ual_ia_of(&pz->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    status = ual_lmr_check_values(spec, ia->provider->ia_attributes(ia));
    if (status == IT_SUCCESS)
        status = ual_lmr_new(pz, spec, lmr_handle, rmr_context);
    return status;
}

it_status_t it_lmr_create10(it_pz_handle_t pz_handle, void *addr, it_length_t length,
                            it_mem_priv_t privs, it_lmr_flag_t flags, uint32_t shared_id,
                            it_lmr_handle_t *lmr_handle, it_rmr_context_t *rmr_context)
{
    const struct ual_lmr_spec spec = {
        __func__, addr, length, IT_ADDR_MODE_ABSOLUTE, privs, flags, shared_id, NULL, false, NULL,
    };

    return ual_lmr_create(pz_handle, &spec, lmr_handle, rmr_context);
}

it_status_t it_lmr_create20(it_pz_handle_t pz_handle, void *addr, it_length_t length,
                            it_addr_mode_t addr_mode, it_mem_priv_t privs, it_lmr_flag_t flags,
                            uint32_t shared_id, it_lmr_handle_t *lmr_handle,
                            it_rmr_context_t *rmr_context)
{
    const struct ual_lmr_spec spec = {
        __func__, addr, length, addr_mode, privs, flags, shared_id, NULL, false, NULL,
    };

    return ual_lmr_create(pz_handle, &spec, lmr_handle, rmr_context);
}

it_status_t it_lmr_create21(it_pz_handle_t pz_handle, void *addr, it_iobl_t *iobl,
                            it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                            it_lmr_flag_t flags, uint32_t shared_id, it_lmr_handle_t *lmr_handle,
                            it_rmr_context_t *rmr_context)
{
    const struct ual_lmr_spec spec = {
        __func__, addr, length, addr_mode, privs, flags, shared_id, iobl, true, NULL,
    };

    return ual_lmr_create(pz_handle, &spec, lmr_handle, rmr_context);
}

it_status_t itx_lmr_create_at(it_pz_handle_t pz_handle, void *addr, it_length_t length,
                              it_rdma_addr_t base, it_mem_priv_t privs, it_lmr_flag_t flags,
                              it_lmr_handle_t *lmr_handle, it_rmr_context_t *rmr_context)
{
    const struct ual_lmr_spec spec = {
        __func__, addr, length, IT_ADDR_MODE_ABSOLUTE, privs, flags, 0, NULL, true, &base,
    };
    const struct ual_pz *pz = ual_pz_from(pz_handle);

    if (pz && !VP_PROVIDER_HAS(ual_ia_of(&pz->object)->provider, lmr_create_at))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__,
                           "%s does not let the program choose addresses",
                           ual_ia_of(&pz->object)->name);
    if (length > UINT64_MAX - base)
        return base_refuse(IT_ERR_RANGE, __func__, "base %#llx, length %llu",
                           (unsigned long long)base, (unsigned long long)length);
    return ual_lmr_create(pz_handle, &spec, lmr_handle, rmr_context);
}

/* ---------------------------------------------------------------- query */

static void ual_lmr_read_memory(const struct ual_lmr *lmr, unsigned members, it_lmr_param_t *params)
{
    if (members & IT_LMR_PARAM_ADDR)
        params->addr = lmr->addr;
    if (members & IT_LMR_PARAM_LENGTH)
        params->length = lmr->length;
    if (members & IT_LMR_PARAM_ACTUAL_ADDR)
        params->actual_addr = lmr->addr;
    if (members & IT_LMR_PARAM_ACTUAL_LENGTH)
        params->actual_length = lmr->length;
    if (members & IT_LMR_PARAM_ADDR_MODE)
        params->addr_mode = lmr->addr_mode;
    if (members & IT_LMR_PARAM_LINKED)
        params->linked =
            atomic_load_explicit(&lmr->linked, memory_order_relaxed) ? IT_TRUE : IT_FALSE;
    if (members & IT_LMR_PARAM_IOBL_NUM_ELTS)
        params->iobl_num_elts = 0;
    if (members & IT_LMR_PARAM_IOBL_TYPE)
        params->iobl_type = (it_iobl_type_t)0; /* no list */
}

static void ual_lmr_read_changing_locked(const struct ual_lmr *lmr, unsigned members,
                                         it_lmr_param_t *params)
{
    base_lock_assert_held(&lmr->lock);
    if (members & IT_LMR_PARAM_PZ)
        params->pz = (it_pz_handle_t)(void *)lmr->pz;
    if (members & IT_LMR_PARAM_MEM_PRIV)
        params->privs = lmr->privs;
    if (members & IT_LMR_PARAM_RMR_CONTEXT)
        params->rmr_context = lmr->key;
}

it_status_t it_lmr_query(it_lmr_handle_t lmr_handle, it_lmr_param_mask_t mask,
                         it_lmr_param_t *params)
{
    struct ual_lmr *lmr = ual_lmr_from(lmr_handle);
    unsigned members = ual_object_members(mask);

    if (!lmr)
        return base_refuse_handle(IT_ERR_INVALID_LMR, __func__, lmr_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if ((unsigned)mask & ~UAL_LMR_PARAMS)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    if (members & IT_LMR_PARAM_IA)
        params->ia = (it_ia_handle_t)(void *)lmr->object.ia;
    if (members & IT_LMR_PARAM_FLAG)
        params->flags = lmr->flags;
    if (members & IT_LMR_PARAM_SHARED_ID)
        params->shared_id = lmr->shared_id;
    ual_lmr_read_memory(lmr, members, params);
    base_lock_take(&lmr->lock);
    ual_lmr_read_changing_locked(lmr, members, params);
    base_lock_drop(&lmr->lock);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- free */

void ual_lmr_destroy(struct base_object *object)
{
    struct ual_lmr *lmr = (struct ual_lmr *)(void *)object;

    atomic_store_explicit(&lmr->pass, 0, memory_order_relaxed);
    base_object_unpublish(object);
    ual_ia_of(object)->provider->lmr_destroy(lmr);
    base_object_release(&lmr->pz->object);
    base_lock_destroy(&lmr->lock);
    ual_object_end(object);
}

it_status_t it_lmr_free(it_lmr_handle_t lmr_handle)
{
    return ual_object_free(__func__, "lmr_handle", lmr_handle, IT_HANDLE_TYPE_LMR,
                           IT_ERR_INVALID_LMR, IT_ERR_LMR_BUSY, ual_lmr_destroy);
}
