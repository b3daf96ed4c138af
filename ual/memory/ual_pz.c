/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection zones: it_pz_create, it_pz_query, it_pz_free. */
#include "ual/memory/ual_memory.h"
#include "ual/object/ual_object.h"

#define UAL_PZ_PARAMS ((unsigned)IT_PZ_PARAM_ALL | (unsigned)IT_PZ_PARAM_IA)

it_status_t it_pz_create(it_ia_handle_t ia_handle, it_pz_handle_t *pz_handle)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);
    struct ual_pz *pz;
    it_status_t status;

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (!pz_handle)
        return base_refuse_null(__func__, pz_handle);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    pz = ual_object_new(ia, IT_HANDLE_TYPE_PZ);
    if (!pz)
        return IT_ERR_RESOURCES;
    status = ia->provider->pz_create(pz);
    if (status != IT_SUCCESS) {
        ual_object_discard(&pz->object);
        return base_refuse(status, __func__, "refused by %s", ia->provider->name);
    }
    ual_object_start(&pz->object);
    *pz_handle = (it_pz_handle_t)(void *)pz;
    return IT_SUCCESS;
}

it_status_t it_pz_query(it_pz_handle_t pz_handle, it_pz_param_mask_t mask, it_pz_param_t *params)
{
    struct ual_pz *pz = ual_pz_from(pz_handle);

    if (!pz)
        return base_refuse_handle(IT_ERR_INVALID_PZ, __func__, pz_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if ((unsigned)mask & ~UAL_PZ_PARAMS)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    if (mask != 0) /* both bits select the only member */
        params->ia = (it_ia_handle_t)(void *)pz->object.ia;
    return IT_SUCCESS;
}

void ual_pz_destroy(struct base_object *object)
{
    struct ual_pz *pz = (struct ual_pz *)(void *)object;

    base_object_unpublish(object);
    ual_ia_of(object)->provider->pz_destroy(pz);
    ual_object_end(object);
}

it_status_t it_pz_free(it_pz_handle_t pz_handle)
{
    return ual_object_free(__func__, "pz_handle", pz_handle, IT_HANDLE_TYPE_PZ, IT_ERR_INVALID_PZ,
                           IT_ERR_PZ_BUSY, ual_pz_destroy);
}
