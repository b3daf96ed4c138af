/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_send. */
#include "ual/post/ual_post.h"

it_status_t ual_post_send(it_ep_handle_t handle, const it_lmr_triplet_t *segments, size_t count,
                          it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct ual_ep *ep = (struct ual_ep *)(void *)handle;
    struct vp_request request = {
        .opcode = VP_SEND,
        .flags = flags,
        .cookie = cookie,
        .segments = segments,
        .segment_count = count,
    };

    if (!base_object_lives(&ep->object, IT_HANDLE_TYPE_EP) || ep->datagrams)
        return ual_ep_refuse("it_post_send", handle);
    return ual_post_request("it_post_send", ep, &request,
                            ual_post_limit(&ep->attr.max_send_segments), UAL_POST_SEND_FLAGS);
}

it_status_t it_post_send(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                         size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    if (!UAL_LIKELY(base_object_is_usual(ep_handle, IT_HANDLE_TYPE_EP)))
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    return base_object_posts(ep_handle)->post_send(ep_handle, local_segments, num_segments, cookie,
                                                   dto_flags);
}
