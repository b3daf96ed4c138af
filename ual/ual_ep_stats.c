/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ep_stats. */
#include "ual/ual_extension.h"
#include "ual/ual_provider.h"

#define UAL_EP_COUNTERS_MIN UAL_SIZE_UP_TO(struct itx_ep_counters, nudges) /* first version */

it_status_t itx_ep_stats(it_ep_handle_t ep_handle, struct itx_ep_counters *counters)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_ep_counters own = {.size = sizeof(own)};
    const struct vp_provider *provider;

    if (!ep)
        return IT_ERR_INVALID_EP;
    if (!counters)
        return IT_ERR_FAULT;
    if (counters->size < UAL_EP_COUNTERS_MIN)
        return IT_ERR_INVALID_LENGTH;
    provider = ual_ia_of(&ep->object)->provider;
    if (!VP_PROVIDER_HAS(provider, ep_counters))
        return IT_ERR_OP_NOT_SUPPORTED;
    provider->ep_counters(ep, &own);
    ual_extension_write(counters, counters->size, &own, sizeof(own));
    return IT_SUCCESS;
}
