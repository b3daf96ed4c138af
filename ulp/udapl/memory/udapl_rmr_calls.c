/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory/udapl_memory.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle)
{
    (void)pz_handle;
    (void)rmr_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_rmr_create_for_ep(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle)
{
    (void)pz_handle;
    (void)rmr_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param)
{
    (void)rmr_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_rmr_bind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle,
                          const DAT_LMR_TRIPLET *lmr_triplet, DAT_MEM_PRIV_FLAGS mem_priv,
                          DAT_VA_TYPE va_type, DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie,
                          DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *rmr_context)
{
    (void)rmr_handle;
    (void)lmr_handle;
    (void)lmr_triplet;
    (void)mem_priv;
    (void)va_type;
    (void)ep_handle;
    (void)cookie;
    (void)flags;
    (void)rmr_context;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_rmr_free(DAT_RMR_HANDLE rmr_handle)
{
    (void)rmr_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
