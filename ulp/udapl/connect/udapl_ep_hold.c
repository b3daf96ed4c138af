/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_ep_hold.h"

#include "deliver/udapl_deliver.h"
#include "endpoint/udapl_endpoint.h"

DAT_RETURN udapl_private_data_check(DAT_COUNT size, const void *data, size_t most,
                                    DAT_RETURN_SUBTYPE size_argument)
{
    if (size < 0 || (size_t)size > most)
        return udapl_error(DAT_INVALID_PARAMETER, size_argument);
    if (size > 0 && !data)
        return udapl_error(DAT_INVALID_PARAMETER, size_argument + 1);
    return DAT_SUCCESS;
}

DAT_RETURN udapl_ep_check(const struct udapl_ep *ep, enum udapl_ep_call call)
{
    DAT_EP_STATE state = udapl_ep_state(ep);

    return udapl_ep_judge(state, call) == UDAPL_REFUSED ? udapl_state_error(state) : DAT_SUCCESS;
}

DAT_RETURN udapl_hold_take(struct udapl_ep *ep, enum udapl_ep_call call, enum udapl_ep_hold hold)
{
    enum udapl_ep_hold nobody = UDAPL_EP_FREE;
    DAT_RETURN result = udapl_ep_check(ep, call);

    if (result != DAT_SUCCESS)
        return result;
    if (!udapl_object_hold(ep))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (atomic_compare_exchange_strong(&ep->connection.hold, &nobody, hold))
        return DAT_SUCCESS;
    udapl_object_release(ep);
    return udapl_state_error(udapl_ep_state(ep));
}

void udapl_hold_return(struct udapl_ep *ep, bool made)
{
    atomic_store(&ep->connection.hold, UDAPL_EP_FREE);
    udapl_object_release(ep);
    if (made)
        (void)udapl_ep_free(ep); /* cannot fail: it is idle, and unknown to the consumer */
}
