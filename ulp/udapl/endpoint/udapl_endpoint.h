/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on EPs and S-RQs. Entries of DAT_PROVIDER. */
#ifndef ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_ENDPOINT_H
#define ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_ENDPOINT_H

#include "object/udapl_ep.h"
#include "object/udapl_srq.h"

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

DAT_RETURN udapl_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                           DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
                           DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr,
                           DAT_EP_HANDLE *ep_handle);
DAT_RETURN udapl_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                    DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
                                    DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq_handle,
                                    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep_handle);
DAT_RETURN udapl_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param);
DAT_RETURN udapl_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask,
                           const DAT_EP_PARAM *param);
DAT_RETURN udapl_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE *ep_state,
                               DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle);
DAT_RETURN udapl_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT *allocated, DAT_COUNT *span);
DAT_RETURN udapl_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft, DAT_COUNT hard);
DAT_RETURN udapl_ep_free(DAT_EP_HANDLE ep_handle);
DAT_RETURN udapl_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                              DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                              DAT_COMPLETION_FLAGS flags);
DAT_RETURN udapl_ep_post_send_with_invalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                              DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                              DAT_COMPLETION_FLAGS flags,
                                              DAT_BOOLEAN invalidate_flag,
                                              DAT_RMR_CONTEXT rmr_context);
DAT_RETURN udapl_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                              DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                              DAT_COMPLETION_FLAGS flags);
DAT_RETURN udapl_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                   DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                   const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);
DAT_RETURN udapl_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep_handle, const DAT_RMR_TRIPLET *segments,
                                          DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                                          DAT_COMPLETION_FLAGS flags);
DAT_RETURN udapl_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                    DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);
/* The IB extension. */
DAT_RETURN udapl_ep_post_fetch_and_add(DAT_EP_HANDLE ep_handle, DAT_UINT64 add,
                                       DAT_LMR_TRIPLET *result, DAT_DTO_COOKIE cookie,
                                       const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);
DAT_RETURN udapl_ep_post_cmp_and_swap(DAT_EP_HANDLE ep_handle, DAT_UINT64 compare, DAT_UINT64 swap,
                                      DAT_LMR_TRIPLET *result, DAT_DTO_COOKIE cookie,
                                      const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);
DAT_RETURN udapl_ep_post_write_immed(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                     DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                     const DAT_RMR_TRIPLET *remote, DAT_UINT32 immediate,
                                     DAT_COMPLETION_FLAGS flags);
DAT_RETURN udapl_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR *attr,
                            DAT_SRQ_HANDLE *srq_handle);
DAT_RETURN udapl_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK mask,
                           DAT_SRQ_PARAM *param);
DAT_RETURN udapl_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT qlen);
DAT_RETURN udapl_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark);
DAT_RETURN udapl_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                               DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie);
DAT_RETURN udapl_srq_free(DAT_SRQ_HANDLE srq_handle);

/*
 * Returns DAT_SUCCESS if the EP has all objects that a connection needs; otherwise
 * DAT_INVALID_STATE.
 */
DAT_RETURN udapl_ep_configured(const struct udapl_ep *ep);

/*
 * Called after the IA of IT-API was freed, with all its handles. Frees the EP's other resources.
 * The caller ends the object itself.
 */
void udapl_ep_discard(struct udapl_ep *ep);

#endif
