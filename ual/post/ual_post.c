/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_post_send, it_post_rdma_write, it_post_rdma_read, it_post_recv: the calls that use the table
 * of their object; the tables of EPs and S-RQs.
 */
#include "ual/post/ual_post.h"

#include "ual/object/ual_ep_state.h"

#define POST_RECV "it_post_recv"

it_status_t ual_post_refuse(const char *call, const struct ual_ep *ep, it_status_t status)
{
    return base_refuse(
        status, call, "ep_handle %p in %s, max_request_dtos %zu, max_recv_dtos %zu: refused by %s",
        (const void *)ep, ual_ep_state_name(ep), ual_post_limit(&ep->attr.max_request_dtos),
        ual_post_limit(&ep->attr.max_recv_dtos), ual_ia_of(&ep->object)->provider->name);
}

static it_status_t ual_post_send(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                 size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
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

static it_status_t ual_post_rdma_write(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                       size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags,
                                       it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    struct ual_ep *ep = (struct ual_ep *)(void *)handle;
    struct vp_request request = {
        .opcode = VP_RDMA_WRITE,
        .flags = flags,
        .cookie = cookie,
        .segments = segments,
        .segment_count = count,
        .rdma_addr = rdma_addr,
        .rmr_context = rmr_context,
    };

    if (!base_object_lives(&ep->object, IT_HANDLE_TYPE_EP) || ep->datagrams)
        return ual_ep_refuse("it_post_rdma_write", handle);
    return ual_post_request("it_post_rdma_write", ep, &request,
                            ual_post_limit(&ep->attr.srv.rc.max_rdma_write_segments),
                            UAL_POST_RDMA_FLAGS);
}

it_status_t it_post_rdma_write(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                               size_t num_segments, it_dto_cookie_t cookie,
                               it_dto_flags_t dto_flags, it_rdma_addr_t rdma_addr,
                               it_rmr_context_t rmr_context)
{
    if (!UAL_LIKELY(base_object_is_usual(ep_handle, IT_HANDLE_TYPE_EP)))
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    return base_object_posts(ep_handle)->post_rdma_write(ep_handle, local_segments, num_segments,
                                                         cookie, dto_flags, rdma_addr, rmr_context);
}

static it_status_t ual_post_rdma_read(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                      size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags,
                                      it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    struct ual_ep *ep = (struct ual_ep *)(void *)handle;
    struct vp_request request = {
        .opcode = VP_RDMA_READ,
        .flags = flags,
        .cookie = cookie,
        .segments = segments,
        .segment_count = count,
        .rdma_addr = rdma_addr,
        .rmr_context = rmr_context,
    };

    if (!base_object_lives(&ep->object, IT_HANDLE_TYPE_EP) || ep->datagrams)
        return ual_ep_refuse("it_post_rdma_read", handle);
    return ual_post_request("it_post_rdma_read", ep, &request,
                            ual_post_limit(&ep->attr.srv.rc.max_rdma_read_segments),
                            ual_post_read_flags(ep, count));
}

it_status_t it_post_rdma_read(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                              size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                              it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    if (!UAL_LIKELY(base_object_is_usual(ep_handle, IT_HANDLE_TYPE_EP)))
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    return base_object_posts(ep_handle)->post_rdma_read(ep_handle, local_segments, num_segments,
                                                        cookie, dto_flags, rdma_addr, rmr_context);
}

static inline __attribute__((always_inline)) it_status_t
ual_post_recv_check(const struct base_object *on, const it_lmr_triplet_t *segments, size_t count,
                    size_t max_count, it_dto_flags_t flags)
{
    uint64_t length; /* not limited: a buffer may be larger than any message */
    it_status_t status;

    status = ual_post_check(POST_RECV, on, segments, count, max_count, flags, UAL_POST_RECV_FLAGS);
    return status == IT_SUCCESS ? ual_post_sum(POST_RECV, on, segments, count, &length) : status;
}

static it_status_t ual_post_recv_srq(it_handle_t handle, const it_lmr_triplet_t *segments,
                                     size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct ual_srq *srq = (struct ual_srq *)(void *)handle;
    it_status_t status;

    if (!base_object_lives(&srq->object, IT_HANDLE_TYPE_SRQ))
        return base_refuse_handle(IT_ERR_INVALID_HANDLE, POST_RECV, handle);
    status = ual_post_recv_check(&srq->object, segments, count, srq->max_recv_segments, flags);
    if (status != IT_SUCCESS)
        return status;
    status = srq->ops->post_recv(srq, segments, count, cookie, flags);
    if (UAL_LIKELY(status == IT_SUCCESS))
        return status;
    return base_refuse(status, POST_RECV, "handle %p: refused by %s", handle,
                       ual_ia_of(&srq->object)->provider->name);
}

const struct base_entries ual_srq_entries = {
    .post_send = base_no_send,
    .post_rdma_write = base_no_write,
    .post_rdma_read = base_no_read,
    .post_recv = ual_post_recv_srq,
    .dequeue = base_no_dequeue,
};

static it_status_t ual_post_recv(it_handle_t handle, const it_lmr_triplet_t *segments, size_t count,
                                 it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct ual_ep *ep = (struct ual_ep *)(void *)handle;
    it_status_t status;

    if (!base_object_lives(&ep->object, IT_HANDLE_TYPE_EP))
        return base_refuse_handle(IT_ERR_INVALID_HANDLE, POST_RECV, handle);
    if (ep->datagrams)
        return base_refuse_handle(IT_ERR_INVALID_EP_TYPE, POST_RECV, handle);
    if (ep->srq)
        return base_refuse(IT_ERR_INVALID_RECV_DTO, POST_RECV, "handle %p draws from S-RQ %p",
                           handle, (void *)ep->srq);
    status = ual_post_recv_check(&ep->object, segments, count,
                                 ual_post_limit(&ep->attr.max_recv_segments), flags);
    if (status != IT_SUCCESS)
        return status;
    status = ep->ops->post_recv(ep, segments, count, cookie, flags);
    return UAL_LIKELY(status == IT_SUCCESS) ? status : ual_post_refuse(POST_RECV, ep, status);
}

it_status_t it_post_recv(it_handle_t handle, const it_lmr_triplet_t *local_segments,
                         size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    if (!UAL_LIKELY(base_object_is_usual(handle, IT_HANDLE_TYPE_EP)) &&
        !base_object_is(handle, IT_HANDLE_TYPE_SRQ))
        return base_refuse_handle(IT_ERR_INVALID_HANDLE, __func__, handle);
    return base_object_posts(handle)->post_recv(handle, local_segments, num_segments, cookie,
                                                dto_flags);
}

const struct base_entries ual_ep_entries = {
    .post_send = ual_post_send,
    .post_rdma_write = ual_post_rdma_write,
    .post_rdma_read = ual_post_rdma_read,
    .post_recv = ual_post_recv,
    .dequeue = base_no_dequeue,
};
