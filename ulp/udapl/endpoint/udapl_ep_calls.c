/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating and freeing endpoints. */
#include "deliver/udapl_deliver.h"
#include "endpoint/udapl_endpoint.h"
#include "endpoint/udapl_ep_attr.h"
#include "endpoint/udapl_ep_make.h"

#include <string.h>

static DAT_RETURN new_ep(struct udapl_ia *ia, const struct udapl_ep_parts *parts,
                         const DAT_EP_ATTR *attr, struct udapl_ep **made)
{
    struct udapl_ep *ep = udapl_object_new(ia, DAT_HANDLE_TYPE_EP);
    DAT_RETURN result;

    if (!ep)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    result = udapl_ep_make(ep, parts, attr);
    if (result != DAT_SUCCESS) {
        udapl_object_discard(ep);
        return result;
    }
    ep->connection.local = ia->address;
    udapl_object_start(ep);
    *made = ep;
    return DAT_SUCCESS;
}

/* Creates an EP. no_attr, no_handle: subtypes for the last two arguments of the call. */
static DAT_RETURN create_of_parts(struct udapl_ia *ia, const struct udapl_ep_parts *parts,
                                  const DAT_EP_ATTR *attr, DAT_RETURN_SUBTYPE no_attr,
                                  DAT_EP_HANDLE *ep_handle, DAT_RETURN_SUBTYPE no_handle)
{
    DAT_EP_ATTR settled;
    struct udapl_ep *ep;
    DAT_RETURN result;

    if (!udapl_ep_attr_settle(ia, attr, &settled))
        return udapl_error(DAT_INVALID_PARAMETER, no_attr);
    if (!ep_handle)
        return udapl_error(DAT_INVALID_PARAMETER, no_handle);
    result = new_ep(ia, parts, &settled, &ep);
    if (result == DAT_SUCCESS)
        *ep_handle = ep;
    return result;
}

DAT_RETURN udapl_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                           DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
                           DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr,
                           DAT_EP_HANDLE *ep_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_ep_parts parts;
    DAT_RETURN result;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    result = udapl_ep_parts_find(ia, pz_handle, recv_evd, request_evd, connect_evd, &parts);
    if (result != DAT_SUCCESS)
        return result;
    return create_of_parts(ia, &parts, attr, DAT_INVALID_ARG6, ep_handle, DAT_INVALID_ARG7);
}

DAT_RETURN udapl_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                    DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
                                    DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq_handle,
                                    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_ep_parts parts;
    DAT_RETURN result;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    result = udapl_ep_parts_find(ia, pz_handle, recv_evd, request_evd, connect_evd, &parts);
    if (result != DAT_SUCCESS)
        return result;
    parts.srq = udapl_find(ia, srq_handle, DAT_HANDLE_TYPE_SRQ);
    if (!parts.srq)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    if (parts.pz && parts.pz != parts.srq->pz)
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE); /* as dat_ia_query reports */
    return create_of_parts(ia, &parts, attr, DAT_INVALID_ARG7, ep_handle, DAT_INVALID_ARG8);
}

/* Ends a connection without an event. Refused while a service point or a request holds the EP. */
DAT_RETURN udapl_ep_free(DAT_EP_HANDLE ep_handle)
{
    struct udapl_ep *ep = ep_handle;
    DAT_RETURN result;

    if (!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (!udapl_object_retire(ep))
        return udapl_state_error(udapl_ep_state(ep));
    result = udapl_ep_unmake(ep);
    if (result != DAT_SUCCESS) {
        udapl_object_unretire(ep);
        return result;
    }
    udapl_object_end(ep);
    return DAT_SUCCESS;
}
