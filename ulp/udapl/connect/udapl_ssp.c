/* SPDX-License-Identifier: BSD-2-Clause */
/* Connected sockets: socket service points, and connecting over a socket. */
#include "connect/udapl_ssp.h"

#include "connect/udapl_ep_hold.h"
#include "deliver/udapl_deliver.h"
#include "endpoint/udapl_endpoint.h"
#include "map/udapl_connection.h"
#include "object/udapl_evd.h"
#include "object/udapl_ia.h"
#include "object/udapl_sp.h"

#include "itx_api.h"

static struct udapl_sp *ssp_from(DAT_IW_SSP_HANDLE handle)
{
    return udapl_is(handle, UDAPL_TYPE_SSP) ? handle : NULL;
}

static DAT_RETURN bad_ssp(void)
{
    return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
}

static DAT_RETURN convert(struct udapl_ep *ep, int socket, it_sc_flags_t role,
                          const struct itx_convert_params *params)
{
    bool accepting = atomic_exchange(&ep->connection.accepting, role == ITX_SC_RESPONDER);
    it_status_t status = itx_socket_convert(socket, ep->it, role, params);

    if (status == IT_SUCCESS)
        return DAT_SUCCESS;
    atomic_store(&ep->connection.accepting, accepting);
    return status == IT_ERR_INVALID_EP_STATE ? udapl_state_error(udapl_ep_state(ep))
                                             : udapl_return(status);
}

static DAT_RETURN check_ep(const struct udapl_ep *ep)
{
    DAT_RETURN result = udapl_ep_check(ep, UDAPL_CALL_CONNECT);

    return result == DAT_SUCCESS ? udapl_ep_configured(ep) : result;
}

/* ---------------------------------------------------------------- the passive side */

/* Returns the EP of the service point; NULL: it was freed. */
static struct udapl_ep *ep_of(const struct udapl_sp *ssp)
{
    struct udapl_ep *ep = udapl_find(ssp->object.ia, ssp->ep, DAT_HANDLE_TYPE_EP);

    return ep && ep->object.entry.generation == ssp->ep_generation ? ep : NULL;
}

static bool waits(const struct udapl_ep *ep)
{
    it_ep_param_t param = {.service_type = IT_RC_SERVICE};

    return ep && ep->it && it_ep_query(ep->it, IT_EP_PARAM_STATE, &param) == IT_SUCCESS &&
           param.ep_state.rc == IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ;
}

/* Creates a service point, with a reference to its EVD, if any. It is no valid handle yet. */
static DAT_RETURN make(struct udapl_ia *ia, struct udapl_ep *ep, DAT_EVD_HANDLE evd_handle,
                       int socket, struct udapl_sp **out)
{
    struct udapl_evd *evd = NULL;
    struct udapl_sp *ssp;

    if (evd_handle != DAT_HANDLE_NULL) {
        evd = udapl_find(ia, evd_handle, DAT_HANDLE_TYPE_EVD);
        if (!evd || !((unsigned)evd->flags & (unsigned)DAT_EVD_CR_FLAG) || !udapl_object_hold(evd))
            return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
    }
    ssp = udapl_object_new(ia, UDAPL_TYPE_SSP);
    if (!ssp) {
        udapl_object_release(evd);
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    }
    ssp->evd = evd;
    ssp->socket = socket;
    ssp->ep = ep;
    ssp->ep_generation = ep->object.entry.generation;
    *out = ssp;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_ssp_create(DAT_HANDLE ia_handle, DAT_IW_SOCKET socket, DAT_EP_HANDLE ep_handle,
                            DAT_EVD_HANDLE evd_handle, const void *message, DAT_COUNT length,
                            DAT_IW_SSP_HANDLE *ssp_handle)
{
    struct itx_convert_params params = {
        .size = sizeof(params), .msg = message, .msg_len = (size_t)length};
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_sp *ssp = NULL;
    struct udapl_ep *ep;
    DAT_RETURN result;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    ep = udapl_find(ia, ep_handle, DAT_HANDLE_TYPE_EP);
    if (!ep)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (length < 0 || (length > 0 && !message) || !ssp_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    result = check_ep(ep);
    if (result == DAT_SUCCESS)
        result = make(ia, ep, evd_handle, socket, &ssp);
    if (result != DAT_SUCCESS)
        return result;
    result = convert(ep, socket, ITX_SC_RESPONDER, &params);
    if (result != DAT_SUCCESS) {
        udapl_object_release(ssp->evd);
        udapl_object_discard(ssp);
        return result;
    }
    udapl_object_start(ssp);
    *ssp_handle = ssp;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_ssp_query(DAT_IW_SSP_HANDLE ssp_handle, DAT_IW_SSP_PARAM_MASK mask,
                           DAT_IW_SSP_PARAM *param)
{
    struct udapl_sp *ssp = ssp_from(ssp_handle);
    struct udapl_ep *ep;

    if (!ssp)
        return bad_ssp();
    if (((unsigned)mask & ~(unsigned)DAT_IW_SSP_FIELD_ALL) || !param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    ep = ep_of(ssp);
    param->ia_handle = udapl_ia_handle(ssp->object.ia);
    param->socket_id = ssp->socket;
    param->evd_handle = ssp->evd;
    param->ep_handle = ep;
    param->ssp_state = waits(ep) ? DAT_IW_SSP_STATE_OPERATIONAL : DAT_IW_SSP_STATE_NON_OPERATIONAL;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_ssp_free(DAT_IW_SSP_HANDLE ssp_handle)
{
    struct udapl_sp *ssp = ssp_from(ssp_handle);
    struct udapl_ep *ep;

    if (!ssp || !udapl_object_retire(ssp))
        return bad_ssp();
    ep = ep_of(ssp);
    if (waits(ep))
        (void)it_ep_disconnect(ep->it, NULL, 0); /* fails if the Request has just arrived */
    udapl_object_release(ssp->evd);
    udapl_object_end(ssp);
    return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- the active side */

DAT_RETURN udapl_socket_connect(DAT_EP_HANDLE ep_handle, DAT_IW_SOCKET socket, DAT_TIMEOUT timeout,
                                DAT_COUNT private_data_size, const void *private_data)
{
    struct itx_convert_params params = {
        .size = sizeof(params),
        .private_data = private_data,
        .private_data_length = (size_t)private_data_size,
        .timeout_us = udapl_timeout_of(timeout),
    };
    struct udapl_ep *ep = ep_handle;
    DAT_RETURN result;

    if (!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (timeout == 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    result =
        udapl_private_data_check(private_data_size, private_data,
                                 ep->object.ia->info->connect_private_data_len, DAT_INVALID_ARG3);
    if (result == DAT_SUCCESS)
        result = check_ep(ep);
    return result == DAT_SUCCESS ? convert(ep, socket, ITX_SC_INITIATOR, &params) : result;
}
