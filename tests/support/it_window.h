/* SPDX-License-Identifier: BSD-2-Clause */
/* it_window.h - makes, links, unlinks and checks memory windows (RMRs). */
#ifndef ITAPI_TESTS_SUPPORT_IT_WINDOW_H
#define ITAPI_TESTS_SUPPORT_IT_WINDOW_H

#include "support/it_fixture.h"

it_rmr_handle_t fx_rmr(it_pz_handle_t pz, it_rmr_type_t type);

/* A part of a buffer that a window is linked to. */
struct fx_part {
    const struct fx_buf *buf;
    size_t offset;
    size_t length;
    it_addr_mode_t mode;
    it_mem_priv_t privs;
};

/* The whole buffer, addressed by virtual address, for reading and writing. */
struct fx_part fx_whole(const struct fx_buf *buf);

/* Posts the link and returns its key. */
it_rmr_context_t fx_link(it_ep_handle_t ep, it_rmr_handle_t rmr, const struct fx_part *part,
                         it_dto_cookie_t cookie, it_dto_flags_t flags);
/* Posts the link and waits for its completion on `evd`. */
it_rmr_context_t fx_linked(it_evd_handle_t evd, it_ep_handle_t ep, it_rmr_handle_t rmr,
                           const struct fx_part *part);
void fx_unlinked(it_evd_handle_t evd, it_ep_handle_t ep, it_rmr_handle_t rmr);

/* Returns the address by which a peer names octet `offset` of the part. */
it_rdma_addr_t fx_part_addr(const struct fx_part *part, size_t offset);
it_rmr_triplet_t fx_rmr_seg(it_rmr_handle_t rmr, const struct fx_part *part, size_t offset,
                            size_t length);

bool fx_is_linked(it_rmr_handle_t rmr);
bool fx_lmr_is_linked(it_lmr_handle_t lmr);

/*
 * Takes the next event. Fails unless it is this completion, is successful, and names this region as
 * unlinked.
 */
void fx_done_unlinked(it_evd_handle_t evd, it_ep_handle_t ep, it_event_type_t number,
                      it_dto_cookie_t cookie, it_handle_t unlinked);

/*
 * Cleans up after a broken connection: takes both events, then resets and rejoins both endpoints.
 */
void fx_pair_mend(struct fx_pair *pair);

#endif /* ITAPI_TESTS_SUPPORT_IT_WINDOW_H */
