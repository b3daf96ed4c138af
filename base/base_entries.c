/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the data path on what is none of their objects. */
#include "base/base_object.h"

it_status_t base_no_send(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                         it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    (void)ep, (void)segments, (void)count, (void)cookie, (void)flags;
    return IT_ERR_INVALID_EP;
}

it_status_t base_no_rdma(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                         it_dto_cookie_t cookie, it_dto_flags_t flags, it_rdma_addr_t rdma_addr,
                         it_rmr_context_t rmr_context)
{
    (void)ep, (void)segments, (void)count, (void)cookie, (void)flags;
    (void)rdma_addr, (void)rmr_context;
    return IT_ERR_INVALID_EP;
}

it_status_t base_no_recv(it_handle_t handle, const it_lmr_triplet_t *segments, size_t count,
                         it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    (void)handle, (void)segments, (void)count, (void)cookie, (void)flags;
    return IT_ERR_INVALID_HANDLE;
}

it_status_t base_no_dequeue(it_evd_handle_t evd, it_event_t *event)
{
    (void)evd, (void)event;
    return IT_ERR_INVALID_EVD;
}

const struct base_entries base_no_entries = {
    .post_send = base_no_send,
    .post_rdma_write = base_no_rdma,
    .post_rdma_read = base_no_rdma,
    .post_recv = base_no_recv,
    .dequeue = base_no_dequeue,
};
