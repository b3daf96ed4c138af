/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ep_set_stream_option and itx_ep_get_stream_option. */
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_provider.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

/* Options that do not affect how a provider reads and writes the stream. */
static bool option_is_settable(int level, int option)
{
    static const struct {
        int level;
        int option;
    } settable[] = {
        {SOL_SOCKET, SO_KEEPALIVE},
        {SOL_SOCKET, SO_PRIORITY},
        {SOL_SOCKET, SO_MARK},
        {SOL_SOCKET, SO_REUSEADDR},
        {SOL_SOCKET, SO_REUSEPORT},
        {SOL_SOCKET, SO_BROADCAST},
        {SOL_SOCKET, SO_DONTROUTE},
        {IPPROTO_TCP, TCP_KEEPIDLE},
        {IPPROTO_TCP, TCP_KEEPINTVL},
        {IPPROTO_TCP, TCP_KEEPCNT},
        {IPPROTO_TCP, TCP_USER_TIMEOUT},
        {IPPROTO_TCP, TCP_CONGESTION},
        {IPPROTO_TCP, TCP_SYNCNT},
        {IPPROTO_TCP, TCP_LINGER2},
        {IPPROTO_TCP, TCP_DEFER_ACCEPT},
        {IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS},
        {IPPROTO_IP, IP_TOS},
        {IPPROTO_IP, IP_TTL},
        {IPPROTO_IPV6, IPV6_TCLASS},
        {IPPROTO_IPV6, IPV6_UNICAST_HOPS},
    };

    for (size_t i = 0; i < sizeof(settable) / sizeof(settable[0]); i++) {
        if (settable[i].level == level && settable[i].option == option)
            return true;
    }
    return false;
}

static it_status_t option_apply(const char *call, struct ual_ep *ep, bool set, int level,
                                int option, void *value, socklen_t *length)
{
    const struct vp_provider *provider = ual_ia_of(&ep->object)->provider;
    it_status_t status;

    if (provider->ep_claim && provider->ep_claim(ep) != IT_SUCCESS)
        return ual_ep_refuse_state(call, ep);
    provider->ep_halt(ep);
    status = ual_ep_state(ep) == IT_EP_STATE_CONNECTED
                 ? provider->ep_stream_option_halted(ep, set, level, option, value, length)
                 : IT_ERR_INVALID_EP_STATE;
    provider->ep_proceed(ep, 0);
    return base_refuse(status, call, "option %d of level %d, ep_handle %p in %s", option, level,
                       (void *)ep, ual_ep_state_name(ep));
}

static it_status_t option_check(const char *call, it_ep_handle_t ep_handle, bool there,
                                bool allowed)
{
    const struct ual_ep *ep = ual_ep_from(ep_handle);

    if (!ep || ep->datagrams)
        return ual_ep_refuse(call, ep_handle);
    if (!there)
        return base_refuse(IT_ERR_FAULT, call, "value or length is NULL");
    if (!VP_PROVIDER_HAS(ual_ia_of(&ep->object)->provider, ep_stream_option_halted) || !allowed)
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, call, "of a device, or no allowed option");
    return IT_SUCCESS;
}

it_status_t itx_ep_set_stream_option(it_ep_handle_t ep_handle, int level, int option,
                                     const void *value, socklen_t length)
{
    it_status_t status =
        option_check(__func__, ep_handle, value != NULL, option_is_settable(level, option));

    return status != IT_SUCCESS ? status
                                : option_apply(__func__, ual_ep_from(ep_handle), true, level,
                                               option, (void *)value, &length);
}

it_status_t itx_ep_get_stream_option(it_ep_handle_t ep_handle, int level, int option, void *value,
                                     socklen_t *length)
{
    it_status_t status = option_check(__func__, ep_handle, value && length,
                                      level != SOL_SOCKET || option != SO_ERROR);

    return status != IT_SUCCESS ? status
                                : option_apply(__func__, ual_ep_from(ep_handle), false, level,
                                               option, value, length);
}
