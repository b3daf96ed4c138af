/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting of atomic operations (RFC 7306). Not offered yet. */
#include "it_api.h"

it_status_t it_post_atomic(it_ep_handle_t ep_handle, it_atomic_op_t op, uint64_t swap_or_add,
                           uint64_t compare, const it_lmr_triplet_t *result, it_dto_cookie_t cookie,
                           it_dto_flags_t dto_flags, it_rdma_addr_t rdma_addr,
                           it_rmr_context_t rmr_context)
{
    (void)ep_handle;
    (void)op;
    (void)swap_or_add;
    (void)compare;
    (void)result;
    (void)cookie;
    (void)dto_flags;
    (void)rdma_addr;
    (void)rmr_context;
    return IT_ERR_OP_NOT_SUPPORTED;
}
