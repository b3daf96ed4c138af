/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_post_send_from. */
#include "ual/post/ual_post.h"

#include "itx_api.h"

it_status_t itx_post_send_from(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                               size_t num_segments, it_dto_cookie_t cookie,
                               it_dto_flags_t dto_flags, const void *octets, size_t *copied)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_lent lent = {.octets = octets};
    struct vp_request request = {
        .opcode = VP_SEND,
        .flags = dto_flags,
        .cookie = cookie,
        .segments = local_segments,
        .segment_count = num_segments,
        .lent = &lent,
    };
    const struct vp_provider *provider;
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!octets)
        return base_refuse(IT_ERR_FAULT, __func__, "octets is NULL");
    provider = ual_ia_of(&ep->object)->provider;
    if (!VP_PROVIDER_HAS(provider, post_lent))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s reads registered memory only",
                           provider->name);
    status = ual_post_prepare(__func__, ep, &request, ual_post_limit(&ep->attr.max_send_segments),
                              UAL_POST_SEND_FLAGS & ~(unsigned)IT_COALESCE_WR_FLAG);
    if (status != IT_SUCCESS)
        return status;
    if (num_segments == 0)
        return base_refuse(IT_ERR_INVALID_NUM_SEGMENTS, __func__, "num_segments 0, at least 1");
    status = provider->post_lent(ep, &request);
    if (status != IT_SUCCESS)
        return ual_post_refuse(__func__, ep, status);
    if (copied)
        *copied = lent.copied;
    return status;
}
