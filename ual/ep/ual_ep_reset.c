/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_reset. */
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_provider.h"

/* Looks at the state again, with the EP locked. */
static it_status_t ual_ep_reset(struct ual_ep *ep)
{
    return base_refuse(ual_ia_of(&ep->object)->provider->ep_reset(ep), "it_ep_reset",
                       "ep_handle %p in %s", (void *)ep, ual_ep_state_name(ep));
}

it_status_t it_ep_reset(it_ep_handle_t ep_handle)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct ual_ia *ia;
    it_ep_state_rc_t state;

    if (!ep)
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    ia = ual_ia_of(&ep->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (ep->datagrams)
        return ual_ep_ud_state(ep) == IT_EP_STATE_UD_OPERATIONAL ? IT_SUCCESS : ual_ep_reset(ep);
    state = ual_ep_state(ep);
    if (state == IT_EP_STATE_UNCONNECTED)
        return IT_SUCCESS;
    if (state != IT_EP_STATE_NONOPERATIONAL)
        return ual_ep_refuse_state(__func__, ep);
    return ual_ep_reset(ep);
}
