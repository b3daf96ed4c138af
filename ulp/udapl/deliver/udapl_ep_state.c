/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_deliver.h"

DAT_EP_STATE udapl_ep_state(const struct udapl_ep *ep)
{
    it_ep_param_t param = {.service_type = IT_RC_SERVICE};

    if (!ep->it)
        return DAT_EP_STATE_UNCONFIGURED_UNCONNECTED;
    if (it_ep_query(ep->it, IT_EP_PARAM_STATE, &param) != IT_SUCCESS)
        return DAT_EP_STATE_DISCONNECTED;
    switch (param.ep_state.rc) {
    case IT_EP_STATE_UNCONNECTED:
        return ep->connection.sp ? DAT_EP_STATE_RESERVED : DAT_EP_STATE_UNCONNECTED;
    case IT_EP_STATE_ACTIVE1_CONNECTION_PENDING:
    case IT_EP_STATE_ACTIVE2_CONNECTION_PENDING:
        return DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
    case IT_EP_STATE_PASSIVE_CONNECTION_PENDING:
    case IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ:
        return DAT_EP_STATE_COMPLETION_PENDING;
    case IT_EP_STATE_CONNECTED:
        return DAT_EP_STATE_CONNECTED;
    case IT_EP_STATE_NONOPERATIONAL:
        break;
    }
    return ep->connection.disconnected ? DAT_EP_STATE_DISCONNECTED
                                       : DAT_EP_STATE_DISCONNECT_PENDING;
}
