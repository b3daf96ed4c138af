/* SPDX-License-Identifier: BSD-2-Clause */
/* Remote memory regions, that is windows onto part of an LMR: create, query, free. */
#include "ual/memory/ual_memory.h"
#include "ual/object/ual_object.h"

#define UAL_RMR_PARAMS (((unsigned)IT_RMR_PARAM_ADDR_MODE << 1) - 1) /* all bits up to the last */

/* ---------------------------------------------------------------- create */

static bool ual_rmr_has_type(it_rmr_type_t type, it_rmr_type_t offered)
{
    if (type == IT_RMR_TYPE_DEFAULT)
        return offered != 0;
    return (unsigned)type <= IT_RMR_TYPE_WIDE && (type & offered) != 0;
}

static it_status_t ual_rmr_create(const char *call, it_pz_handle_t pz_handle,
                                  it_rmr_type_t rmr_type, it_rmr_handle_t *rmr_handle)
{
    struct ual_pz *pz = ual_pz_from(pz_handle);
    struct ual_rmr *rmr;
    struct ual_ia *ia;
    it_status_t status;

    if (!pz)
        return base_refuse_handle(IT_ERR_INVALID_PZ, call, pz_handle);
    if (!rmr_handle)
        return base_refuse_null(call, rmr_handle);
    ia = ual_ia_of(&pz->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (!ual_rmr_has_type(rmr_type, ia->provider->ia_attributes(ia)->rmr_types))
        return base_refuse_number(IT_ERR_INVALID_RMR_TYPE, call, rmr_type);
    rmr = ual_object_new_child(call, ia, IT_HANDLE_TYPE_RMR, pz, IT_ERR_INVALID_PZ, &status);
    if (!rmr)
        return status;
    rmr->pz = pz;
    rmr->type = rmr_type;
    status = ia->provider->rmr_create(rmr);
    if (status != IT_SUCCESS) {
        ual_object_discard_child(&rmr->object, pz);
        return base_refuse(status, call, "refused by %s", ia->provider->name);
    }
    ual_object_start(&rmr->object);
    *rmr_handle = (it_rmr_handle_t)(void *)rmr;
    return IT_SUCCESS;
}

it_status_t it_rmr_create20(it_pz_handle_t pz_handle, it_rmr_type_t rmr_type,
                            it_rmr_handle_t *rmr_handle)
{
    return ual_rmr_create(__func__, pz_handle, rmr_type, rmr_handle);
}

it_status_t it_rmr_create10(it_pz_handle_t pz_handle, it_rmr_handle_t *rmr_handle)
{
    return ual_rmr_create(__func__, pz_handle, IT_RMR_TYPE_DEFAULT, rmr_handle);
}

/* ---------------------------------------------------------------- query */

static void ual_rmr_read_state(const struct vp_rmr_state *state, unsigned members,
                               it_rmr_param_t *params)
{
    if (members & IT_RMR_PARAM_LINKED)
        params->bound = state->lmr ? IT_TRUE : IT_FALSE; /* called "linked" in the later bindings */
    if (members & IT_RMR_PARAM_LMR)
        params->lmr = (it_lmr_handle_t)(void *)state->lmr;
    if (members & IT_RMR_PARAM_ADDR)
        params->addr = state->addr;
    if (members & IT_RMR_PARAM_LENGTH)
        params->length = state->length;
    if (members & IT_RMR_PARAM_MEM_PRIV)
        params->privs = state->privs;
    if (members & IT_RMR_PARAM_RMR_CONTEXT)
        params->rmr_context = state->key;
    if (members & IT_RMR_PARAM_ADDR_MODE)
        params->addr_mode = state->addr_mode;
}

it_status_t it_rmr_query(it_rmr_handle_t rmr_handle, it_rmr_param_mask_t mask,
                         it_rmr_param_t *params)
{
    struct ual_rmr *rmr = ual_rmr_from(rmr_handle);
    unsigned members = ual_object_members(mask);
    struct vp_rmr_state state;

    if (!rmr)
        return base_refuse_handle(IT_ERR_INVALID_RMR, __func__, rmr_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if ((unsigned)mask & ~UAL_RMR_PARAMS)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    ual_ia_of(&rmr->object)->provider->rmr_query(rmr, &state);
    if (members & IT_RMR_PARAM_IA)
        params->ia = (it_ia_handle_t)(void *)rmr->object.ia;
    if (members & IT_RMR_PARAM_PZ)
        params->pz = (it_pz_handle_t)(void *)rmr->pz;
    if (members & IT_RMR_PARAM_TYPE)
        params->type = rmr->type;
    ual_rmr_read_state(&state, members, params);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- reset and free */

it_status_t itx_rmr_reset(it_rmr_handle_t rmr_handle)
{
    struct ual_rmr *rmr = ual_rmr_from(rmr_handle);
    const struct vp_provider *provider;

    if (!rmr)
        return base_refuse_handle(IT_ERR_INVALID_RMR, __func__, rmr_handle);
    provider = ual_ia_of(&rmr->object)->provider;
    if (!VP_PROVIDER_HAS(provider, rmr_reset))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "rmr_handle %p of %s", (void *)rmr,
                           provider->name);
    provider->rmr_reset(rmr);
    return IT_SUCCESS;
}

void ual_rmr_destroy(struct base_object *object)
{
    struct ual_rmr *rmr = (struct ual_rmr *)(void *)object;

    base_object_unpublish(object);
    ual_ia_of(object)->provider->rmr_destroy(rmr);
    base_object_release(&rmr->pz->object);
    ual_object_end(object);
}

it_status_t it_rmr_free(it_rmr_handle_t rmr_handle)
{
    return ual_object_free(__func__, "rmr_handle", rmr_handle, IT_HANDLE_TYPE_RMR,
                           IT_ERR_INVALID_RMR, IT_ERR_INVALID_RMR, ual_rmr_destroy);
}
