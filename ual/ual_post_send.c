/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_send. */
#include "ual/ual_post.h"

it_status_t it_post_send(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                         size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = VP_SEND,
        .flags = dto_flags,
        .cookie = cookie,
        .segments = local_segments,
        .segment_count = num_segments,
    };

    if (!ep)
        return IT_ERR_INVALID_EP;
    return ual_post_request(ep, &request, ual_post_limit(&ep->attr.max_send_segments),
                            UAL_POST_SEND_FLAGS);
}
