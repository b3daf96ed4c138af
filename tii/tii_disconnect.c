/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_disconnect. */
#include "tii/tii_check.h"
#include "ual/object/ual_ep_state.h"

it_status_t it_ep_disconnect(it_ep_handle_t ep_handle, const unsigned char *private_data,
                             size_t private_data_length)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    const struct vp_attributes *attributes;
    struct ual_ia *ia;
    it_ep_state_rc_t state;
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    status = tii_check_pdata_pointer(__func__, private_data, private_data_length);
    if (status != IT_SUCCESS)
        return status;
    ia = ual_ia_of(&ep->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    attributes = ia->provider->ia_attributes(ia);
    status = tii_check_pdata_length(__func__, attributes, private_data_length,
                                    attributes->disconnect_pdata);
    if (status != IT_SUCCESS)
        return status;
    state = ual_ep_state(ep);
    if (state == IT_EP_STATE_UNCONNECTED || state == IT_EP_STATE_NONOPERATIONAL)
        return ual_ep_refuse_state(__func__, ep);
    /* Looks at the state again, with the EP locked. */
    return base_refuse(ia->provider->disconnect(ep), __func__, "ep_handle %p in %s", (void *)ep,
                       ual_ep_state_name(ep));
}
