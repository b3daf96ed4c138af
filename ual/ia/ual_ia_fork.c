/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_freeze, itx_ia_thaw, itx_ep_claim. */
#include "evd/calls/evd_calls.h"
#include "ual/object/ual_provider.h"

#include <unistd.h>

static it_status_t ual_ia_cannot_freeze(const struct ual_ia *ia)
{
    return base_refuse(IT_ERR_OP_NOT_SUPPORTED, "itx_ia_freeze",
                       "%s: of a device, on a base of the program, or from a callback", ia->name);
}

it_status_t itx_ia_freeze(it_ia_handle_t ia_handle)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);
    it_status_t status;

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (atomic_load(&ia->frozen) != 0)
        return base_refuse_handle(IT_ERR_EVD_BUSY, __func__, ia_handle);
    if (!VP_PROVIDER_HAS(ia->provider, ia_freeze) || !evd_loop_rest(ia->evd.loop))
        return ual_ia_cannot_freeze(ia);
    status = ia->provider->ia_freeze(ia);
    if (status != IT_SUCCESS) {
        evd_loop_go_on(ia->evd.loop);
        return base_refuse(status, __func__, "ia_handle %p", (void *)ia);
    }
    atomic_store(&ia->frozen, (int)getpid());
    return IT_SUCCESS;
}

it_status_t itx_ia_thaw(it_ia_handle_t ia_handle)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);
    bool copy;
    int fd;

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (atomic_load(&ia->frozen) == 0)
        return IT_SUCCESS;
    copy = atomic_load(&ia->frozen) != (int)getpid();
    fd = ia->provider->ia_thaw(ia, copy);
    if (copy &&
        (fd < 0 || !evd_ia_renew_fds(&ia->evd) || !evd_loop_go_on_in_copy(ia->evd.loop, fd)))
        return base_refuse(IT_ERR_RESOURCES, __func__, "ia_handle %p in a copy of its process",
                           (void *)ia);
    if (!copy)
        evd_loop_go_on(ia->evd.loop);
    atomic_store(&ia->frozen, 0);
    return IT_SUCCESS;
}

it_status_t itx_ep_claim(it_ep_handle_t ep_handle)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    const struct vp_provider *provider;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    provider = ual_ia_of(&ep->object)->provider;
    if (!VP_PROVIDER_HAS(provider, ep_claim))
        return IT_SUCCESS; /* an IA of such a provider cannot be frozen */
    return base_refuse(provider->ep_claim(ep), __func__,
                       "ep_handle %p: the other process has its connection", (void *)ep);
}
