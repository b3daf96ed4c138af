/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_recv. */
#include "ual/ual_post.h"

it_status_t it_post_recv(it_handle_t handle, const it_lmr_triplet_t *local_segments,
                         size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    struct ual_ep *ep = ual_ep_from((it_ep_handle_t)handle);
    uint64_t length; /* has no limit: a buffer may be larger than any message */
    it_status_t status;

    if (!ep) /* S-RQs would be welcome here, but there are none yet */
        return IT_ERR_INVALID_HANDLE;
    status =
        ual_post_check(ep, local_segments, num_segments,
                       ual_post_limit(&ep->attr.max_recv_segments), dto_flags, UAL_POST_RECV_FLAGS);
    if (status == IT_SUCCESS)
        status = ual_post_sum(ep, local_segments, num_segments, &length);
    if (status != IT_SUCCESS)
        return status;
    return ep->ops->post_recv(ep, local_segments, num_segments, cookie, dto_flags);
}
