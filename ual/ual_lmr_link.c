/* SPDX-License-Identifier: BSD-2-Clause */
/* Local memory regions: late linking, modification and explicit coherence. Not offered yet. */
#include "it_api.h"

it_status_t it_lmr_create_unlinked(it_pz_handle_t pz_handle, size_t iobl_num_elts,
                                   it_lmr_flag_t flags, uint32_t shared_id,
                                   it_lmr_handle_t *lmr_handle)
{
    (void)pz_handle;
    (void)iobl_num_elts;
    (void)flags;
    (void)shared_id;
    (void)lmr_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_lmr_link(it_lmr_handle_t lmr_handle, const void *addr, const it_iobl_t *iobl,
                        it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                        it_ep_handle_t ep_handle, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                        it_rmr_context_t *rmr_context)
{
    (void)lmr_handle;
    (void)addr;
    (void)iobl;
    (void)length;
    (void)addr_mode;
    (void)privs;
    (void)ep_handle;
    (void)cookie;
    (void)dto_flags;
    (void)rmr_context;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_lmr_unlink(it_lmr_handle_t lmr_handle, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    (void)lmr_handle;
    (void)ep_handle;
    (void)cookie;
    (void)dto_flags;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_lmr_modify(it_lmr_handle_t lmr_handle, it_lmr_param_mask_t mask,
                          const it_lmr_param_t *params)
{
    (void)lmr_handle;
    (void)mask;
    (void)params;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_lmr_flush_to_mem(const it_lmr_triplet_t *local_segments, size_t num_segments)
{
    (void)local_segments;
    (void)num_segments;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_lmr_refresh_from_mem(const it_lmr_triplet_t *local_segments, size_t num_segments)
{
    (void)local_segments;
    (void)num_segments;
    return IT_ERR_OP_NOT_SUPPORTED;
}
