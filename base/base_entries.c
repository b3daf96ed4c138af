/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the data path on a handle that is not of their object's type. */
#include "base/base_object.h"
#include "base/base_refuse.h"

it_status_t base_no_send(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                         it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    (void)segments, (void)count, (void)cookie, (void)flags;
    return base_refuse(IT_ERR_INVALID_EP, "it_post_send", "ep_handle %p", (void *)ep);
}

it_status_t base_no_write(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                          it_dto_cookie_t cookie, it_dto_flags_t flags, it_rdma_addr_t rdma_addr,
                          it_rmr_context_t rmr_context)
{
    (void)segments, (void)count, (void)cookie, (void)flags, (void)rdma_addr, (void)rmr_context;
    return base_refuse(IT_ERR_INVALID_EP, "it_post_rdma_write", "ep_handle %p", (void *)ep);
}

it_status_t base_no_read(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                         it_dto_cookie_t cookie, it_dto_flags_t flags, it_rdma_addr_t rdma_addr,
                         it_rmr_context_t rmr_context)
{
    (void)segments, (void)count, (void)cookie, (void)flags, (void)rdma_addr, (void)rmr_context;
    return base_refuse(IT_ERR_INVALID_EP, "it_post_rdma_read", "ep_handle %p", (void *)ep);
}

it_status_t base_no_recv(it_handle_t handle, const it_lmr_triplet_t *segments, size_t count,
                         it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    (void)segments, (void)count, (void)cookie, (void)flags;
    return base_refuse(IT_ERR_INVALID_HANDLE, "it_post_recv", "handle %p", handle);
}

it_status_t base_no_dequeue(it_evd_handle_t evd, it_event_t *event)
{
    (void)event;
    return base_refuse(IT_ERR_INVALID_EVD, "it_evd_dequeue", "evd_handle %p", (void *)evd);
}

const struct base_entries base_no_entries = {
    .post_send = base_no_send,
    .post_rdma_write = base_no_write,
    .post_rdma_read = base_no_read,
    .post_recv = base_no_recv,
    .dequeue = base_no_dequeue,
};
