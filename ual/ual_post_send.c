/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_send. */
#include "ual/ual_post.h"

static it_status_t __attribute__((noinline))
ual_post_send_any(struct ual_ep *ep, const it_lmr_triplet_t *segments, size_t count,
                  it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct vp_request request = {
        .opcode = VP_SEND,
        .flags = flags,
        .cookie = cookie,
        .segments = segments,
        .segment_count = count,
    };

    if (ep->datagrams)
        return IT_ERR_INVALID_EP_TYPE;
    return ual_post_request(ep, &request, ual_post_limit(&ep->attr.max_send_segments),
                            UAL_POST_SEND_FLAGS);
}

it_status_t it_post_send(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                         size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct ual_lmr *lmr;

    if (!ep)
        return IT_ERR_INVALID_EP;
    if (ep->ops->post_send_one) {
        lmr =
            ual_post_one(ep, local_segments, num_segments, &ep->attr.max_send_segments, dto_flags);
        if (lmr)
            return ep->ops->post_send_one(ep->area, lmr->area, local_segments, cookie, dto_flags);
    }
    return ual_post_send_any(ep, local_segments, num_segments, cookie, dto_flags);
}
