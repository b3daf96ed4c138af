/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared Receive Queues. */
#include "endpoint/udapl_endpoint.h"
#include "endpoint/udapl_segments.h"
#include "object/udapl_ia.h"

static DAT_RETURN check_attributes(const struct udapl_ia *ia, const DAT_SRQ_ATTR *attr)
{
    if (!ia->info->srq_support)
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    if (!attr || attr->max_recv_dtos <= 0 || attr->max_recv_iov <= 0 ||
        attr->max_recv_iov > udapl_limit_segments(ia->features.max_recv_segments) ||
        (size_t)attr->max_recv_dtos > ia->features.max_srq_dtos || attr->low_watermark < 0 ||
        attr->low_watermark > attr->max_recv_dtos)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    return DAT_SUCCESS;
}

static it_status_t set_low_watermark(const struct udapl_srq *srq, DAT_COUNT low_watermark)
{
    it_srq_param_t param = {.low_watermark = (size_t)low_watermark};

    return it_srq_modify(srq->it, IT_SRQ_PARAM_LOW_WATERMARK, &param);
}

/* Creates the S-RQ of IT-API, with a reference to its PZ. */
static DAT_RETURN make(struct udapl_srq *srq, const DAT_SRQ_ATTR *attr)
{
    it_context_t context = {.ptr = srq};
    it_status_t status;

    if (!udapl_object_hold(srq->pz))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    status = it_srq_create(srq->pz->it, (size_t)attr->max_recv_iov, (size_t)attr->max_recv_dtos,
                           &srq->it);
    if (status == IT_SUCCESS && attr->low_watermark != DAT_SRQ_LW_DEFAULT) {
        status = set_low_watermark(srq, attr->low_watermark);
        if (status != IT_SUCCESS)
            (void)it_srq_free(srq->it); /* no EP has it */
    }
    if (status == IT_SUCCESS)
        return udapl_return(it_set_consumer_context(srq->it, context));
    udapl_object_release(srq->pz);
    return status == IT_ERR_RESOURCES ? udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ)
                                      : udapl_return(status);
}

DAT_RETURN udapl_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR *attr,
                            DAT_SRQ_HANDLE *srq_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_srq *srq;
    DAT_RETURN result;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!udapl_find(ia, pz_handle, DAT_HANDLE_TYPE_PZ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    result = check_attributes(ia, attr);
    if (result != DAT_SUCCESS)
        return result;
    if (!srq_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    srq = udapl_object_new(ia, DAT_HANDLE_TYPE_SRQ);
    if (!srq)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    srq->pz = pz_handle;
    result = make(srq, attr);
    if (result != DAT_SUCCESS) {
        udapl_object_discard(srq);
        return result;
    }
    udapl_object_start(srq);
    *srq_handle = srq;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM *param)
{
    const struct udapl_srq *srq = srq_handle;
    it_srq_param_t now;
    it_status_t status;

    if (!udapl_is(srq_handle, DAT_HANDLE_TYPE_SRQ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    if (((unsigned)mask & ~(unsigned)DAT_SRQ_FIELD_ALL) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    status = it_srq_query(srq->it, IT_SRQ_PARAM_ALL, &now);
    if (status != IT_SUCCESS)
        return udapl_return(status);
    param->ia_handle = udapl_ia_handle(srq->object.ia);
    param->srq_state = DAT_SRQ_STATE_OPERATIONAL;
    param->pz_handle = srq->pz;
    param->max_recv_dtos = udapl_limit_count(now.max_recv_dtos);
    param->max_recv_iov = udapl_limit_count(now.max_recv_segs);
    param->low_watermark = udapl_limit_count(now.low_watermark);
    param->available_dto_count = param->outstanding_dto_count = DAT_VALUE_UNKNOWN;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT qlen)
{
    const struct udapl_srq *srq = srq_handle;
    it_srq_param_t param = {.max_recv_dtos = (size_t)qlen};

    if (!udapl_is(srq_handle, DAT_HANDLE_TYPE_SRQ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    if (qlen <= 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    return udapl_return(it_srq_modify(srq->it, IT_SRQ_PARAM_MAX_RECV_DTO, &param));
}

DAT_RETURN udapl_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark)
{
    if (!udapl_is(srq_handle, DAT_HANDLE_TYPE_SRQ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    if (low_watermark < 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    return udapl_return(set_low_watermark(srq_handle, low_watermark));
}

DAT_RETURN udapl_srq_free(DAT_SRQ_HANDLE srq_handle)
{
    struct udapl_srq *srq = srq_handle;
    it_status_t status;

    if (!udapl_is(srq_handle, DAT_HANDLE_TYPE_SRQ))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    if (!udapl_object_retire(srq))
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
    status = it_srq_free(srq->it);
    if (status != IT_SUCCESS) {
        udapl_object_unretire(srq);
        return udapl_return(status);
    }
    udapl_object_release(srq->pz);
    udapl_object_end(srq);
    return DAT_SUCCESS;
}
