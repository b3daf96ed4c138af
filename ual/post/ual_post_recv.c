/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_recv, on an EP or on an S-RQ. */
#include "ual/post/ual_post.h"

#define POST_RECV "it_post_recv"

static inline __attribute__((always_inline)) it_status_t
ual_post_recv_check(const struct base_object *on, const it_lmr_triplet_t *segments, size_t count,
                    size_t max_count, it_dto_flags_t flags)
{
    uint64_t length; /* has no limit: a buffer may be larger than any message */
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

it_status_t ual_post_recv(it_handle_t handle, const it_lmr_triplet_t *segments, size_t count,
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
