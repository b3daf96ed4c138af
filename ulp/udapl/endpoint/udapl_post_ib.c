/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of the IB extension: atomics, and RDMA Writes with an immediate. */
#include "deliver/udapl_deliver.h"
#include "endpoint/udapl_endpoint.h"
#include "endpoint/udapl_segments.h"
#include "map/udapl_flags.h"
#include "map/udapl_immediate.h"

#include "itx_api.h"

static DAT_RETURN answer(const struct udapl_ep *ep, it_status_t status)
{
    if (status == IT_ERR_INVALID_EP_STATE || !ep->it)
        return udapl_state_error(udapl_ep_state(ep));
    return udapl_return(status);
}

static DAT_RETURN check(DAT_EP_HANDLE ep_handle, unsigned flags, unsigned allowed, DAT_COUNT count,
                        const DAT_LMR_TRIPLET *triplets, const DAT_RMR_TRIPLET *remote,
                        struct udapl_segments *found)
{
    const struct udapl_ep *ep = ep_handle;

    if (!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (flags & ~allowed || !remote)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    return udapl_segments_find(ep->pz, count, triplets, found);
}

static DAT_RETURN post_atomic(DAT_EP_HANDLE ep_handle, it_atomic_op_t operation,
                              DAT_UINT64 swap_or_add, DAT_UINT64 compare,
                              const DAT_LMR_TRIPLET *result, DAT_DTO_COOKIE cookie,
                              const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
    const struct udapl_ep *ep = ep_handle;
    struct udapl_segments found;
    DAT_RETURN checked =
        check(ep_handle, (unsigned)flags, UDAPL_FLAGS_REQUEST, 1, result, remote, &found);

    if (checked != DAT_SUCCESS)
        return checked;
    if (found.length != sizeof(DAT_UINT64))
        return udapl_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
    return answer(ep, it_post_atomic(ep->it, operation, swap_or_add, compare, found.segment,
                                     cookie.as_64, udapl_flags(flags), remote->virtual_address,
                                     remote->rmr_context));
}

DAT_RETURN udapl_ep_post_fetch_and_add(DAT_EP_HANDLE ep_handle, DAT_UINT64 add,
                                       DAT_LMR_TRIPLET *result, DAT_DTO_COOKIE cookie,
                                       const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
    return post_atomic(ep_handle, IT_FETCH_AND_ADD, add, 0, result, cookie, remote, flags);
}

DAT_RETURN udapl_ep_post_cmp_and_swap(DAT_EP_HANDLE ep_handle, DAT_UINT64 compare, DAT_UINT64 swap,
                                      DAT_LMR_TRIPLET *result, DAT_DTO_COOKIE cookie,
                                      const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
    return post_atomic(ep_handle, IT_COMPARE_AND_SWAP, swap, compare, result, cookie, remote,
                       flags);
}

/* Posts with a record, by which its completion differs from that of other RDMA Writes. */
static DAT_RETURN write_immed(struct udapl_ep *ep, const struct udapl_segments *found,
                              DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                              DAT_UINT32 immediate, DAT_COMPLETION_FLAGS flags)
{
    bool reported = !((unsigned)flags & (unsigned)DAT_COMPLETION_SUPPRESS_FLAG);
    struct udapl_record *record = udapl_record_take(&ep->records, cookie.as_64, reported);
    it_status_t status;

    if (!record)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    status = itx_post_rdma_write_imm(
        ep->it, found->segment, found->count, (uintptr_t)record, udapl_flags(flags),
        remote->virtual_address, remote->rmr_context,
        udapl_immediate(ep->object.ia->features.immediate_bits, immediate, found->length));
    if (status != IT_SUCCESS)
        udapl_record_return(record);
    return answer(ep, status);
}

DAT_RETURN udapl_ep_post_write_immed(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                     DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
                                     const DAT_RMR_TRIPLET *remote, DAT_UINT32 immediate,
                                     DAT_COMPLETION_FLAGS flags)
{
    struct udapl_ep *ep = ep_handle;
    struct udapl_segments found;
    DAT_RETURN checked =
        check(ep_handle, (unsigned)flags, UDAPL_FLAGS_SEND, num_segments, segments, remote, &found);

    if (checked != DAT_SUCCESS)
        return checked;
    if (found.length > remote->segment_length)
        return udapl_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
    if (!ep->it)
        return answer(ep, IT_ERR_INVALID_EP_STATE);
    if (!ep->immediates)
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    return write_immed(ep, &found, cookie, remote, immediate, flags);
}
