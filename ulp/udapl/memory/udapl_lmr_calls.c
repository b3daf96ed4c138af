/* SPDX-License-Identifier: BSD-2-Clause */
/* Local Memory Regions. */
#include "memory/udapl_memory.h"

#include "map/udapl_dto.h"
#include "object/udapl_ia.h"
#include "object/udapl_lmr.h"

#include <dat2/dat_ib_extensions.h>

#include <stdint.h>
#include <string.h>

static void fill_identity(struct udapl_lmr *lmr, DAT_MEM_TYPE mem_type,
                          const DAT_REGION_DESCRIPTION *region)
{
    lmr->mem_type = mem_type;
    lmr->region = *region;
    if (mem_type == DAT_MEM_TYPE_SHARED_VIRTUAL) {
        memcpy(lmr->shared_id, *region->for_shared_memory.shared_memory_id, sizeof(lmr->shared_id));
        lmr->region.for_shared_memory.shared_memory_id = &lmr->shared_id;
    }
}

/*
 * Finds the memory of a description. Processes that share memory register it separately; their id
 * is only stored.
 */
static DAT_RETURN find_memory(struct udapl_lmr *lmr, DAT_MEM_TYPE mem_type,
                              const DAT_REGION_DESCRIPTION *region, DAT_VLEN length)
{
    const struct udapl_lmr *other;

    lmr->length = length;
    switch (mem_type) {
    case DAT_MEM_TYPE_VIRTUAL:
        lmr->address = region->for_va;
        break;
    case DAT_MEM_TYPE_LMR:
        other = udapl_find(lmr->object.ia, region->for_lmr_handle, DAT_HANDLE_TYPE_LMR);
        if (!other)
            return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
        if (length > other->length)
            return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
        lmr->address = other->address;
        lmr->length = length ? length : other->length;
        break;
    case DAT_MEM_TYPE_SHARED_VIRTUAL:
        if (!region->for_shared_memory.shared_memory_id)
            return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
        lmr->address = region->for_shared_memory.virtual_address;
        break;
    default:
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    }
    return lmr->length ? DAT_SUCCESS : udapl_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
}

static DAT_RETURN register_memory(struct udapl_lmr *lmr)
{
    it_addr_mode_t mode =
        lmr->va_type == DAT_VA_TYPE_ZB ? IT_ADDR_MODE_RELATIVE : IT_ADDR_MODE_ABSOLUTE;
    it_context_t context = {.ptr = lmr};
    it_rmr_context_t key;
    it_status_t status =
        it_lmr_create21(lmr->pz->it, lmr->address, NULL, lmr->length, mode,
                        udapl_lmr_privileges(lmr->privileges), IT_LMR_FLAG_NONE, 0, &lmr->it, &key);

    if (status == IT_ERR_RESOURCES)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION);
    if (status != IT_SUCCESS)
        return udapl_return(status);
    (void)it_set_consumer_context(lmr->it, context); /* cannot fail: the handle is valid */
    lmr->rmr_context = (DAT_RMR_CONTEXT)key;
    lmr->lmr_context = udapl_lmr_context(lmr);
    return DAT_SUCCESS;
}

static DAT_RETURN check_arguments(const struct udapl_ia *ia, DAT_PZ_HANDLE pz_handle,
                                  DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
                                  const DAT_LMR_HANDLE *lmr_handle)
{
    unsigned known = (unsigned)DAT_MEM_PRIV_ALL_FLAG;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!udapl_find(ia, pz_handle, DAT_HANDLE_TYPE_PZ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if (ia->provider->extension == DAT_EXTENSION_IB && ia->info->atomic_support)
        known |= (unsigned)DAT_IB_MEM_PRIV_REMOTE_ATOMIC;
    if (((unsigned)privileges & ~known) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
    if (va_type != DAT_VA_TYPE_VA && va_type != DAT_VA_TYPE_ZB)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
    if (va_type == DAT_VA_TYPE_ZB && !ia->info->addr_mode_relative_support)
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    if (!lmr_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
    return DAT_SUCCESS;
}

/* Registers the LMR, with a reference to its PZ. */
static DAT_RETURN make(struct udapl_lmr *lmr, DAT_MEM_TYPE mem_type,
                       const DAT_REGION_DESCRIPTION *region, DAT_VLEN length)
{
    DAT_RETURN result = find_memory(lmr, mem_type, region, length);

    if (result != DAT_SUCCESS)
        return result;
    if (!udapl_object_hold(lmr->pz))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    fill_identity(lmr, mem_type, region);
    result = register_memory(lmr);
    if (result != DAT_SUCCESS)
        udapl_object_release(lmr->pz);
    return result;
}

DAT_RETURN udapl_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
                            DAT_REGION_DESCRIPTION region, DAT_VLEN length, DAT_PZ_HANDLE pz_handle,
                            DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
                            DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context,
                            DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
                            DAT_VADDR *registered_address)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    DAT_RETURN result = check_arguments(ia, pz_handle, privileges, va_type, lmr_handle);
    struct udapl_lmr *lmr;

    if (result != DAT_SUCCESS)
        return result;
    lmr = udapl_object_new(ia, DAT_HANDLE_TYPE_LMR);
    if (!lmr)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    lmr->pz = pz_handle;
    lmr->privileges = privileges;
    lmr->va_type = va_type;
    result = make(lmr, mem_type, &region, length);
    if (result != DAT_SUCCESS) {
        udapl_object_discard(lmr);
        return result;
    }
    udapl_object_start(lmr);
    *lmr_handle = lmr;
    if (lmr_context)
        *lmr_context = lmr->lmr_context;
    if (rmr_context)
        *rmr_context = lmr->rmr_context;
    if (registered_length)
        *registered_length = lmr->length;
    if (registered_address)
        *registered_address = (uintptr_t)lmr->address;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM *param)
{
    const struct udapl_lmr *lmr = lmr_handle;

    if (!udapl_is(lmr_handle, DAT_HANDLE_TYPE_LMR))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
    if (((unsigned)mask & ~(unsigned)DAT_LMR_FIELD_ALL) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    param->ia_handle = udapl_ia_handle(lmr->object.ia);
    param->mem_type = lmr->mem_type;
    param->region_desc = lmr->region;
    param->length = lmr->length;
    param->pz_handle = lmr->pz;
    param->mem_priv = lmr->privileges;
    param->va_type = lmr->va_type;
    param->lmr_context = lmr->lmr_context;
    param->rmr_context = lmr->rmr_context;
    param->registered_size = lmr->length;
    param->registered_address = (uintptr_t)lmr->address;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_lmr_free(DAT_LMR_HANDLE lmr_handle)
{
    struct udapl_lmr *lmr = lmr_handle;
    it_status_t status;

    if (!udapl_is(lmr_handle, DAT_HANDLE_TYPE_LMR))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
    if (!udapl_object_retire(lmr))
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
    status = it_lmr_free(lmr->it); /* fails while windows are linked */
    if (status != IT_SUCCESS) {
        udapl_object_unretire(lmr);
        return udapl_return(status);
    }
    lmr->lmr_context = 0;
    udapl_object_release(lmr->pz);
    udapl_object_end(lmr);
    return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- synchronisation */

/* Converts a segment. Returns false if no LMR of this IA has the context. */
static bool find_segment(const struct udapl_ia *ia, const DAT_LMR_TRIPLET *segment,
                         it_lmr_triplet_t *found)
{
    const struct udapl_lmr *lmr = udapl_lmr_from(segment->lmr_context);

    if (!lmr || lmr->object.ia != ia)
        return false;
    found->lmr = lmr->it;
    found->addr.rel = segment->virtual_address;
    found->length = segment->segment_length;
    return true;
}

static DAT_RETURN synchronise(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments,
                              DAT_VLEN num_segments,
                              it_status_t (*call)(const it_lmr_triplet_t *, size_t))
{
    const struct udapl_ia *ia = udapl_ia_from(ia_handle);
    it_lmr_triplet_t segment;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!segments && num_segments != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    for (DAT_VLEN i = 0; i < num_segments; i++) {
        it_status_t status;

        if (segments[i].segment_length == 0)
            continue; /* its other members are undefined */
        if (!find_segment(ia, &segments[i], &segment))
            return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
        status = call(&segment, 1);
        if (status != IT_SUCCESS)
            return udapl_return(status);
    }
    return DAT_SUCCESS;
}

DAT_RETURN udapl_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments,
                                    DAT_VLEN num_segments)
{
    return synchronise(ia_handle, segments, num_segments, it_lmr_flush_to_mem);
}

DAT_RETURN udapl_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments,
                                     DAT_VLEN num_segments)
{
    return synchronise(ia_handle, segments, num_segments, it_lmr_refresh_from_mem);
}
