/* SPDX-License-Identifier: BSD-2-Clause */
/* Mapping of memory for I/O addresses: refused, as every caller in user space is unprivileged. */
#include "ual/object/ual.h"

it_status_t it_mem_map(it_ia_handle_t ia_handle, void *vaddr, uint64_t aspace_id, size_t len,
                       it_io_addr_t *io_addr, size_t *mapped_len)
{
    const struct ual_ia *ia = ual_ia_from(ia_handle);

    (void)vaddr;
    (void)aspace_id;
    (void)len;
    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (!io_addr || !mapped_len)
        return base_refuse_null2(__func__, io_addr, mapped_len);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    return base_refuse(IT_ERR_PRIV_OPS_UNAVAILABLE, __func__, "for privileged programs only");
}

it_status_t it_mem_unmap(it_ia_handle_t ia_handle, it_io_addr_t io_addr, size_t mapped_len)
{
    (void)io_addr;
    (void)mapped_len;
    if (!ual_ia_from(ia_handle))
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    return base_refuse(IT_ERR_PRIV_OPS_UNAVAILABLE, __func__, "for privileged programs only");
}
