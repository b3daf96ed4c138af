/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory/udapl_memory.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle)
{
    (void)ia_handle;
    (void)pz_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param)
{
    (void)pz_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_pz_free(DAT_PZ_HANDLE pz_handle)
{
    (void)pz_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
