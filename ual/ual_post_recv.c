/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_recv, on an EP or on an S-RQ. */
#include "ual/ual_post.h"

static inline __attribute__((always_inline)) it_status_t
ual_post_recv_check(const struct base_object *on, const it_lmr_triplet_t *segments, size_t count,
                    size_t max_count, it_dto_flags_t flags)
{
    uint64_t length; /* has no limit: a buffer may be larger than any message */
    it_status_t status;

    status = ual_post_check(on, segments, count, max_count, flags, UAL_POST_RECV_FLAGS);
    return status == IT_SUCCESS ? ual_post_sum(on, segments, count, &length) : status;
}

static it_status_t ual_post_recv_srq(struct ual_srq *srq, const it_lmr_triplet_t *segments,
                                     size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    it_status_t status =
        ual_post_recv_check(&srq->object, segments, count, srq->max_recv_segments, flags);

    return status == IT_SUCCESS ? srq->ops->post_recv(srq, segments, count, cookie, flags) : status;
}

static it_status_t __attribute__((noinline))
ual_post_recv_any(struct ual_ep *ep, const it_lmr_triplet_t *local_segments, size_t num_segments,
                  it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    it_status_t status;

    if (!base_object_lives(&ep->object, IT_HANDLE_TYPE_EP)) {
        if (!base_object_lives(&ep->object, IT_HANDLE_TYPE_SRQ))
            return IT_ERR_INVALID_HANDLE;
        return ual_post_recv_srq((struct ual_srq *)(void *)ep, local_segments, num_segments, cookie,
                                 dto_flags);
    }
    if (ep->datagrams)
        return IT_ERR_INVALID_EP_TYPE;
    if (ep->srq)
        return IT_ERR_INVALID_RECV_DTO;
    status = ual_post_recv_check(&ep->object, local_segments, num_segments,
                                 ual_post_limit(&ep->attr.max_recv_segments), dto_flags);
    if (status != IT_SUCCESS)
        return status;
    return ep->ops->post_recv(ep, local_segments, num_segments, cookie, dto_flags);
}

it_status_t it_post_recv(it_handle_t handle, const it_lmr_triplet_t *local_segments,
                         size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    struct ual_ep *ep = (struct ual_ep *)(void *)handle; /* or an S-RQ, which admits nothing */
    const struct ual_lmr *lmr;

    if (!UAL_LIKELY(base_object_may_be(ep)))
        return IT_ERR_INVALID_HANDLE;
    lmr = ual_post_pass(ep, local_segments, num_segments);
    if (UAL_LIKELY(lmr != NULL) && UAL_LIKELY(!ep->srq) &&
        UAL_LIKELY(((unsigned)dto_flags & ~UAL_POST_RECV_FLAGS) == 0))
        return ep->ops->post_recv_one(ep, local_segments, lmr->area, cookie, dto_flags);
    return ual_post_recv_any(ep, local_segments, num_segments, cookie, dto_flags);
}
