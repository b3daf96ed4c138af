/* SPDX-License-Identifier: BSD-2-Clause */
/* it_lmr_modify. */
#include "ual/memory/ual_memory.h"

#define UAL_LMR_MODIFY "it_lmr_modify"
#define UAL_LMR_MODIFIABLE                                                                         \
    ((unsigned)IT_LMR_PARAM_PZ | (unsigned)IT_LMR_PARAM_MEM_PRIV | (unsigned)ITX_LMR_KEEP_KEY)

/* The new values of the LMR. The PZ is held once it is known to be live. */
struct ual_lmr_change {
    struct ual_pz *pz;
    it_mem_priv_t privs;
    bool keep_key;
};

static it_status_t ual_lmr_check_change(const struct ual_lmr *lmr, unsigned mask,
                                        const it_lmr_param_t *params)
{
    const struct ual_ia *ia = ual_ia_of(&lmr->object);
    it_status_t status = IT_SUCCESS;

    if ((mask & (unsigned)ITX_LMR_KEEP_KEY) && !VP_PROVIDER_HAS(ia->provider, lmr_change))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, UAL_LMR_MODIFY, "%s", ia->name);
    if (mask & IT_LMR_PARAM_PZ) {
        const struct ual_pz *pz = ual_pz_from(params->pz);

        if (!pz || pz->object.ia != lmr->object.ia)
            return base_refuse_handle(IT_ERR_INVALID_PZ, UAL_LMR_MODIFY, params->pz);
    }
    if (mask & IT_LMR_PARAM_MEM_PRIV) {
        status =
            ual_lmr_check_privs(UAL_LMR_MODIFY, params->privs, ia->provider->ia_attributes(ia));
        if (status == IT_SUCCESS)
            status = ual_lmr_check_memory(UAL_LMR_MODIFY, lmr->addr, lmr->length, params->privs);
    }
    return status;
}

/* Called with the LMR claimed: no RMR is linked to it, nor can be until it is unclaimed. */
static it_status_t ual_lmr_change_locked(struct ual_lmr *lmr, const struct ual_lmr_change *change)
{
    const struct vp_provider *provider = ual_ia_of(&lmr->object)->provider;
    struct ual_pz *before = lmr->pz;
    it_status_t status;

    base_lock_assert_held(&lmr->lock);
    if (!base_object_hold(&change->pz->object))
        return base_refuse(IT_ERR_INVALID_PZ, UAL_LMR_MODIFY, "%p is just being freed",
                           (void *)change->pz);
    status = change->keep_key ? provider->lmr_change(lmr, change->pz, change->privs)
                              : provider->lmr_modify(lmr, change->pz, change->privs);
    if (status != IT_SUCCESS) {
        base_object_release(&change->pz->object);
        return base_refuse(status, UAL_LMR_MODIFY, "params->privs %#x: refused by %s",
                           (unsigned)change->privs, provider->name);
    }
    lmr->pz = change->pz;
    lmr->privs = change->privs;
    ual_lmr_renew_pass(lmr);
    base_object_release(&before->object);
    return IT_SUCCESS;
}

static it_status_t ual_lmr_modify_locked(struct ual_lmr *lmr, unsigned mask,
                                         const it_lmr_param_t *params)
{
    struct ual_lmr_change change = {
        .pz = lmr->pz, .privs = lmr->privs, .keep_key = (mask & (unsigned)ITX_LMR_KEEP_KEY) != 0};
    it_status_t status;

    base_lock_assert_held(&lmr->lock);
    if (mask & IT_LMR_PARAM_PZ)
        change.pz = ual_pz_from(params->pz);
    if (mask & IT_LMR_PARAM_MEM_PRIV)
        change.privs = params->privs;
    if (!base_object_claim_free(&lmr->object))
        return base_refuse(IT_ERR_LMR_BUSY, UAL_LMR_MODIFY, "lmr_handle %p", (void *)lmr);
    status = ual_lmr_change_locked(lmr, &change);
    base_object_unclaim(&lmr->object);
    return status;
}

it_status_t it_lmr_modify(it_lmr_handle_t lmr_handle, it_lmr_param_mask_t mask,
                          const it_lmr_param_t *params)
{
    struct ual_lmr *lmr = ual_lmr_from(lmr_handle);
    it_status_t status;

    if (!lmr)
        return base_refuse_handle(IT_ERR_INVALID_LMR, __func__, lmr_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if (ual_ia_failed(ual_ia_of(&lmr->object)))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)mask & ~UAL_LMR_MODIFIABLE)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    if (mask == 0)
        return IT_SUCCESS;
    status = ual_lmr_check_change(lmr, (unsigned)mask, params);
    if (status != IT_SUCCESS)
        return status;
    base_lock_take(&lmr->lock);
    status = ual_lmr_modify_locked(lmr, (unsigned)mask, params);
    base_lock_drop(&lmr->lock);
    return status;
}
