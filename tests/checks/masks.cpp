/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uses of bit masks and null handles in C programs also compile as C++. This file is only compiled.
 */
#define ITAPI_ENABLE_V21_BINDINGS
#include <itx_api.h>

it_status_t masks(it_ia_handle_t ia, it_pz_handle_t pz, it_ep_handle_t ep, it_srq_handle_t srq,
                  it_evd_handle_t evd, const it_lmr_triplet_t *segment);

it_status_t masks(it_ia_handle_t ia, it_pz_handle_t pz, it_ep_handle_t ep, it_srq_handle_t srq,
                  it_evd_handle_t evd, const it_lmr_triplet_t *segment)
{
    it_dto_flags_t flags = IT_COMPLETION_FLAG;
    it_handle_t none = IT_NULL_HANDLE;
    it_evd_param_t param;
    it_lmr_handle_t lmr;
    it_status_t (*const function)(it_ep_handle_t, const it_lmr_triplet_t *, size_t, it_dto_cookie_t,
                                  it_dto_flags_t) = it_post_send;

    flags |= IT_NOTIFY_FLAG;
    flags = flags & (IT_NOTIFY_FLAG | IT_SOLICITED_WAIT_FLAG);
    (void)none;
    (void)function(ep, segment, 1, 0, flags);
    (void)it_post_send(ep, segment, 1, 0, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG);
    (void)it_post_send(ep, segment, 1, 0, 0);
    (void)it_post_recv(ep, segment, 1, 0, 0);
    (void)it_post_recv(srq, segment, 1, 0, IT_COMPLETION_FLAG);
    (void)it_post_recv(srq, segment, 1, 0, 0);
    (void)itx_post_send_imm(ep, segment, 1, 0, 0, 1);
    (void)it_lmr_create(pz, 0, 0, 1, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, 0, 0, &lmr, 0);
    (void)it_evd_create(ia, IT_DTO_EVENT_STREAM, 0, 1, 1, IT_NULL_HANDLE, &evd, 0);
    (void)it_evd_query(evd, 0, &param);
    (void)it_socket_convert(0, ep, 0, 0, 0);
    return it_ep_free(IT_NULL_HANDLE);
}
