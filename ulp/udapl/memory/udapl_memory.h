/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on PZs, LMRs and RMRs. Entries of DAT_PROVIDER. */
#ifndef ITAPI_ULP_UDAPL_MEMORY_UDAPL_MEMORY_H
#define ITAPI_ULP_UDAPL_MEMORY_UDAPL_MEMORY_H

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

DAT_RETURN udapl_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle);
DAT_RETURN udapl_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param);
DAT_RETURN udapl_pz_free(DAT_PZ_HANDLE pz_handle);
DAT_RETURN udapl_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
                            DAT_REGION_DESCRIPTION region, DAT_VLEN length, DAT_PZ_HANDLE pz_handle,
                            DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
                            DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context,
                            DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
                            DAT_VADDR *registered_address);
DAT_RETURN udapl_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK mask,
                           DAT_LMR_PARAM *param);
DAT_RETURN udapl_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments,
                                    DAT_VLEN num_segments);
DAT_RETURN udapl_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments,
                                     DAT_VLEN num_segments);
DAT_RETURN udapl_lmr_free(DAT_LMR_HANDLE lmr_handle);
DAT_RETURN udapl_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle);
DAT_RETURN udapl_rmr_create_for_ep(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle);
DAT_RETURN udapl_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK mask,
                           DAT_RMR_PARAM *param);
DAT_RETURN udapl_rmr_bind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle,
                          const DAT_LMR_TRIPLET *lmr_triplet, DAT_MEM_PRIV_FLAGS mem_priv,
                          DAT_VA_TYPE va_type, DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie,
                          DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *rmr_context);
DAT_RETURN udapl_rmr_free(DAT_RMR_HANDLE rmr_handle);

#endif
