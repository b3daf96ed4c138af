/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_send. */
#include "ual/ual_post.h"

static it_status_t __attribute__((noinline))
ual_post_send_any(it_ep_handle_t ep_handle, const it_lmr_triplet_t *segments, size_t count,
                  it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = VP_SEND,
        .flags = flags,
        .cookie = cookie,
        .segments = segments,
        .segment_count = count,
    };

    if (!ep)
        return IT_ERR_INVALID_EP;
    if (ep->datagrams)
        return IT_ERR_INVALID_EP_TYPE;
    return ual_post_request(ep, &request, ual_post_limit(&ep->attr.max_send_segments),
                            UAL_POST_SEND_FLAGS);
}

it_status_t it_post_send(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                         size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    const struct ual_lmr *lmr = NULL;
    uintptr_t pass;
    struct ual_ep *ep = ual_post_ep(ep_handle, &pass);

    if (UAL_LIKELY(ep != NULL))
        lmr = ual_post_usual(ep, pass, local_segments, num_segments, dto_flags);
    if (UAL_LIKELY(lmr != NULL))
        return ep->ops->post_send_one(ep, local_segments, lmr->area, cookie, dto_flags);
    return ual_post_send_any(ep_handle, local_segments, num_segments, cookie, dto_flags);
}
