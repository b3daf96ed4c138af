/* SPDX-License-Identifier: BSD-2-Clause */
/* Reserved service points, which take one request for one EP. */
#include "connect/udapl_connect.h"

#include "connect/udapl_ep_hold.h"
#include "connect/udapl_sp.h"
#include "deliver/udapl_deliver.h"
#include "endpoint/udapl_ep_attr.h"
#include "map/udapl_connection.h"

static struct udapl_sp *rsp_from(DAT_RSP_HANDLE handle)
{
    return udapl_is(handle, DAT_HANDLE_TYPE_RSP) ? handle : NULL;
}

/* Reserves the consumer's EP, or creates one. */
static DAT_RETURN reserve(struct udapl_ia *ia, DAT_EP_HANDLE ep_handle, struct udapl_sp *rsp)
{
    DAT_EP_ATTR attr;

    rsp->made_ep = ep_handle == DAT_HANDLE_NULL;
    if (rsp->made_ep) {
        (void)udapl_ep_attr_settle(ia, NULL, &attr); /* cannot fail: defaults */
        rsp->ep = udapl_ep_provide(ia, &attr, UDAPL_EP_RESERVED);
        return rsp->ep ? DAT_SUCCESS : udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    }
    rsp->ep = udapl_find(ia, ep_handle, DAT_HANDLE_TYPE_EP);
    if (!rsp->ep)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    return udapl_hold_take(rsp->ep, UDAPL_CALL_RESERVE, UDAPL_EP_RESERVED);
}

static DAT_RETURN create(struct udapl_ia *ia, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
                         DAT_EVD_HANDLE evd_handle, struct udapl_sp **out)
{
    struct udapl_sp *rsp;
    struct udapl_ep *ep;
    bool made;
    DAT_RETURN result = udapl_sp_make(ia, DAT_HANDLE_TYPE_RSP, evd_handle, &rsp);

    if (result != DAT_SUCCESS)
        return result;
    rsp->conn_qual = conn_qual;
    result = reserve(ia, ep_handle, rsp);
    if (result != DAT_SUCCESS) {
        udapl_sp_unmake(rsp);
        return result;
    }
    ep = rsp->ep;
    made = rsp->made_ep;
    result = udapl_sp_listen(rsp);
    if (result != DAT_SUCCESS)
        udapl_hold_return(ep, made);
    *out = rsp;
    return result;
}

DAT_RETURN udapl_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                            DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
                            DAT_RSP_HANDLE *rsp_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_sp *rsp;
    DAT_RETURN result;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!udapl_is_port(conn_qual))
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!rsp_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    result = create(ia, conn_qual, ep_handle, evd_handle, &rsp);
    if (result == DAT_SUCCESS)
        *rsp_handle = rsp;
    return result;
}

DAT_RETURN udapl_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM *param)
{
    struct udapl_sp *rsp = rsp_from(rsp_handle);

    if (!rsp)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP);
    if ((unsigned)mask & ~(unsigned)DAT_RSP_FIELD_ALL)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    param->ia_handle = udapl_ia_handle(rsp->object.ia);
    param->conn_qual = rsp->conn_qual;
    param->evd_handle = rsp->evd;
    pthread_mutex_lock(&rsp->object.ia->lock);
    param->ep_handle = rsp->ep;
    pthread_mutex_unlock(&rsp->object.ia->lock);
    return DAT_SUCCESS;
}

DAT_RETURN udapl_rsp_free(DAT_RSP_HANDLE rsp_handle)
{
    struct udapl_sp *rsp = rsp_from(rsp_handle);
    struct udapl_ep *ep;

    if (!rsp || !udapl_object_retire(rsp))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP);
    ep = udapl_sp_close(rsp);
    if (ep)
        udapl_hold_return(ep, rsp->made_ep);
    udapl_sp_end(rsp);
    return DAT_SUCCESS;
}
