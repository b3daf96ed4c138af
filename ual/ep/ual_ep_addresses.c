/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ep_query_addresses. */
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_extension.h"
#include "ual/object/ual_provider.h"

#define UAL_EP_ADDRESSES_MIN UAL_SIZE_UP_TO(struct itx_ep_addresses, remote) /* the first version */

static bool ual_ep_read_addresses(struct ual_ep *ep, struct itx_ep_addresses *addresses)
{
    const struct vp_provider *provider = ual_ia_of(&ep->object)->provider;
    it_ep_state_rc_t state;
    bool known = false;

    base_lock_take(&ep->lock);
    state = ual_ep_state(ep);
    if (state == IT_EP_STATE_CONNECTED || state == IT_EP_STATE_NONOPERATIONAL)
        known = provider->ep_addresses_locked(ep, addresses);
    base_lock_drop(&ep->lock);
    return known;
}

it_status_t itx_ep_query_addresses(it_ep_handle_t ep_handle, struct itx_ep_addresses *addresses)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_ep_addresses own = {.size = sizeof(own)};

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!addresses)
        return base_refuse_null(__func__, addresses);
    if (addresses->size < UAL_EP_ADDRESSES_MIN)
        return base_refuse_below(IT_ERR_INVALID_LENGTH, __func__, addresses->size,
                                 UAL_EP_ADDRESSES_MIN);
    if (!VP_PROVIDER_HAS(ual_ia_of(&ep->object)->provider, ep_addresses_locked))
        return IT_ERR_OP_NOT_SUPPORTED;
    if (!ual_ep_read_addresses(ep, &own))
        return ual_ep_refuse_state(__func__, ep);
    ual_extension_write(addresses, addresses->size, &own, sizeof(own));
    return IT_SUCCESS;
}
