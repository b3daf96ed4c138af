/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles: destinations of datagrams. iWARP has no datagrams. */
#include "it_api.h"

it_status_t it_address_handle_create(it_pz_handle_t pz_handle, const it_path_t *destination_path,
                                     it_ah_flags_t ah_flags, it_addr_handle_t *addr_handle)
{
    (void)pz_handle;
    (void)destination_path;
    (void)ah_flags;
    (void)addr_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_address_handle_query(it_addr_handle_t addr_handle, it_addr_param_mask_t mask,
                                    it_addr_param_t *params)
{
    (void)addr_handle;
    (void)mask;
    (void)params;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_address_handle_modify(it_addr_handle_t addr_handle, it_addr_param_mask_t mask,
                                     const it_addr_param_t *params)
{
    (void)addr_handle;
    (void)mask;
    (void)params;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_address_handle_free(it_addr_handle_t addr_handle)
{
    (void)addr_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}
