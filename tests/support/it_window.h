/* SPDX-License-Identifier: BSD-2-Clause */
/* it_window.h - memory windows (RMRs) for tests: made, linked, unlinked, looked at. */
#ifndef ITAPI_TESTS_SUPPORT_IT_WINDOW_H
#define ITAPI_TESTS_SUPPORT_IT_WINDOW_H

#include "support/it_fixture.h"

it_rmr_handle_t fx_rmr(it_pz_handle_t pz, it_rmr_type_t type);

/* A part of a buffer that a window is opened onto. */
struct fx_part {
    const struct fx_buf *buf;
    size_t offset;
    size_t length;
    it_addr_mode_t mode;
    it_mem_priv_t privs;
};

/* All of it, by virtual address, to be read and written. */
struct fx_part fx_whole(const struct fx_buf *buf);

/* Posts the link; returns the key. */
it_rmr_context_t fx_link(it_ep_handle_t ep, it_rmr_handle_t rmr, const struct fx_part *part,
                         it_dto_cookie_t cookie, it_dto_flags_t flags);
/* Posts it and waits for its completion on `evd`. */
it_rmr_context_t fx_linked(it_evd_handle_t evd, it_ep_handle_t ep, it_rmr_handle_t rmr,
                           const struct fx_part *part);
void fx_unlinked(it_evd_handle_t evd, it_ep_handle_t ep, it_rmr_handle_t rmr);

/* Address of octet `offset` of the part, as a peer names it. */
it_rdma_addr_t fx_part_addr(const struct fx_part *part, size_t offset);
it_rmr_triplet_t fx_rmr_seg(it_rmr_handle_t rmr, const struct fx_part *part, size_t offset,
                            size_t length);

bool fx_is_linked(it_rmr_handle_t rmr);
bool fx_lmr_is_linked(it_lmr_handle_t lmr);

/* The next event is this completion, a good one, and names this region as unlinked. */
void fx_done_unlinked(it_evd_handle_t evd, it_ep_handle_t ep, it_event_type_t number,
                      it_dto_cookie_t cookie, it_handle_t unlinked);

/* Ends a connection that broke: both events, then both endpoints reset and joined again. */
void fx_pair_mend(struct fx_pair *pair);

#endif /* ITAPI_TESTS_SUPPORT_IT_WINDOW_H */
