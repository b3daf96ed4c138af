/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ep_flush, itx_ep_clear, itx_ep_tell_last_recv. */
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_provider.h"

static it_status_t ual_ep_answer_flush(const char *call, const struct ual_ep *ep,
                                       it_status_t status)
{
    return base_refuse(status, call, "ep_handle %p in %s, of %s", (const void *)ep,
                       ual_ep_state_name(ep), ual_ia_of(&ep->object)->provider->name);
}

it_status_t itx_ep_flush(it_ep_handle_t ep_handle)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    const struct vp_provider *provider;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    provider = ual_ia_of(&ep->object)->provider;
    if (!VP_PROVIDER_HAS(provider, ep_flush))
        return ual_ep_answer_flush(__func__, ep, IT_ERR_OP_NOT_SUPPORTED);
    if (ual_ia_failed(ual_ia_of(&ep->object)))
        return IT_ERR_IA_CATASTROPHE;
    return ual_ep_answer_flush(__func__, ep, provider->ep_flush(ep));
}

it_status_t itx_ep_clear(it_ep_handle_t ep_handle)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    const struct vp_provider *provider;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    provider = ual_ia_of(&ep->object)->provider;
    if (!VP_PROVIDER_HAS(provider, ep_clear))
        return ual_ep_answer_flush(__func__, ep, IT_ERR_OP_NOT_SUPPORTED);
    if (ual_ia_failed(ual_ia_of(&ep->object)))
        return IT_ERR_IA_CATASTROPHE;
    return ual_ep_answer_flush(__func__, ep, provider->ep_clear(ep));
}

it_status_t itx_ep_tell_last_recv(it_ep_handle_t ep_handle, it_boolean_t tell)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!VP_PROVIDER_HAS(ual_ia_of(&ep->object)->provider, ep_flush))
        return ual_ep_answer_flush(__func__, ep, IT_ERR_OP_NOT_SUPPORTED);
    atomic_store_explicit(&ep->tells_last_recv, tell != IT_FALSE, memory_order_relaxed);
    return IT_SUCCESS;
}
