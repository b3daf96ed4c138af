/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_deliver.h"

DAT_EP_STATE udapl_ep_state(const struct udapl_ep *ep)
{
    it_ep_param_t param = {.service_type = IT_RC_SERVICE};
    struct udapl_ep_condition condition = {
        .configured = ep->it != NULL,
        .hold = atomic_load(&ep->connection.hold),
        .draining = atomic_load(&ep->connection.draining),
    };

    if (ep->it) {
        if (it_ep_query(ep->it, IT_EP_PARAM_STATE, &param) != IT_SUCCESS)
            return DAT_EP_STATE_DISCONNECTED; /* the IA is being closed */
        condition.it = param.ep_state.rc;
    }
    return udapl_ep_state_of(&condition);
}
