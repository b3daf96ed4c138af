/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared receive queues: it_srq_create, it_srq_query, it_srq_modify, it_srq_free,
 * itx_srq_set_message_timeout.
 */
#include "ual/object/ual_object.h"

#include "ual/ep/ual_ep.h"
#include "ual/post/ual_post.h"

#include "itx_api.h"

#define UAL_SRQ_PARAMS (((unsigned)IT_SRQ_PARAM_LOW_WATERMARK << 1) - 1) /* all up to the last */
#define UAL_SRQ_MODIFIABLE                                                                         \
    ((unsigned)IT_SRQ_PARAM_MAX_RECV_DTO | (unsigned)IT_SRQ_PARAM_LOW_WATERMARK)

static const struct vp_attributes *ual_srq_attributes(const struct base_object *object)
{
    const struct ual_ia *ia = ual_ia_of(object);

    return ia->provider->ia_attributes(ia);
}

/* ---------------------------------------------------------------- create */

static it_status_t ual_srq_check(const struct vp_attributes *attributes, size_t max_recv_segments,
                                 size_t max_recv_dtos)
{
    static const char call[] = "it_srq_create";

    if (max_recv_dtos == 0)
        return base_refuse_number(IT_ERR_INVALID_SRQ_SIZE, call, max_recv_dtos);
    if (!attributes->srq)
        return base_refuse(IT_ERR_SRQ_NOT_SUPPORTED, call, "the IA has none");
    if (max_recv_dtos > attributes->max_srq_dtos)
        return base_refuse_above(IT_ERR_RESOURCE_RECV_DTO, call, max_recv_dtos,
                                 attributes->max_srq_dtos);
    if (max_recv_segments > attributes->max_recv_segments)
        return base_refuse_above(IT_ERR_RESOURCE_RSEG, call, max_recv_segments,
                                 attributes->max_recv_segments);
    return IT_SUCCESS;
}

static it_status_t ual_srq_new(struct ual_pz *pz, size_t segments, size_t depth,
                               it_srq_handle_t *srq_handle)
{
    struct ual_ia *ia = ual_ia_of(&pz->object);
    struct ual_srq *srq;
    it_status_t status;

    srq = ual_object_new_child("it_srq_create", ia, IT_HANDLE_TYPE_SRQ, pz, IT_ERR_INVALID_PZ,
                               &status);
    if (!srq)
        return status;
    srq->pz = pz;
    srq->max_recv_segments = segments;
    srq->max_recv_dtos = depth;
    base_lock_init(&srq->lock);
    status = ia->provider->srq_create(srq);
    if (status != IT_SUCCESS) {
        base_lock_destroy(&srq->lock);
        ual_object_discard_child(&srq->object, pz);
        return base_refuse(status, "it_srq_create", "refused by %s", ia->provider->name);
    }
    ual_object_start(&srq->object);
    base_object_set_entries(&srq->object, &ual_srq_entries);
    *srq_handle = ual_srq_handle(srq);
    return IT_SUCCESS;
}

it_status_t it_srq_create(it_pz_handle_t pz_handle, size_t max_recv_segments, size_t max_recv_dtos,
                          it_srq_handle_t *srq_handle)
{
    struct ual_pz *pz = ual_pz_from(pz_handle);
    it_status_t status;

    if (!pz)
        return base_refuse_handle(IT_ERR_INVALID_PZ, __func__, pz_handle);
    if (!srq_handle)
        return base_refuse_null(__func__, srq_handle);
    if (ual_ia_failed(ual_ia_of(&pz->object)))
        return IT_ERR_IA_CATASTROPHE;
    status = ual_srq_check(ual_srq_attributes(&pz->object), max_recv_segments, max_recv_dtos);
    if (status == IT_SUCCESS)
        status = ual_srq_new(pz, max_recv_segments, max_recv_dtos, srq_handle);
    return status;
}

/* ---------------------------------------------------------------- query and modify */

it_status_t it_srq_query(it_srq_handle_t srq_handle, it_srq_param_mask_t mask,
                         it_srq_param_t *params)
{
    struct ual_srq *srq = ual_srq_from(srq_handle);
    unsigned members = ual_object_members(mask);

    if (!srq)
        return base_refuse_handle(IT_ERR_INVALID_SRQ, __func__, srq_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if ((unsigned)mask & ~UAL_SRQ_PARAMS)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    base_lock_take(&srq->lock);
    if (members & IT_SRQ_PARAM_IA)
        params->ia = (it_ia_handle_t)(void *)srq->object.ia;
    if (members & IT_SRQ_PARAM_PZ)
        params->pz = (it_pz_handle_t)(void *)srq->pz;
    if (members & IT_SRQ_PARAM_MAX_RECV_DTO)
        params->max_recv_dtos = srq->max_recv_dtos;
    if (members & IT_SRQ_PARAM_MAX_RECV_SEG)
        params->max_recv_segs = srq->max_recv_segments;
    if (members & IT_SRQ_PARAM_LOW_WATERMARK)
        params->low_watermark = srq->low_watermark;
    base_lock_drop(&srq->lock);
    return IT_SUCCESS;
}

static it_status_t ual_srq_check_depth(const struct vp_attributes *attributes, size_t max_recv_dtos)
{
    static const char call[] = "it_srq_modify";

    if (max_recv_dtos == 0)
        return base_refuse_number(IT_ERR_INVALID_SRQ_SIZE, call, max_recv_dtos);
    if (!attributes->srq_resizable)
        return base_refuse_number(IT_ERR_OP_NOT_SUPPORTED, call, max_recv_dtos);
    if (max_recv_dtos > attributes->max_srq_dtos)
        return base_refuse_above(IT_ERR_RESOURCE_RECV_DTO, call, max_recv_dtos,
                                 attributes->max_srq_dtos);
    return IT_SUCCESS;
}

it_status_t it_srq_modify(it_srq_handle_t srq_handle, it_srq_param_mask_t mask,
                          const it_srq_param_t *params)
{
    struct ual_srq *srq = ual_srq_from(srq_handle);
    struct ual_ia *ia;
    it_status_t status = IT_SUCCESS;

    if (!srq)
        return base_refuse_handle(IT_ERR_INVALID_SRQ, __func__, srq_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    ia = ual_ia_of(&srq->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)mask & ~UAL_SRQ_MODIFIABLE)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    if (mask == 0)
        return IT_SUCCESS;
    if (mask & IT_SRQ_PARAM_MAX_RECV_DTO)
        status = ual_srq_check_depth(ual_srq_attributes(&srq->object), params->max_recv_dtos);
    if (status != IT_SUCCESS)
        return status;
    return base_refuse(ia->provider->srq_modify(srq, mask, params), __func__,
                       "mask %#x, max_recv_dtos %zu, low_watermark %zu: refused by %s",
                       (unsigned)mask, params->max_recv_dtos, params->low_watermark,
                       ia->provider->name);
}

/* ---------------------------------------------------------------- free */

void ual_srq_destroy(struct base_object *object)
{
    struct ual_srq *srq = (struct ual_srq *)(void *)object;

    base_object_unpublish(object);
    ual_ia_of(object)->provider->srq_destroy(srq);
    base_object_release(&srq->pz->object);
    base_lock_destroy(&srq->lock);
    ual_object_end(object);
}

it_status_t itx_srq_set_message_timeout(it_srq_handle_t srq_handle, uint64_t timeout_us)
{
    struct ual_srq *srq = ual_srq_from(srq_handle);
    const struct vp_provider *provider;

    if (!srq)
        return base_refuse_handle(IT_ERR_INVALID_SRQ, __func__, srq_handle);
    provider = ual_ia_of(&srq->object)->provider;
    if (!VP_PROVIDER_HAS(provider, srq_set_message_timeout))
        return base_refuse_handle(IT_ERR_OP_NOT_SUPPORTED, __func__, srq_handle);
    return provider->srq_set_message_timeout(srq, timeout_us);
}

it_status_t it_srq_free(it_srq_handle_t srq_handle)
{
    return ual_object_free(__func__, "srq_handle", srq_handle, IT_HANDLE_TYPE_SRQ,
                           IT_ERR_INVALID_SRQ, IT_ERR_SRQ_BUSY, ual_srq_destroy);
}
