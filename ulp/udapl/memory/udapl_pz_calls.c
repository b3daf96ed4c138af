/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection Zones. */
#include "memory/udapl_memory.h"

#include "object/udapl_ia.h"
#include "object/udapl_pz.h"

DAT_RETURN udapl_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_pz *pz;
    it_status_t status;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!pz_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    pz = udapl_object_new(ia, DAT_HANDLE_TYPE_PZ);
    if (!pz)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    status = it_pz_create(ia->it, &pz->it);
    if (status != IT_SUCCESS) {
        udapl_object_discard(pz);
        return udapl_return(status);
    }
    udapl_object_start(pz);
    *pz_handle = pz;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param)
{
    const struct udapl_pz *pz = pz_handle;

    if (!udapl_is(pz_handle, DAT_HANDLE_TYPE_PZ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if (((unsigned)mask & ~(unsigned)DAT_PZ_FIELD_ALL) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    param->ia_handle = udapl_ia_handle(pz->object.ia);
    return DAT_SUCCESS;
}

DAT_RETURN udapl_pz_free(DAT_PZ_HANDLE pz_handle)
{
    struct udapl_pz *pz = pz_handle;
    it_status_t status;

    if (!udapl_is(pz_handle, DAT_HANDLE_TYPE_PZ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if (!udapl_object_retire(pz))
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
    status = it_pz_free(pz->it);
    if (status != IT_SUCCESS) {
        udapl_object_unretire(pz);
        return udapl_return(status);
    }
    udapl_object_end(pz);
    return DAT_SUCCESS;
}
