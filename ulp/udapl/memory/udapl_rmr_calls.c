/* SPDX-License-Identifier: BSD-2-Clause */
/* Remote Memory Regions: windows. */
#include "memory/udapl_memory.h"

#include "map/udapl_dto.h"
#include "map/udapl_flags.h"
#include "object/udapl_ep.h"
#include "object/udapl_ia.h"
#include "object/udapl_rmr.h"

static it_rmr_type_t type_of(DAT_RMR_SCOPE scope)
{
    return scope == DAT_RMR_SCOPE_EP ? IT_RMR_TYPE_NARROW : IT_RMR_TYPE_WIDE;
}

static bool has_scope(const struct udapl_ia *ia, DAT_RMR_SCOPE scope)
{
    return ((unsigned)ia->info->rmr_types_supported & (unsigned)type_of(scope)) != 0;
}

static DAT_RETURN create(DAT_PZ_HANDLE pz_handle, DAT_RMR_SCOPE scope, DAT_RMR_HANDLE *rmr_handle)
{
    struct udapl_pz *pz = pz_handle;
    struct udapl_rmr *rmr;
    it_context_t context;
    it_status_t status;

    rmr = udapl_object_new(pz->object.ia, DAT_HANDLE_TYPE_RMR);
    if (!rmr)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    if (!udapl_object_hold(pz)) {
        udapl_object_discard(rmr);
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    }
    status = it_rmr_create20(pz->it, type_of(scope), &rmr->it);
    if (status != IT_SUCCESS) {
        udapl_object_release(pz);
        udapl_object_discard(rmr);
        return status == IT_ERR_RESOURCES
                   ? udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION)
                   : udapl_return(status);
    }
    context.ptr = rmr;
    (void)it_set_consumer_context(rmr->it, context); /* cannot fail: the handle is valid */
    rmr->pz = pz;
    rmr->scope = scope;
    udapl_object_start(rmr);
    *rmr_handle = rmr;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle)
{
    const struct udapl_pz *pz = pz_handle;

    if (!udapl_is(pz_handle, DAT_HANDLE_TYPE_PZ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if (!rmr_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (has_scope(pz->object.ia, DAT_RMR_SCOPE_PZ))
        return create(pz_handle, DAT_RMR_SCOPE_PZ, rmr_handle);
    return udapl_rmr_create_for_ep(pz_handle, rmr_handle);
}

DAT_RETURN udapl_rmr_create_for_ep(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle)
{
    const struct udapl_pz *pz = pz_handle;

    if (!udapl_is(pz_handle, DAT_HANDLE_TYPE_PZ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if (!rmr_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!has_scope(pz->object.ia, DAT_RMR_SCOPE_EP))
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    return create(pz_handle, DAT_RMR_SCOPE_EP, rmr_handle);
}

DAT_RETURN udapl_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param)
{
    const struct udapl_rmr *rmr = rmr_handle;

    if (!udapl_is(rmr_handle, DAT_HANDLE_TYPE_RMR))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
    if (((unsigned)mask & ~(unsigned)DAT_RMR_FIELD_ALL) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    param->ia_handle = udapl_ia_handle(rmr->object.ia);
    param->pz_handle = rmr->pz;
    param->lmr_triplet = rmr->triplet;
    param->mem_priv = rmr->privileges;
    param->rmr_context = rmr->rmr_context;
    param->rmr_scope = rmr->scope;
    param->va_type = rmr->va_type;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_rmr_free(DAT_RMR_HANDLE rmr_handle)
{
    struct udapl_rmr *rmr = rmr_handle;
    it_status_t status;

    if (!udapl_is(rmr_handle, DAT_HANDLE_TYPE_RMR))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
    status = it_rmr_free(rmr->it);
    if (status != IT_SUCCESS)
        return udapl_return(status);
    udapl_object_release(rmr->pz);
    udapl_object_end(rmr);
    return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- bind */

static DAT_RETURN check_region(const struct udapl_rmr *rmr, DAT_LMR_HANDLE lmr_handle,
                               const DAT_LMR_TRIPLET *triplet, DAT_MEM_PRIV_FLAGS privileges,
                               DAT_VA_TYPE va_type)
{
    const struct udapl_lmr *lmr = udapl_find(rmr->object.ia, lmr_handle, DAT_HANDLE_TYPE_LMR);

    if (!lmr)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
    if (triplet->lmr_context != lmr->lmr_context)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (((unsigned)privileges & ~(unsigned)DAT_MEM_PRIV_ALL_FLAG) != 0 ||
        udapl_rmr_privileges(privileges) == 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (va_type != DAT_VA_TYPE_VA && va_type != DAT_VA_TYPE_ZB)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    return DAT_SUCCESS;
}

static it_status_t link_window(struct udapl_rmr *rmr, const struct udapl_lmr *lmr,
                               const DAT_LMR_TRIPLET *triplet, DAT_MEM_PRIV_FLAGS privileges,
                               DAT_VA_TYPE va_type, const struct udapl_ep *ep, uint64_t cookie,
                               it_dto_flags_t flags)
{
    it_addr_mode_t mode = va_type == DAT_VA_TYPE_ZB ? IT_ADDR_MODE_RELATIVE : IT_ADDR_MODE_ABSOLUTE;
    it_rmr_context_t key;
    it_status_t status = it_rmr_link(rmr->it, lmr->it, (void *)(uintptr_t)triplet->virtual_address,
                                     triplet->segment_length, mode,
                                     udapl_rmr_privileges(privileges), ep->it, cookie, flags, &key);

    if (status != IT_SUCCESS)
        return status;
    rmr->rmr_context = (DAT_RMR_CONTEXT)key;
    udapl_rmr_remember(rmr);
    return IT_SUCCESS;
}

static DAT_RETURN check_bind(const struct udapl_rmr *rmr, const DAT_LMR_TRIPLET *triplet,
                             DAT_EP_HANDLE ep_handle, DAT_COMPLETION_FLAGS flags)
{
    const struct udapl_ep *ep;

    if (!udapl_is((DAT_HANDLE)(uintptr_t)rmr, DAT_HANDLE_TYPE_RMR))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
    ep = udapl_find(rmr->object.ia, ep_handle, DAT_HANDLE_TYPE_EP);
    if (!ep)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (!triplet)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (((unsigned)flags & ~UDAPL_FLAGS_BIND) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
    if (((unsigned)flags & (unsigned)DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG) != 0 &&
        !rmr->object.ia->info->unlink_fence_support)
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    return ep->it ? DAT_SUCCESS : udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONFIGURED);
}

/* Binds a window. A length of 0 unbinds it. */
DAT_RETURN udapl_rmr_bind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle,
                          const DAT_LMR_TRIPLET *lmr_triplet, DAT_MEM_PRIV_FLAGS mem_priv,
                          DAT_VA_TYPE va_type, DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie,
                          DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *rmr_context)
{
    struct udapl_rmr *rmr = rmr_handle;
    struct udapl_ep *ep = ep_handle;
    DAT_RETURN result = check_bind(rmr, lmr_triplet, ep_handle, flags);
    struct udapl_record *record;
    it_status_t status;
    bool bind;

    if (result != DAT_SUCCESS)
        return result;
    bind = lmr_triplet->segment_length != 0;
    if (bind)
        result = check_region(rmr, lmr_handle, lmr_triplet, mem_priv, va_type);
    if (result != DAT_SUCCESS)
        return result;
    record = udapl_record_take(&ep->records, cookie.as_64,
                               !((unsigned)flags & (unsigned)DAT_COMPLETION_SUPPRESS_FLAG));
    if (!record)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    record->rmr = rmr;
    record->generation = rmr->object.entry.generation;
    if (bind)
        status = link_window(rmr, lmr_handle, lmr_triplet, mem_priv, va_type, ep, (uintptr_t)record,
                             udapl_flags(flags));
    else
        status = it_rmr_unlink(rmr->it, ep->it, (uintptr_t)record, udapl_flags(flags));
    if (status != IT_SUCCESS) {
        udapl_record_return(record);
        return udapl_return(status);
    }
    rmr->triplet = *lmr_triplet;
    rmr->privileges = mem_priv;
    rmr->va_type = va_type;
    if (rmr_context)
        *rmr_context = rmr->rmr_context;
    return DAT_SUCCESS;
}
