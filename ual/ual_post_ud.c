/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends and receives of datagrams. No provider has them: every endpoint is a connected one. */
#include "ual/ual.h"

static it_status_t ual_post_ud(it_ep_handle_t ep_handle)
{
    const struct ual_ep *ep = ual_ep_from(ep_handle);

    if (!ep)
        return IT_ERR_INVALID_EP;
    return ual_ia_failed(ual_ia_of(&ep->object)) ? IT_ERR_IA_CATASTROPHE : IT_ERR_INVALID_EP_TYPE;
}

it_status_t it_post_sendto(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                           size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                           const it_dg_remote_ep_addr_t *remote_ep_addr)
{
    (void)local_segments;
    (void)num_segments;
    (void)cookie;
    (void)dto_flags;
    (void)remote_ep_addr;
    return ual_post_ud(ep_handle);
}

it_status_t it_post_recvfrom(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                             size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    (void)local_segments;
    (void)num_segments;
    (void)cookie;
    (void)dto_flags;
    return ual_post_ud(ep_handle);
}
