/* SPDX-License-Identifier: BSD-2-Clause */
#include "endpoint/udapl_endpoint.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                           DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
                           DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr,
                           DAT_EP_HANDLE *ep_handle)
{
    (void)ia_handle;
    (void)pz_handle;
    (void)recv_evd;
    (void)request_evd;
    (void)connect_evd;
    (void)attr;
    (void)ep_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                    DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
                                    DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq_handle,
                                    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep_handle)
{
    (void)ia_handle;
    (void)pz_handle;
    (void)recv_evd;
    (void)request_evd;
    (void)connect_evd;
    (void)srq_handle;
    (void)attr;
    (void)ep_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param)
{
    (void)ep_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask,
                           const DAT_EP_PARAM *param)
{
    (void)ep_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE *ep_state,
                               DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle)
{
    (void)ep_handle;
    (void)ep_state;
    (void)recv_idle;
    (void)request_idle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT *allocated, DAT_COUNT *span)
{
    (void)ep_handle;
    (void)allocated;
    (void)span;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft, DAT_COUNT hard)
{
    (void)ep_handle;
    (void)soft;
    (void)hard;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_free(DAT_EP_HANDLE ep_handle)
{
    (void)ep_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

void udapl_ep_discard(struct udapl_ep *ep)
{
    (void)ep;
}
