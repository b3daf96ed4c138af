/* SPDX-License-Identifier: BSD-2-Clause */
/* it_rmr_link, it_rmr_bind10, it_rmr_unlink: requests that run on an endpoint. */
#include "ual/ual_post.h"

#define UAL_RMR_PRIVS        ((unsigned)IT_PRIV_REMOTE | (unsigned)IT_PRIV_ATOMIC)
#define UAL_RMR_WRITES       ((unsigned)IT_PRIV_REMOTE_WRITE | (unsigned)IT_PRIV_ATOMIC)
#define UAL_RMR_LINK_FLAGS   UAL_POST_RDMA_FLAGS
#define UAL_RMR_UNLINK_FLAGS (UAL_RMR_LINK_FLAGS | (unsigned)IT_UNLINK_FENCE_FLAG)

/* A window that is relative can be opened onto any region, an absolute one onto an absolute one. */
static it_status_t ual_rmr_check_mode(const struct vp_link *link,
                                      const struct vp_attributes *attributes)
{
    if ((unsigned)link->addr_mode > IT_ADDR_MODE_RELATIVE)
        return IT_ERR_INVALID_ADDR_MODE;
    if (link->addr_mode == IT_ADDR_MODE_RELATIVE && !attributes->relative_addressing)
        return IT_ERR_INVALID_ADDR_MODE;
    if (link->addr_mode == IT_ADDR_MODE_ABSOLUTE && link->lmr->addr_mode == IT_ADDR_MODE_RELATIVE)
        return IT_ERR_INVALID_ADDR_MODE;
    return IT_SUCCESS;
}

static it_status_t ual_rmr_check_privs(it_mem_priv_t privs, const struct vp_attributes *attributes)
{
    if (privs == 0 || ((unsigned)privs & ~UAL_RMR_PRIVS))
        return IT_ERR_INVALID_PRIVS;
    if ((privs & IT_PRIV_ATOMIC) && !attributes->atomics)
        return IT_ERR_INVALID_PRIVS;
    return IT_SUCCESS;
}

/* The window lies in the region; each remote right rests on a local one. */
static it_status_t ual_rmr_check_part(const struct vp_link *link)
{
    const struct ual_lmr *lmr = link->lmr;
    uint64_t offset = (uintptr_t)link->addr - (uintptr_t)lmr->addr; /* huge below the region */

    if (link->length == 0)
        return IT_ERR_INVALID_LENGTH;
    if (offset > lmr->length || link->length > lmr->length - offset)
        return IT_ERR_RANGE;
    if ((link->privs & IT_PRIV_REMOTE_READ) && !(lmr->privs & IT_PRIV_LOCAL_READ))
        return IT_ERR_ACCESS;
    if (((unsigned)link->privs & UAL_RMR_WRITES) && !(lmr->privs & IT_PRIV_LOCAL_WRITE))
        return IT_ERR_ACCESS;
    return IT_SUCCESS;
}

static it_status_t ual_rmr_check_link(const struct ual_ep *ep, const struct vp_link *link,
                                      it_dto_flags_t flags)
{
    const struct ual_ia *ia = ual_ia_of(&ep->object);
    const struct vp_attributes *attributes = ia->provider->ia_attributes(ia);
    it_status_t status;

    if (!link->key)
        return IT_ERR_FAULT;
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)flags & ~UAL_RMR_LINK_FLAGS)
        return IT_ERR_INVALID_DTO_FLAGS;
    status = ual_rmr_check_privs(link->privs, attributes);
    if (status == IT_SUCCESS)
        status = ual_rmr_check_mode(link, attributes);
    if (status == IT_SUCCESS)
        status = ual_rmr_check_part(link);
    return status;
}

it_status_t it_rmr_link(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                        it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                        it_ep_handle_t ep_handle, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                        it_rmr_context_t *rmr_context)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_link link = {
        .rmr = ual_rmr_from(rmr_handle),
        .lmr = ual_lmr_from(lmr_handle),
        .addr = addr,
        .length = length,
        .addr_mode = addr_mode,
        .privs = privs,
        .key = rmr_context,
    };
    struct vp_request request = {
        .opcode = VP_RMR_LINK, .flags = dto_flags, .cookie = cookie, .link = &link};
    it_status_t status;

    if (!link.rmr)
        return IT_ERR_INVALID_RMR;
    if (!link.lmr || !atomic_load_explicit(&link.lmr->linked, memory_order_relaxed))
        return IT_ERR_INVALID_LMR;
    if (!ep || ep->datagrams)
        return ual_ep_refuse(ep);
    if (link.rmr->pz != ep->pz || link.lmr->pz != ep->pz)
        return IT_ERR_INVALID_PZ;
    status = ual_rmr_check_link(ep, &link, dto_flags);
    if (status != IT_SUCCESS)
        return status;
    return ep->ops->post_request(ep, &request);
}

it_status_t it_rmr_bind10(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                          it_length_t length, it_mem_priv_t privs, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                          it_rmr_context_t *rmr_context)
{
    return it_rmr_link(rmr_handle, lmr_handle, addr, length, IT_ADDR_MODE_ABSOLUTE, privs,
                       ep_handle, cookie, dto_flags, rmr_context);
}

static it_status_t ual_rmr_check_unlink(const struct ual_ep *ep, const struct ual_rmr *rmr,
                                        it_dto_flags_t flags)
{
    const struct ual_ia *ia = ual_ia_of(&ep->object);
    const struct vp_attributes *attributes = ia->provider->ia_attributes(ia);
    bool narrow = rmr->type == IT_RMR_TYPE_NARROW;

    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)flags & ~UAL_RMR_UNLINK_FLAGS)
        return IT_ERR_INVALID_DTO_FLAGS;
    if ((flags & IT_UNLINK_FENCE_FLAG) && !attributes->unlink_fence)
        return IT_ERR_INVALID_DTO_FLAGS;
    if (narrow ? !attributes->narrow_unlink : !attributes->wide_unlink)
        return IT_ERR_OP_NOT_SUPPORTED;
    return IT_SUCCESS;
}

it_status_t it_rmr_unlink(it_rmr_handle_t rmr_handle, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_link link = {.rmr = ual_rmr_from(rmr_handle)};
    struct vp_request request = {
        .opcode = VP_RMR_UNLINK, .flags = dto_flags, .cookie = cookie, .link = &link};
    it_status_t status;

    if (!link.rmr)
        return IT_ERR_INVALID_RMR;
    if (!ep || ep->datagrams)
        return ual_ep_refuse(ep);
    if (link.rmr->pz != ep->pz)
        return IT_ERR_INVALID_PZ;
    status = ual_rmr_check_unlink(ep, link.rmr, dto_flags);
    if (status != IT_SUCCESS)
        return status;
    return ep->ops->post_request(ep, &request);
}
