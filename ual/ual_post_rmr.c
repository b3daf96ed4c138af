/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting of requests that use or invalidate memory windows. Not offered yet. */
#include "it_api.h"

it_status_t it_post_rdma_read_to_rmr(it_ep_handle_t ep_handle,
                                     const it_rmr_triplet_t *local_segments, size_t num_segments,
                                     it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                                     it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    (void)ep_handle;
    (void)local_segments;
    (void)num_segments;
    (void)cookie;
    (void)dto_flags;
    (void)rdma_addr;
    (void)rmr_context;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_post_send_and_unlink(it_ep_handle_t ep_handle,
                                    const it_lmr_triplet_t *local_segments, size_t num_segments,
                                    it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                                    it_rmr_context_t rmr_context)
{
    (void)ep_handle;
    (void)local_segments;
    (void)num_segments;
    (void)cookie;
    (void)dto_flags;
    (void)rmr_context;
    return IT_ERR_OP_NOT_SUPPORTED;
}
