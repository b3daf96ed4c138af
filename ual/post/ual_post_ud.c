/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_sendto, it_post_recvfrom. */
#include "ual/post/ual_post.h"

#define UAL_POST_SENDTO_FLAGS (UAL_POST_RECV_FLAGS | (unsigned)IT_SOLICITED_WAIT_FLAG)

static it_status_t ual_post_check_ep(const char *call, const struct ual_ep *ep,
                                     it_ep_handle_t ep_handle)
{
    if (ep && ep->datagrams)
        return IT_SUCCESS;
    if (ep && ual_ia_failed(ual_ia_of(&ep->object)))
        return IT_ERR_IA_CATASTROPHE;
    return ual_ep_refuse(call, ep_handle);
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
    it_status_t status = ual_post_check_ep(__func__, ep, ep_handle);

    if (status != IT_SUCCESS)
        return status;
    if (!remote_ep_addr)
        return base_refuse_null(__func__, remote_ep_addr);
    if (remote_ep_addr->type != IT_DG_TYPE_IB_UD)
        return base_refuse_number(IT_ERR_INVALID_EP_TYPE, __func__, remote_ep_addr->type);
    request.address = ual_address_from(remote_ep_addr->addr.ud.addr);
    if (!request.address || request.address->pz != ep->pz)
        return base_refuse_handle(IT_ERR_INVALID_AH, __func__, remote_ep_addr->addr.ud.addr);
    request.to = remote_ep_addr->addr.ud.ep_info;
    return ual_post_request(__func__, ep, &request, ual_post_limit(&ep->attr.max_send_segments),
                            UAL_POST_SENDTO_FLAGS);
}

it_status_t it_post_recvfrom(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                             size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    uint64_t length; /* not limited: a buffer may be larger than any message */
    it_status_t status = ual_post_check_ep(__func__, ep, ep_handle);

    if (status == IT_SUCCESS)
        status = ual_post_check(__func__, &ep->object, local_segments, num_segments,
                                ual_post_limit(&ep->attr.max_recv_segments), dto_flags,
                                UAL_POST_RECV_FLAGS);
    if (status == IT_SUCCESS)
        status = ual_post_sum(__func__, &ep->object, local_segments, num_segments, &length);
    if (status != IT_SUCCESS)
        return status;
    status = ep->ops->post_recv(ep, local_segments, num_segments, cookie, dto_flags);
    return UAL_LIKELY(status == IT_SUCCESS) ? status : ual_post_refuse(__func__, ep, status);
}
