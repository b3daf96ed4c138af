/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_atomic and itx_post_atomic_swap (RFC 7306). */
#include "ual/post/ual_post.h"

#include "itx_api.h"

#define UAL_ATOMIC_LENGTH 8u

/* The result is one aligned word, as is the peer's. */
static it_status_t ual_post_check_result(const char *call, const struct ual_ep *ep,
                                         const it_lmr_triplet_t *result)
{
    const struct ual_lmr *lmr = ual_lmr_from(result->lmr);
    uintptr_t address;

    if (!lmr || lmr->object.ia != ep->object.ia)
        return base_refuse_handle(IT_ERR_INVALID_LMR, call, result->lmr);
    if (result->length != UAL_ATOMIC_LENGTH)
        return base_refuse(IT_ERR_INVALID_LENGTH, call, "result->length %llu, %u is right",
                           (unsigned long long)result->length, UAL_ATOMIC_LENGTH);
    address = lmr->addr_mode == IT_ADDR_MODE_RELATIVE
                  ? (uintptr_t)lmr->addr + (uintptr_t)result->addr.rel
                  : (uintptr_t)result->addr.abs;
    if (address % UAL_ATOMIC_LENGTH != 0)
        return base_refuse(IT_ERR_ADDRESS, call, "result->addr %#llx is not aligned",
                           (unsigned long long)address);
    return IT_SUCCESS;
}

static it_status_t ual_post_atomic(const char *call, struct ual_ep *ep, struct vp_request *request,
                                   it_atomic_op_t op)
{
    it_status_t status;

    request->segment_count = 1;
    request->length = UAL_ATOMIC_LENGTH;
    status = ual_post_check(call, &ep->object, request->segments, 1, 1, request->flags,
                            UAL_POST_RDMA_FLAGS);
    if (status != IT_SUCCESS)
        return status;
    if (op != IT_FETCH_AND_ADD && op != IT_COMPARE_AND_SWAP)
        return base_refuse_number(IT_ERR_INVALID_ATOMIC_OP, call, op);
    status = ual_post_check_result(call, ep, request->segments);
    if (status != IT_SUCCESS)
        return status;
    if (request->rdma_addr % UAL_ATOMIC_LENGTH != 0)
        return base_refuse(IT_ERR_ADDRESS, call, "rdma_addr %#llx is not aligned",
                           (unsigned long long)request->rdma_addr);
    return ual_post_hand_over(call, ep, request);
}

it_status_t it_post_atomic(it_ep_handle_t ep_handle, it_atomic_op_t op, uint64_t swap_or_add,
                           uint64_t compare, const it_lmr_triplet_t *result, it_dto_cookie_t cookie,
                           it_dto_flags_t dto_flags, it_rdma_addr_t rdma_addr,
                           it_rmr_context_t rmr_context)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = op == IT_FETCH_AND_ADD ? VP_FETCH_ADD : VP_CMP_SWAP,
        .flags = dto_flags,
        .cookie = cookie,
        .segments = result,
        .rdma_addr = rdma_addr,
        .rmr_context = rmr_context,
        .operand = swap_or_add,
        .compare = compare,
    };

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    return ual_post_atomic(__func__, ep, &request, op);
}

it_status_t itx_post_atomic_swap(it_ep_handle_t ep_handle, uint64_t value,
                                 const it_lmr_triplet_t *result, it_dto_cookie_t cookie,
                                 it_dto_flags_t dto_flags, it_rdma_addr_t rdma_addr,
                                 it_rmr_context_t rmr_context)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = VP_SWAP,
        .flags = dto_flags,
        .cookie = cookie,
        .segments = result,
        .rdma_addr = rdma_addr,
        .rmr_context = rmr_context,
        .operand = value,
    };

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    /* IT_COMPARE_AND_SWAP passes the check of the operation. */
    return ual_post_atomic(__func__, ep, &request, IT_COMPARE_AND_SWAP);
}
