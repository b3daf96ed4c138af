/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_sendto, it_post_recvfrom. */
#include "ual/ual_post.h"

#define UAL_POST_SENDTO_FLAGS (UAL_POST_RECV_FLAGS | (unsigned)IT_SOLICITED_WAIT_FLAG)

static it_status_t ual_post_check_ep(const struct ual_ep *ep)
{
    if (!ep)
        return IT_ERR_INVALID_EP;
    if (ep->datagrams)
        return IT_SUCCESS;
    return ual_ia_failed(ual_ia_of(&ep->object)) ? IT_ERR_IA_CATASTROPHE : IT_ERR_INVALID_EP_TYPE;
}

it_status_t it_post_sendto(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                           size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                           const it_dg_remote_ep_addr_t *remote_ep_addr)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = VP_SENDTO,
        .flags = dto_flags,
        .cookie = cookie,
        .segments = local_segments,
        .segment_count = num_segments,
    };
    it_status_t status = ual_post_check_ep(ep);

    if (status != IT_SUCCESS)
        return status;
    if (!remote_ep_addr)
        return IT_ERR_FAULT;
    if (remote_ep_addr->type != IT_DG_TYPE_IB_UD)
        return IT_ERR_INVALID_EP_TYPE;
    request.address = ual_address_from(remote_ep_addr->addr.ud.addr);
    if (!request.address || request.address->pz != ep->pz)
        return IT_ERR_INVALID_AH;
    request.to = remote_ep_addr->addr.ud.ep_info;
    return ual_post_request(ep, &request, ual_post_limit(&ep->attr.max_send_segments),
                            UAL_POST_SENDTO_FLAGS);
}

it_status_t it_post_recvfrom(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                             size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    uint64_t length; /* has no limit: a buffer may be larger than any message */
    it_status_t status = ual_post_check_ep(ep);

    if (status == IT_SUCCESS)
        status = ual_post_check(&ep->object, local_segments, num_segments,
                                ual_post_limit(&ep->attr.max_recv_segments), dto_flags,
                                UAL_POST_RECV_FLAGS);
    if (status == IT_SUCCESS)
        status = ual_post_sum(&ep->object, local_segments, num_segments, &length);
    if (status != IT_SUCCESS)
        return status;
    return ep->ops->post_recv(ep, local_segments, num_segments, cookie, dto_flags);
}
