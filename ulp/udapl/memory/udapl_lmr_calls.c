/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory/udapl_memory.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
                            DAT_REGION_DESCRIPTION region, DAT_VLEN length, DAT_PZ_HANDLE pz_handle,
                            DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
                            DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context,
                            DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
                            DAT_VADDR *registered_address)
{
    (void)ia_handle;
    (void)mem_type;
    (void)region;
    (void)length;
    (void)pz_handle;
    (void)privileges;
    (void)va_type;
    (void)lmr_handle;
    (void)lmr_context;
    (void)rmr_context;
    (void)registered_length;
    (void)registered_address;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM *param)
{
    (void)lmr_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments,
                                    DAT_VLEN num_segments)
{
    (void)ia_handle;
    (void)segments;
    (void)num_segments;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments,
                                     DAT_VLEN num_segments)
{
    (void)ia_handle;
    (void)segments;
    (void)num_segments;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_lmr_free(DAT_LMR_HANDLE lmr_handle)
{
    (void)lmr_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
