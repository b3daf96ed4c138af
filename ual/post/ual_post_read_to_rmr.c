/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_rdma_read_to_rmr. */
#include "ual/post/ual_post.h"

#define POST_READ_TO_RMR "it_post_rdma_read_to_rmr"

/* As ual_post_sum, for windows. The provider checks whether they are linked. */
static it_status_t ual_post_sum_windows(const struct ual_ep *ep, const it_rmr_triplet_t *windows,
                                        size_t count, uint64_t *length)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        const struct ual_rmr *rmr = ual_rmr_from(windows[i].rmr);

        if (!rmr || rmr->object.ia != ep->object.ia)
            return base_refuse(IT_ERR_INVALID_RMR, POST_READ_TO_RMR, "local_segments[%zu].rmr %p",
                               i, (void *)windows[i].rmr);
        sum = windows[i].length > UINT64_MAX - sum ? UINT64_MAX : sum + windows[i].length;
    }
    *length = sum;
    return IT_SUCCESS;
}

static it_status_t ual_post_check_windows(const struct ual_ep *ep, struct vp_request *request)
{
    const struct ual_ia *ia = ual_ia_of(&ep->object);
    size_t count = request->segment_count;
    it_status_t status;

    status = ual_post_check(POST_READ_TO_RMR, &ep->object, request->windows, count,
                            ual_post_limit(&ep->attr.srv.rc.max_rdma_read_segments), request->flags,
                            ual_post_read_flags(ep, count));
    if (status != IT_SUCCESS)
        return status;
    status = ual_post_sum_windows(ep, request->windows, count, &request->length);
    if (status != IT_SUCCESS)
        return status;
    if (request->length > ual_post_length_limit(ep, request->opcode))
        return ual_post_too_long(POST_READ_TO_RMR, ep, request);
    if (!ia->provider->ia_attributes(ia)->read_extensions)
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, POST_READ_TO_RMR, "%s has it not", ia->name);
    return IT_SUCCESS;
}

it_status_t it_post_rdma_read_to_rmr(it_ep_handle_t ep_handle,
                                     const it_rmr_triplet_t *local_segments, size_t num_segments,
                                     it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                                     it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = VP_RDMA_READ_TO_RMR,
        .flags = dto_flags,
        .cookie = cookie,
        .segment_count = num_segments,
        .rdma_addr = rdma_addr,
        .rmr_context = rmr_context,
        .windows = local_segments,
    };
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    status = ual_post_check_windows(ep, &request);
    if (status != IT_SUCCESS)
        return status;
    return ual_post_hand_over(__func__, ep, &request);
}
