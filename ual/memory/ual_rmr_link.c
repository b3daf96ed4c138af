/* SPDX-License-Identifier: BSD-2-Clause */
/* it_rmr_link, it_rmr_bind10, it_rmr_unlink, and the calls by key: they post requests on an EP. */
#include "ual/post/ual_post.h"

#define UAL_RMR_PRIVS        ((unsigned)IT_PRIV_REMOTE | (unsigned)IT_PRIV_ATOMIC)
#define UAL_RMR_WRITES       ((unsigned)IT_PRIV_REMOTE_WRITE | (unsigned)IT_PRIV_ATOMIC)
#define UAL_RMR_LINK_FLAGS   UAL_POST_RDMA_FLAGS
#define UAL_RMR_UNLINK_FLAGS (UAL_RMR_LINK_FLAGS | (unsigned)IT_UNLINK_FENCE_FLAG)

/* A relative window may be linked to any region, an absolute one only to an absolute region. */
static it_status_t ual_rmr_check_mode(const char *call, const struct vp_link *link,
                                      const struct vp_attributes *attributes)
{
    bool relative = link->addr_mode == IT_ADDR_MODE_RELATIVE;

    if ((unsigned)link->addr_mode > IT_ADDR_MODE_RELATIVE ||
        (relative && !attributes->relative_addressing) ||
        (!relative && link->lmr->addr_mode == IT_ADDR_MODE_RELATIVE))
        return base_refuse(IT_ERR_INVALID_ADDR_MODE, call, "addr_mode %d to an LMR of %d",
                           (int)link->addr_mode, (int)link->lmr->addr_mode);
    return IT_SUCCESS;
}

static it_status_t ual_rmr_check_privs(const char *call, it_mem_priv_t privs,
                                       const struct vp_attributes *attributes)
{
    if (privs == 0 || ((unsigned)privs & ~UAL_RMR_PRIVS) ||
        ((privs & IT_PRIV_ATOMIC) && !attributes->atomics))
        return base_refuse_bits(IT_ERR_INVALID_PRIVS, call, privs);
    return IT_SUCCESS;
}

/* Checks that the window lies in the region, and that each remote right has its local one. */
static it_status_t ual_rmr_check_part(const char *call, const struct vp_link *link)
{
    const struct ual_lmr *lmr = link->lmr;
    /* A window that begins below the region has a huge offset. */
    uint64_t offset = (uintptr_t)link->addr - (uintptr_t)lmr->addr;

    if (link->length == 0)
        return base_refuse_number(IT_ERR_INVALID_LENGTH, call, link->length);
    if (offset > lmr->length || link->length > lmr->length - offset)
        return base_refuse(IT_ERR_RANGE, call, "addr %p, length %llu in an LMR at %p of %llu",
                           (void *)link->addr, (unsigned long long)link->length, lmr->addr,
                           (unsigned long long)lmr->length);
    if (((link->privs & IT_PRIV_REMOTE_READ) && !(lmr->privs & IT_PRIV_LOCAL_READ)) ||
        (((unsigned)link->privs & UAL_RMR_WRITES) && !(lmr->privs & IT_PRIV_LOCAL_WRITE)))
        return base_refuse(IT_ERR_ACCESS, call, "privs %#x of an LMR with %#x",
                           (unsigned)link->privs, (unsigned)lmr->privs);
    return IT_SUCCESS;
}

static it_status_t ual_rmr_check_link(const char *call, const struct ual_ep *ep,
                                      const struct vp_link *link, it_dto_flags_t dto_flags)
{
    const struct ual_ia *ia = ual_ia_of(&ep->object);
    const struct vp_attributes *attributes = ia->provider->ia_attributes(ia);
    it_status_t status;

    if (!link->key)
        return base_refuse(IT_ERR_FAULT, call, "rmr_context is NULL");
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)dto_flags & ~UAL_RMR_LINK_FLAGS)
        return base_refuse_bits(IT_ERR_INVALID_DTO_FLAGS, call, dto_flags);
    status = ual_rmr_check_privs(call, link->privs, attributes);
    if (status == IT_SUCCESS)
        status = ual_rmr_check_mode(call, link, attributes);
    if (status == IT_SUCCESS)
        status = ual_rmr_check_part(call, link);
    return status;
}

static it_status_t ual_rmr_link(const char *call, struct vp_link *link, it_rmr_handle_t rmr_handle,
                                it_lmr_handle_t lmr_handle, it_ep_handle_t ep_handle,
                                it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct vp_request request = {
        .opcode = VP_RMR_LINK, .flags = dto_flags, .cookie = cookie, .link = link};
    it_status_t status;

    link->rmr = ual_rmr_from(rmr_handle);
    link->lmr = ual_lmr_from(lmr_handle);
    if (!link->rmr)
        return base_refuse_handle(IT_ERR_INVALID_RMR, call, rmr_handle);
    if (!link->lmr || !atomic_load_explicit(&link->lmr->linked, memory_order_relaxed))
        return base_refuse_handle(IT_ERR_INVALID_LMR, call, lmr_handle);
    if (!ep || ep->datagrams)
        return ual_ep_refuse(call, ep_handle);
    if (link->rmr->pz != ep->pz || link->lmr->pz != ep->pz)
        return base_refuse(IT_ERR_INVALID_PZ, call, "PZ %p of the EP, %p of the RMR, %p of the LMR",
                           (void *)ep->pz, (void *)link->rmr->pz, (void *)link->lmr->pz);
    status = ual_rmr_check_link(call, ep, link, dto_flags);
    return status == IT_SUCCESS ? ual_post_hand_over(call, ep, &request) : status;
}

it_status_t it_rmr_link(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                        it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                        it_ep_handle_t ep_handle, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                        it_rmr_context_t *rmr_context)
{
    struct vp_link link = {
        .addr = addr,
        .length = length,
        .addr_mode = addr_mode,
        .privs = privs,
        .key = rmr_context,
    };

    return ual_rmr_link(__func__, &link, rmr_handle, lmr_handle, ep_handle, cookie, dto_flags);
}

it_status_t it_rmr_bind10(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                          it_length_t length, it_mem_priv_t privs, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                          it_rmr_context_t *rmr_context)
{
    struct vp_link link = {
        .addr = addr,
        .length = length,
        .addr_mode = IT_ADDR_MODE_ABSOLUTE,
        .privs = privs,
        .key = rmr_context,
    };

    return ual_rmr_link(__func__, &link, rmr_handle, lmr_handle, ep_handle, cookie, dto_flags);
}

it_status_t itx_rmr_link_key(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                             it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                             it_ep_handle_t ep_handle, it_dto_cookie_t cookie,
                             it_dto_flags_t dto_flags, it_rmr_context_t rmr_context)
{
    const struct ual_rmr *rmr = ual_rmr_from(rmr_handle);
    struct vp_link link = {
        .addr = addr,
        .length = length,
        .addr_mode = addr_mode,
        .privs = privs,
        .key = &rmr_context,
        .key_chosen = true,
    };

    if (rmr && !VP_PROVIDER_HAS(ual_ia_of(&rmr->object)->provider, rmr_key))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s chooses keys itself",
                           ual_ia_of(&rmr->object)->name);
    return ual_rmr_link(__func__, &link, rmr_handle, lmr_handle, ep_handle, cookie, dto_flags);
}

it_status_t itx_rmr_key(it_rmr_handle_t rmr_handle, it_rmr_context_t *rmr_context)
{
    struct ual_rmr *rmr = ual_rmr_from(rmr_handle);
    const struct ual_ia *ia;

    if (!rmr)
        return base_refuse_handle(IT_ERR_INVALID_RMR, __func__, rmr_handle);
    if (!rmr_context)
        return base_refuse_null(__func__, rmr_context);
    ia = ual_ia_of(&rmr->object);
    if (!VP_PROVIDER_HAS(ia->provider, rmr_key))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s chooses keys itself", ia->name);
    return base_refuse(ia->provider->rmr_key(rmr, rmr_context), __func__, "rmr_handle %p",
                       (void *)rmr);
}

it_status_t itx_post_invalidate(it_ep_handle_t ep_handle, it_rmr_context_t rmr_context,
                                it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    const struct vp_link nothing = {.rmr = NULL};
    /* A key of more than 32 bits is invalid, as is 0. */
    struct vp_request request = {.opcode = VP_INVALIDATE,
                                 .flags = dto_flags,
                                 .cookie = cookie,
                                 .link = &nothing,
                                 .rmr_context = rmr_context > UINT32_MAX ? 0 : rmr_context};

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (ual_ia_failed(ual_ia_of(&ep->object)))
        return IT_ERR_IA_CATASTROPHE;
    if (!VP_PROVIDER_HAS(ual_ia_of(&ep->object)->provider, rmr_key))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "ep_handle %p of %s", (void *)ep,
                           ual_ia_of(&ep->object)->name);
    if ((unsigned)dto_flags & ~UAL_RMR_UNLINK_FLAGS)
        return base_refuse_bits(IT_ERR_INVALID_DTO_FLAGS, __func__, dto_flags);
    return ual_post_hand_over(__func__, ep, &request);
}

static it_status_t ual_rmr_check_unlink(const struct ual_ep *ep, const struct ual_rmr *rmr,
                                        it_dto_flags_t dto_flags)
{
    static const char call[] = "it_rmr_unlink";
    const struct ual_ia *ia = ual_ia_of(&ep->object);
    const struct vp_attributes *attributes = ia->provider->ia_attributes(ia);
    bool narrow = rmr->type == IT_RMR_TYPE_NARROW;

    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (((unsigned)dto_flags & ~UAL_RMR_UNLINK_FLAGS) ||
        ((dto_flags & IT_UNLINK_FENCE_FLAG) && !attributes->unlink_fence))
        return base_refuse_bits(IT_ERR_INVALID_DTO_FLAGS, call, dto_flags);
    if (narrow ? !attributes->narrow_unlink : !attributes->wide_unlink)
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, call, "rmr_handle %p is %s", (const void *)rmr,
                           narrow ? "narrow" : "wide");
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
        return base_refuse_handle(IT_ERR_INVALID_RMR, __func__, rmr_handle);
    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (link.rmr->pz != ep->pz)
        return base_refuse(IT_ERR_INVALID_PZ, __func__, "PZ %p of the EP, %p of the RMR",
                           (void *)ep->pz, (void *)link.rmr->pz);
    status = ual_rmr_check_unlink(ep, link.rmr, dto_flags);
    if (status != IT_SUCCESS)
        return status;
    return ual_post_hand_over(__func__, ep, &request);
}
