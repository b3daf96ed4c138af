/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_rdma_read. */
#include "ual/ual_post.h"

it_status_t it_post_rdma_read(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                              size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                              it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = VP_RDMA_READ,
        .flags = dto_flags,
        .cookie = cookie,
        .segments = local_segments,
        .segment_count = num_segments,
        .rdma_addr = rdma_addr,
        .rmr_context = rmr_context,
    };

    if (!ep)
        return IT_ERR_INVALID_EP;
    return ual_post_request(ep, &request, ual_post_limit(&ep->attr.srv.rc.max_rdma_read_segments),
                            ual_post_read_flags(ep, num_segments));
}
