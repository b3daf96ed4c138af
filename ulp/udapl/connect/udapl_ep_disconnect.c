/* SPDX-License-Identifier: BSD-2-Clause */
/* dat_ep_disconnect and dat_ep_reset. */
#include "connect/udapl_connect.h"

#include "connect/udapl_ep_drain.h"
#include "connect/udapl_ep_hold.h"
#include "deliver/udapl_deliver.h"

static struct udapl_ep *ep_from(DAT_EP_HANDLE handle)
{
    return udapl_is(handle, DAT_HANDLE_TYPE_EP) ? handle : NULL;
}

/* Disconnects. Succeeds also if the connection has just ended; there is one event. */
static DAT_RETURN end_connection(struct udapl_ep *ep)
{
    it_status_t status = it_ep_disconnect(ep->it, NULL, 0);

    return status == IT_ERR_INVALID_EP_STATE ? DAT_SUCCESS : udapl_return(status);
}

DAT_RETURN udapl_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS flags)
{
    struct udapl_ep *ep = ep_from(ep_handle);
    enum udapl_ep_call call =
        flags == DAT_CLOSE_GRACEFUL_FLAG ? UDAPL_CALL_DISCONNECT_GRACEFULLY : UDAPL_CALL_DISCONNECT;
    DAT_EP_STATE state;

    if (!ep)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    state = udapl_ep_state(ep);
    switch (udapl_ep_judge(state, call)) {
    case UDAPL_REFUSED:
        return udapl_state_error(state);
    case UDAPL_NO_OP:
        return DAT_SUCCESS;
    case UDAPL_LEGAL:
        break;
    }
    if (flags == DAT_CLOSE_GRACEFUL_FLAG && state == DAT_EP_STATE_CONNECTED)
        udapl_ep_drain(ep);
    return end_connection(ep);
}

DAT_RETURN udapl_ep_reset(DAT_EP_HANDLE ep_handle)
{
    struct udapl_ep *ep = ep_from(ep_handle);
    DAT_EP_STATE state;
    it_status_t status;

    if (!ep)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    state = udapl_ep_state(ep);
    switch (udapl_ep_judge(state, UDAPL_CALL_RESET)) {
    case UDAPL_REFUSED:
        return udapl_state_error(state);
    case UDAPL_NO_OP:
        return DAT_SUCCESS;
    case UDAPL_LEGAL:
        break;
    }
    status = it_ep_reset(ep->it);
    return status == IT_ERR_INVALID_EP_STATE ? udapl_state_error(udapl_ep_state(ep))
                                             : udapl_return(status);
}
