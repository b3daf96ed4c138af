/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address handles: destinations of datagrams. No provider has datagrams, so none is ever made, and
 * no handle names one.
 */
#include "tii/tii_check.h"

it_status_t it_address_handle_create(it_pz_handle_t pz_handle, const it_path_t *destination_path,
                                     it_ah_flags_t ah_flags, it_addr_handle_t *addr_handle)
{
    const struct ual_pz *pz = ual_pz_from(pz_handle);
    struct ual_ia *ia;
    it_status_t status;

    if (!pz)
        return IT_ERR_INVALID_PZ;
    if (!destination_path || !addr_handle)
        return IT_ERR_FAULT;
    ia = ual_ia_of(&pz->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)ah_flags & ~(unsigned)IT_AH_PATH_COMPLETE)
        return IT_ERR_INVALID_FLAGS;
    status = tii_check_path(ia, destination_path);
    return status == IT_SUCCESS ? IT_ERR_OP_NOT_SUPPORTED : status;
}

it_status_t it_address_handle_query(it_addr_handle_t addr_handle, it_addr_param_mask_t mask,
                                    it_addr_param_t *params)
{
    (void)addr_handle;
    (void)mask;
    (void)params;
    return IT_ERR_INVALID_AH;
}

it_status_t it_address_handle_modify(it_addr_handle_t addr_handle, it_addr_param_mask_t mask,
                                     const it_addr_param_t *params)
{
    (void)addr_handle;
    (void)mask;
    (void)params;
    return IT_ERR_INVALID_AH;
}

it_status_t it_address_handle_free(it_addr_handle_t addr_handle)
{
    (void)addr_handle;
    return IT_ERR_INVALID_AH;
}
