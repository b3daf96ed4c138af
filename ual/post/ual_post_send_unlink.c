/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_send_and_unlink. */
#include "ual/post/ual_post.h"

it_status_t it_post_send_and_unlink(it_ep_handle_t ep_handle,
                                    const it_lmr_triplet_t *local_segments, size_t num_segments,
                                    it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                                    it_rmr_context_t rmr_context)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    const struct ual_ia *ia;
    struct vp_request request = {
        .opcode = VP_SEND_UNLINK,
        .flags = dto_flags,
        .cookie = cookie,
        .segments = local_segments,
        .segment_count = num_segments,
        .rmr_context = rmr_context,
    };
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    ia = ual_ia_of(&ep->object);
    status = ual_post_prepare(__func__, ep, &request, ual_post_limit(&ep->attr.max_send_segments),
                              UAL_POST_SEND_FLAGS);
    if (status != IT_SUCCESS)
        return status;
    if (!ia->provider->ia_attributes(ia)->send_unlink)
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s has it not", ia->name);
    return ual_post_hand_over(__func__, ep, &request);
}
