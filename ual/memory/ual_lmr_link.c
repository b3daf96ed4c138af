/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions whose memory, a list of I/O addresses, is attached later, and the mapping of memory to
 * I/O addresses. Both are for privileged programs only, and a program in user space is none: the
 * calls check their arguments and then refuse. No region can be created for linking, so it_lmr_link
 * and it_lmr_unlink never get a valid one.
 */
#include "ual/memory/ual_memory.h"
#include "ual/object/ual.h"

it_status_t it_lmr_create_unlinked(it_pz_handle_t pz_handle, size_t iobl_num_elts,
                                   it_lmr_flag_t flags, uint32_t shared_id,
                                   it_lmr_handle_t *lmr_handle)
{
    const struct ual_pz *pz = ual_pz_from(pz_handle);
    const struct ual_ia *ia;
    it_status_t status;

    (void)shared_id;
    if (!pz)
        return base_refuse_handle(IT_ERR_INVALID_PZ, __func__, pz_handle);
    if (!lmr_handle)
        return base_refuse_null(__func__, lmr_handle);
    ia = ual_ia_of(&pz->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    status = ual_lmr_check_flags(__func__, flags);
    if (status != IT_SUCCESS)
        return status;
    if (iobl_num_elts == 0)
        return base_refuse_number(IT_ERR_INVALID_IOBL, __func__, iobl_num_elts);
    if (!ia->provider->ia_attributes(ia)->lmr_link)
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s links no LMRs", ia->name);
    return base_refuse(IT_ERR_PRIV_OPS_UNAVAILABLE, __func__, "for privileged programs only");
}

it_status_t it_lmr_link(it_lmr_handle_t lmr_handle, const void *addr, const it_iobl_t *iobl,
                        it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                        it_ep_handle_t ep_handle, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                        it_rmr_context_t *rmr_context)
{
    (void)addr;
    (void)iobl;
    (void)length;
    (void)addr_mode;
    (void)privs;
    (void)cookie;
    (void)dto_flags;
    (void)rmr_context;
    if (!ual_ep_from(ep_handle))
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    return base_refuse_handle(IT_ERR_INVALID_LMR, __func__, lmr_handle);
}

it_status_t it_lmr_unlink(it_lmr_handle_t lmr_handle, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    (void)cookie;
    (void)dto_flags;
    if (!ual_ep_from(ep_handle))
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    return base_refuse_handle(IT_ERR_INVALID_LMR, __func__, lmr_handle);
}

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
