/* SPDX-License-Identifier: BSD-2-Clause */
/* dat_ep_query, dat_ep_get_status, and watermarks of receives. */
#include "deliver/udapl_deliver.h"
#include "endpoint/udapl_endpoint.h"

#include "itx_api.h"

#include <limits.h>
#include <string.h>

static void fill_param(struct udapl_ep *ep, DAT_EP_PARAM *param)
{
    memset(param, 0, sizeof(*param));
    param->ia_handle = udapl_ia_handle(ep->object.ia);
    param->ep_state = udapl_ep_state(ep);
    param->comm.domain = ep->connection.local.ss_family;
    param->comm.type = SOCK_STREAM;
    param->local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ep->connection.local;
    param->local_port_qual = ep->connection.local_port;
    param->remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ep->connection.remote;
    param->remote_port_qual = ep->connection.remote_port;
    param->pz_handle = ep->pz;
    param->recv_evd_handle = ep->recv_evd;
    param->request_evd_handle = ep->request_evd;
    param->connect_evd_handle = ep->connect_evd;
    param->srq_handle = ep->srq;
    param->ep_attr = ep->attr;
}

DAT_RETURN udapl_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param)
{
    if (!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if ((mask & ~DAT_EP_FIELD_ALL) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    fill_param(ep_handle, param);
    return DAT_SUCCESS;
}

/* Counts the posts that occupy a place in both queues. The counters wrap at 2^32. */
static void count_posts(const struct udapl_ep *ep, uint32_t *requests, uint32_t *receives)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    *requests = *receives = 0;
    if (!ep->it || itx_ep_stats(ep->it, &counters) != IT_SUCCESS)
        return;
    *requests = (uint32_t)(counters.requests_posted - counters.requests_done);
    *receives = (uint32_t)(counters.receives_posted - counters.receives_done);
}

DAT_RETURN udapl_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE *ep_state,
                               DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle)
{
    const struct udapl_ep *ep = ep_handle;
    uint32_t requests, receives;

    if (!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    count_posts(ep, &requests, &receives);
    if (ep_state)
        *ep_state = udapl_ep_state(ep);
    if (recv_idle)
        *recv_idle = receives == 0 ? DAT_TRUE : DAT_FALSE;
    if (request_idle)
        *request_idle = requests == 0 ? DAT_TRUE : DAT_FALSE;
    return DAT_SUCCESS;
}

/* Receives are used in the order of posting, so span equals allocated. */
DAT_RETURN udapl_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT *allocated, DAT_COUNT *span)
{
    const struct udapl_ep *ep = ep_handle;
    uint32_t requests, receives;

    if (!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    count_posts(ep, &requests, &receives);
    if (receives > INT_MAX)
        receives = INT_MAX;
    if (allocated)
        *allocated = (DAT_COUNT)receives;
    if (span)
        *span = (DAT_COUNT)receives;
    return DAT_SUCCESS;
}

/* Sets the watermarks for receives of an S-RQ that the endpoint holds. */
static DAT_RETURN modify_watermarks(const struct udapl_ep *ep, DAT_COUNT soft, DAT_COUNT hard)
{
    it_ep_attributes_t attr = {.max_recv_dtos = 0};
    unsigned mask = 0;

    attr.srv.rc.soft_hi_watermark = soft == DAT_WATERMARK_INFINITE ? 0 : (size_t)soft;
    attr.srv.rc.hard_hi_watermark =
        hard == DAT_WATERMARK_INFINITE ? IT_HARD_HI_WATERMARK_DISABLE : (size_t)hard;
    if (ep->object.ia->info->soft_hi_watermark_support || attr.srv.rc.soft_hi_watermark != 0)
        mask |= IT_EP_PARAM_SOFT_HI_WATERMARK;
    if (ep->object.ia->info->hard_hi_watermark_support ||
        attr.srv.rc.hard_hi_watermark != IT_HARD_HI_WATERMARK_DISABLE)
        mask |= IT_EP_PARAM_HARD_HI_WATERMARK;
    return udapl_return(it_ep_modify(ep->it, (it_ep_param_mask_t)mask, &attr));
}

DAT_RETURN udapl_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft, DAT_COUNT hard)
{
    const struct udapl_ep *ep = ep_handle;
    DAT_RETURN result;

    if (!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (soft < 0 && soft != DAT_WATERMARK_INFINITE)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (hard < 0 && hard != DAT_WATERMARK_INFINITE)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!ep->srq)
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    result = udapl_ep_configured(ep);
    return result == DAT_SUCCESS ? modify_watermarks(ep, soft, hard) : result;
}
