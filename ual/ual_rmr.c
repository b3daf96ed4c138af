/* SPDX-License-Identifier: BSD-2-Clause */
/* Remote memory regions: windows onto part of an LMR. Not offered yet. */
#include "it_api.h"

it_status_t it_rmr_create10(it_pz_handle_t pz_handle, it_rmr_handle_t *rmr_handle)
{
    (void)pz_handle;
    (void)rmr_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_rmr_create20(it_pz_handle_t pz_handle, it_rmr_type_t rmr_type,
                            it_rmr_handle_t *rmr_handle)
{
    (void)pz_handle;
    (void)rmr_type;
    (void)rmr_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_rmr_bind10(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                          it_length_t length, it_mem_priv_t privs, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                          it_rmr_context_t *rmr_context)
{
    (void)rmr_handle;
    (void)lmr_handle;
    (void)addr;
    (void)length;
    (void)privs;
    (void)ep_handle;
    (void)cookie;
    (void)dto_flags;
    (void)rmr_context;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_rmr_link(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                        it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                        it_ep_handle_t ep_handle, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                        it_rmr_context_t *rmr_context)
{
    (void)rmr_handle;
    (void)lmr_handle;
    (void)addr;
    (void)length;
    (void)addr_mode;
    (void)privs;
    (void)ep_handle;
    (void)cookie;
    (void)dto_flags;
    (void)rmr_context;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_rmr_unlink(it_rmr_handle_t rmr_handle, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    (void)rmr_handle;
    (void)ep_handle;
    (void)cookie;
    (void)dto_flags;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_rmr_query(it_rmr_handle_t rmr_handle, it_rmr_param_mask_t mask,
                         it_rmr_param_t *params)
{
    (void)rmr_handle;
    (void)mask;
    (void)params;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_rmr_free(it_rmr_handle_t rmr_handle)
{
    (void)rmr_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}
