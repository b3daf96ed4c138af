/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting. These functions take no lock, allocate nothing and do not search. */
#include "deliver/udapl_deliver.h"
#include "endpoint/udapl_endpoint.h"
#include "endpoint/udapl_read.h"
#include "endpoint/udapl_segments.h"
#include "map/udapl_flags.h"
#include "object/udapl_rmr.h"

/* Returns the code for a post that IT-API has refused; for a wrong state, with the EP's state. */
static DAT_RETURN __attribute__((noinline, cold))
refused(const struct udapl_ep *ep, it_status_t status)
{
    if (status == IT_ERR_INVALID_EP_STATE || !ep->it)
        return udapl_state_error(udapl_ep_state(ep));
    return udapl_return(status);
}

static inline DAT_RETURN answer(const struct udapl_ep *ep, it_status_t status)
{
    return __builtin_expect(status == IT_SUCCESS, 1) ? DAT_SUCCESS : refused(ep, status);
}

/* Checks the handle, the flags (argument flags_argument) and the segments of a post. */
static inline DAT_RETURN check(DAT_EP_HANDLE ep_handle, DAT_COMPLETION_FLAGS flags,
                               unsigned allowed, DAT_RETURN_SUBTYPE flags_argument,
                               DAT_COUNT num_segments, const DAT_LMR_TRIPLET *triplets,
                               struct udapl_segments *segments)
{
    const struct udapl_ep *ep = ep_handle;

    if (__builtin_expect(!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP), 0))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (__builtin_expect(((unsigned)flags & ~allowed) != 0, 0))
        return udapl_error(DAT_INVALID_PARAMETER, flags_argument);
    return udapl_segments_find(ep->pz, num_segments, triplets, segments);
}

/* Returns the code for bad arguments. Without a PZ, the state of the EP is reported instead. */
static DAT_RETURN __attribute__((noinline, cold)) bad(const struct udapl_ep *ep, DAT_RETURN result)
{
    return DAT_GET_TYPE(result) == DAT_PROTECTION_VIOLATION && !ep->it
               ? refused(ep, IT_ERR_INVALID_EP_STATE)
               : result;
}

DAT_RETURN udapl_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                              DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                              DAT_COMPLETION_FLAGS flags)
{
    const struct udapl_ep *ep = ep_handle;
    struct udapl_segments found;
    DAT_RETURN result =
        check(ep_handle, flags, UDAPL_FLAGS_SEND, DAT_INVALID_ARG5, num_segments, segments, &found);

    if (__builtin_expect(result != DAT_SUCCESS, 0))
        return bad(ep, result);
    return answer(
        ep, it_post_send(ep->it, found.segment, found.count, cookie.as_64, udapl_flags(flags)));
}

DAT_RETURN udapl_ep_post_send_with_invalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                              DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                              DAT_COMPLETION_FLAGS flags,
                                              DAT_BOOLEAN invalidate_flag,
                                              DAT_RMR_CONTEXT rmr_context)
{
    const struct udapl_ep *ep = ep_handle;
    struct udapl_segments found;
    DAT_RETURN result;

    if (!invalidate_flag)
        return udapl_ep_post_send(ep_handle, num_segments, segments, cookie, flags);
    result =
        check(ep_handle, flags, UDAPL_FLAGS_SEND, DAT_INVALID_ARG5, num_segments, segments, &found);
    if (result != DAT_SUCCESS)
        return bad(ep, result);
    return answer(ep, it_post_send_and_unlink(ep->it, found.segment, found.count, cookie.as_64,
                                              udapl_flags(flags), rmr_context));
}

DAT_RETURN udapl_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                              DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                              DAT_COMPLETION_FLAGS flags)
{
    const struct udapl_ep *ep = ep_handle;
    struct udapl_segments found;
    DAT_RETURN result =
        check(ep_handle, flags, UDAPL_FLAGS_RECV, DAT_INVALID_ARG5, num_segments, segments, &found);

    if (__builtin_expect(result != DAT_SUCCESS, 0))
        return bad(ep, result);
    if (__builtin_expect(ep->srq != NULL, 0))
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
    return answer(ep, it_post_recv(ep->it, found.segment, found.count, cookie.as_64,
                                   udapl_flags_recv(ep->attr.recv_completion_flags, flags)));
}

DAT_RETURN udapl_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                               DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie)
{
    const struct udapl_srq *srq = srq_handle;
    struct udapl_segments found;
    DAT_RETURN result;

    if (__builtin_expect(!udapl_is(srq_handle, DAT_HANDLE_TYPE_SRQ), 0))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    result = udapl_segments_find(srq->pz, num_segments, segments, &found);
    if (__builtin_expect(result != DAT_SUCCESS, 0))
        return result;
    return udapl_return(it_post_recv(srq->it, found.segment, found.count, cookie.as_64,
                                     IT_COMPLETION_FLAG | IT_NOTIFY_FLAG));
}

DAT_RETURN udapl_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                    DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
    const struct udapl_ep *ep = ep_handle;
    struct udapl_segments found;
    DAT_RETURN result = check(ep_handle, flags, UDAPL_FLAGS_REQUEST, DAT_INVALID_ARG6, num_segments,
                              segments, &found);

    if (__builtin_expect(result != DAT_SUCCESS, 0))
        return bad(ep, result);
    if (__builtin_expect(!remote, 0))
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (__builtin_expect(found.length > remote->segment_length, 0))
        return udapl_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
    return answer(ep, it_post_rdma_write(ep->it, found.segment, found.count, cookie.as_64,
                                         udapl_flags(flags), remote->virtual_address,
                                         remote->rmr_context));
}

/* Reads the length of the remote segment, for which the local ones must have room. */
DAT_RETURN udapl_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                   DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                   const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
    const struct udapl_ep *ep = ep_handle;
    struct udapl_segments found;
    DAT_RETURN result = check(ep_handle, flags, UDAPL_FLAGS_REQUEST, DAT_INVALID_ARG6, num_segments,
                              segments, &found);

    if (__builtin_expect(result != DAT_SUCCESS, 0))
        return bad(ep, result);
    if (__builtin_expect(!remote, 0))
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (__builtin_expect(found.length != remote->segment_length, 0)) {
        if (found.length < remote->segment_length)
            return udapl_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
        udapl_read_shorten(&found, remote->segment_length);
    }
    if (__builtin_expect(ep->splits, 0))
        return udapl_read_split(ep_handle, &found, cookie.as_64, remote, flags);
    return answer(ep, it_post_rdma_read(ep->it, found.segment, found.count, cookie.as_64,
                                        udapl_flags(flags), remote->virtual_address,
                                        remote->rmr_context));
}

/* Finds the local window by its key. */
DAT_RETURN udapl_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep_handle, const DAT_RMR_TRIPLET *local,
                                          DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                                          DAT_COMPLETION_FLAGS flags)
{
    const struct udapl_ep *ep = ep_handle;
    it_rmr_triplet_t segment;
    const struct udapl_rmr *rmr;

    if (!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (!local)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!remote)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (((unsigned)flags & ~UDAPL_FLAGS_REQUEST) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (local->segment_length < remote->segment_length)
        return udapl_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
    if (ep->splits) /* split Reads do not support windows */
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    rmr = udapl_rmr_of_key(ep->object.ia, local->rmr_context);
    if (!rmr)
        return udapl_error(DAT_PRIVILEGES_VIOLATION, DAT_NO_SUBTYPE);
    segment.rmr = rmr->it;
    segment.addr.rel = local->virtual_address;
    segment.length = remote->segment_length;
    return answer(ep,
                  it_post_rdma_read_to_rmr(ep->it, &segment, 1, cookie.as_64, udapl_flags(flags),
                                           remote->virtual_address, remote->rmr_context));
}
