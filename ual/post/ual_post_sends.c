/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_post_send_and_unlink, itx_post_send_from; itx_ep_enable_immediate, itx_post_send_imm,
 * itx_post_rdma_write_imm.
 */
#include "ual/post/ual_post.h"

#include "itx_api.h"

#define UAL_POST_WRITE_IMM_FLAGS UAL_POST_SEND_FLAGS /* the value may be solicited */

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

it_status_t itx_ep_enable_immediate(it_ep_handle_t ep_handle, it_boolean_t enable)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct ual_ia *ia;
    uint32_t bits;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    ia = ual_ia_of(&ep->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    bits = ia->provider->ia_attributes(ia)->immediate_bits;
    if (bits == 0)
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s has no immediate values",
                           ia->name);
    atomic_store_explicit(&ep->immediate_bits, enable ? bits : 0, memory_order_relaxed);
    return IT_SUCCESS;
}

static it_status_t ual_post_immediate(const char *call, struct ual_ep *ep,
                                      struct vp_request *request, const size_t *max_count,
                                      unsigned legal_flags)
{
    uint32_t bits = atomic_load_explicit(&ep->immediate_bits, memory_order_relaxed);
    it_status_t status =
        ual_post_prepare(call, ep, request, ual_post_limit(max_count), legal_flags);

    if (status != IT_SUCCESS)
        return status;
    if (bits == 0)
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, call,
                           "ep_handle %p without itx_ep_enable_immediate", (void *)ep);
    if (bits < 64 && request->immediate >> bits != 0)
        return base_refuse(IT_ERR_PAYLOAD_SIZE, call, "immediate %#llx, at most %u bits",
                           (unsigned long long)request->immediate, bits);
    return ual_post_hand_over(call, ep, request);
}

it_status_t itx_post_send_imm(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                              size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                              uint64_t immediate)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = VP_SEND,
        .flags = dto_flags,
        .cookie = cookie,
        .segments = local_segments,
        .segment_count = num_segments,
        .has_immediate = true,
        .immediate = immediate,
    };

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    return ual_post_immediate(__func__, ep, &request, &ep->attr.max_send_segments,
                              UAL_POST_SEND_FLAGS);
}

it_status_t itx_post_rdma_write_imm(it_ep_handle_t ep_handle,
                                    const it_lmr_triplet_t *local_segments, size_t num_segments,
                                    it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                                    it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context,
                                    uint64_t immediate)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = VP_RDMA_WRITE,
        .flags = dto_flags,
        .cookie = cookie,
        .segments = local_segments,
        .segment_count = num_segments,
        .rdma_addr = rdma_addr,
        .rmr_context = rmr_context,
        .has_immediate = true,
        .immediate = immediate,
    };

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    return ual_post_immediate(__func__, ep, &request, &ep->attr.srv.rc.max_rdma_write_segments,
                              UAL_POST_WRITE_IMM_FLAGS);
}
