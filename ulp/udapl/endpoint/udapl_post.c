/* SPDX-License-Identifier: BSD-2-Clause */
#include "endpoint/udapl_endpoint.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                              DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                              DAT_COMPLETION_FLAGS flags)
{
    (void)ep_handle;
    (void)num_segments;
    (void)segments;
    (void)cookie;
    (void)flags;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_post_send_with_invalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                              DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                              DAT_COMPLETION_FLAGS flags,
                                              DAT_BOOLEAN invalidate_flag,
                                              DAT_RMR_CONTEXT rmr_context)
{
    (void)ep_handle;
    (void)num_segments;
    (void)segments;
    (void)cookie;
    (void)flags;
    (void)invalidate_flag;
    (void)rmr_context;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                              DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                              DAT_COMPLETION_FLAGS flags)
{
    (void)ep_handle;
    (void)num_segments;
    (void)segments;
    (void)cookie;
    (void)flags;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                   DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                   const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
    (void)ep_handle;
    (void)num_segments;
    (void)segments;
    (void)cookie;
    (void)remote;
    (void)flags;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep_handle, const DAT_RMR_TRIPLET *segments,
                                          DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                                          DAT_COMPLETION_FLAGS flags)
{
    (void)ep_handle;
    (void)segments;
    (void)cookie;
    (void)remote;
    (void)flags;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                    DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
    (void)ep_handle;
    (void)num_segments;
    (void)segments;
    (void)cookie;
    (void)remote;
    (void)flags;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
