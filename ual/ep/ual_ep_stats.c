/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ep_stats. */
#include "ual/object/ual_extension.h"
#include "ual/object/ual_provider.h"

#define UAL_EP_COUNTERS_MIN UAL_SIZE_UP_TO(struct itx_ep_counters, nudges) /* first version */

it_status_t itx_ep_stats(it_ep_handle_t ep_handle, struct itx_ep_counters *counters)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_ep_counters own = {.size = sizeof(own)};
    const struct vp_provider *provider;

    if (!ep)
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    if (!counters)
        return base_refuse_null(__func__, counters);
    if (counters->size < UAL_EP_COUNTERS_MIN)
        return base_refuse_below(IT_ERR_INVALID_LENGTH, __func__, counters->size,
                                 UAL_EP_COUNTERS_MIN);
    provider = ual_ia_of(&ep->object)->provider;
    if (!VP_PROVIDER_HAS(provider, ep_counters))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s counts nothing", provider->name);
    provider->ep_counters(ep, &own);
    ual_extension_write(counters, counters->size, &own, sizeof(own));
    return IT_SUCCESS;
}
