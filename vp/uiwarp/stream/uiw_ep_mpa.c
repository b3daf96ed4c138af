/* SPDX-License-Identifier: BSD-2-Clause */
/* The startup settings of an EP, the agreed values, and the addresses of both ends. */
#include "vp/uiwarp/stream/uiw_stream.h"

#include <string.h>

_Static_assert(IW_OWN_ACKS == ITX_OWN_PEER_ACKS && IW_OWN_HOLD == ITX_OWN_PEER_HOLD &&
                   IW_OWN_IMM == ITX_OWN_PEER_IMM,
               "same bits");

it_status_t uiw_ep_set_mpa(struct ual_ep *ual, const struct itx_mpa_params *params)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = IT_ERR_INVALID_EP_STATE;

    base_lock_take(&ual->lock);
    if (ual_ep_state(ual) == IT_EP_STATE_UNCONNECTED) {
        ep->mpa = *params;
        status = IT_SUCCESS;
    }
    base_lock_drop(&ual->lock);
    return status;
}

it_status_t uiw_ep_get_mpa(struct ual_ep *ual, struct itx_mpa_params *params)
{
    base_lock_take(&ual->lock);
    *params = uiw_ep_of(ual)->mpa;
    base_lock_drop(&ual->lock);
    return IT_SUCCESS;
}

it_status_t uiw_ep_query_mpa(struct ual_ep *ual, struct itx_mpa_info *info)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = IT_ERR_INVALID_EP_STATE;
    it_ep_state_rc_t state;

    base_lock_take(&ual->lock);
    state = ual_ep_state(ual);
    if (ep->negotiated && (state == IT_EP_STATE_CONNECTED || state == IT_EP_STATE_NONOPERATIONAL)) {
        *info = ep->info;
        status = IT_SUCCESS;
    }
    base_lock_drop(&ual->lock);
    return status;
}

void uiw_tell_address(const void *end, struct sockaddr_storage *address)
{
    it_net_addr_t ip;

    memcpy(address, end, sizeof(struct sockaddr_in6));
    if (base_net_from_sockaddr(address, &ip) && ip.addr_type == IT_IPV4)
        (void)base_net_to_sockaddr(&ip, base_net_port(address), 0, address);
}

bool uiw_ep_addresses_locked(struct ual_ep *ual, struct itx_ep_addresses *addresses)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);

    base_lock_assert_held(&ual->lock);
    if (!ep->negotiated)
        return false;
    uiw_tell_address(&ep->local, &addresses->local);
    uiw_tell_address(&ep->remote, &addresses->remote);
    return true;
}

it_status_t uiw_ep_stream_option_halted(struct ual_ep *ual, bool set, int level, int option,
                                        void *value, socklen_t *length)
{
    int fd = uiw_ep_of(ual)->fd;

    if (fd < 0)
        return IT_ERR_INVALID_EP_STATE;
    if ((set ? setsockopt(fd, level, option, value, *length)
             : getsockopt(fd, level, option, value, length)) != 0)
        return IT_ERR_RANGE;
    return IT_SUCCESS;
}

/* Returns at least 1 for the Read by which two ends of this library find each other. */
static uint16_t mpa_depth(const struct uiw_ep *ep, uint32_t wanted)
{
    return (uint16_t)(wanted == 0 && ep->mpa.own_peer ? 1 : wanted);
}

uint64_t uiw_ep_patience_ns(struct ual_ep *ual)
{
    uint64_t patience_us;

    base_lock_take(&ual->lock);
    patience_us = uiw_ep_of(ual)->mpa.patience_us;
    base_lock_drop(&ual->lock);
    return base_ns_of_us(patience_us);
}

void uiw_ep_mpa_config(struct ual_ep *ual, bool suppress_depths, struct iw_mpa_config *config)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);

    base_lock_take(&ual->lock);
    *config = (struct iw_mpa_config){
        .revision = ep->mpa.revision,
        .crc = ep->mpa.crc != IT_FALSE,
        .peer_to_peer = ep->mpa.peer_to_peer != IT_FALSE,
        .rtr = ep->mpa.rtr_types,
        .suppress_depths = suppress_depths,
        .ird = mpa_depth(ep, ep->wanted_ird),
        .ord = mpa_depth(ep, ep->wanted_ord),
    };
    base_lock_drop(&ual->lock);
}
