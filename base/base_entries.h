/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each object has a table of the functions that calls of the data path enter, so that the call
 * itself looks at nothing else. They have the arguments of the call. An installed header.
 */
#ifndef ITAPI_BASE_BASE_ENTRIES_H
#define ITAPI_BASE_BASE_ENTRIES_H

#include "it_api.h"

#include <stddef.h>

struct base_entries {
    it_status_t (*post_send)(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                             it_dto_cookie_t cookie, it_dto_flags_t flags);
    it_status_t (*post_rdma_write)(it_ep_handle_t ep, const it_lmr_triplet_t *segments,
                                   size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags,
                                   it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context);
    it_status_t (*post_rdma_read)(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                                  it_dto_cookie_t cookie, it_dto_flags_t flags,
                                  it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context);
    it_status_t (*post_recv)(it_handle_t handle, const it_lmr_triplet_t *segments, size_t count,
                             it_dto_cookie_t cookie, it_dto_flags_t flags);
    it_status_t (*dequeue)(it_evd_handle_t evd, it_event_t *event);
};

#endif
