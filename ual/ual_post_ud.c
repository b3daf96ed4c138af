/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagram endpoints and their sends and receives. iWARP has no datagrams. */
#include "it_api.h"

it_status_t it_ep_ud_create(it_pz_handle_t pz_handle, it_evd_handle_t request_sevd_handle,
                            it_evd_handle_t recv_sevd_handle, const it_ep_attributes_t *ep_attr,
                            size_t spigot_id, it_ep_handle_t *ep_handle)
{
    (void)pz_handle;
    (void)request_sevd_handle;
    (void)recv_sevd_handle;
    (void)ep_attr;
    (void)spigot_id;
    (void)ep_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_post_sendto(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                           size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                           const it_dg_remote_ep_addr_t *remote_ep_addr)
{
    (void)ep_handle;
    (void)local_segments;
    (void)num_segments;
    (void)cookie;
    (void)dto_flags;
    (void)remote_ep_addr;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_post_recvfrom(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                             size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags)
{
    (void)ep_handle;
    (void)local_segments;
    (void)num_segments;
    (void)cookie;
    (void)dto_flags;
    return IT_ERR_OP_NOT_SUPPORTED;
}
