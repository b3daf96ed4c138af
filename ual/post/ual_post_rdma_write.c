/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_rdma_write. */
#include "ual/post/ual_post.h"

it_status_t ual_post_rdma_write(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags,
                                it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    struct ual_ep *ep = (struct ual_ep *)(void *)handle;
    struct vp_request request = {
        .opcode = VP_RDMA_WRITE,
        .flags = flags,
        .cookie = cookie,
        .segments = segments,
        .segment_count = count,
        .rdma_addr = rdma_addr,
        .rmr_context = rmr_context,
    };

    if (!base_object_lives(&ep->object, IT_HANDLE_TYPE_EP) || ep->datagrams)
        return ual_ep_refuse("it_post_rdma_write", handle);
    return ual_post_request("it_post_rdma_write", ep, &request,
                            ual_post_limit(&ep->attr.srv.rc.max_rdma_write_segments),
                            UAL_POST_RDMA_FLAGS);
}

it_status_t it_post_rdma_write(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                               size_t num_segments, it_dto_cookie_t cookie,
                               it_dto_flags_t dto_flags, it_rdma_addr_t rdma_addr,
                               it_rmr_context_t rmr_context)
{
    if (!UAL_LIKELY(base_object_is_usual(ep_handle, IT_HANDLE_TYPE_EP)))
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    return base_object_posts(ep_handle)->post_rdma_write(ep_handle, local_segments, num_segments,
                                                         cookie, dto_flags, rdma_addr, rmr_context);
}
