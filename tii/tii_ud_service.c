/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagram service resolution. iWARP has no datagrams. */
#include "it_api.h"

it_status_t it_ud_service_request_handle_create(const it_conn_qual_t *conn_qual,
                                                it_evd_handle_t reply_evd,
                                                const it_path_t *destination_path,
                                                const unsigned char *private_data,
                                                size_t private_data_length,
                                                it_ud_svc_req_handle_t *ud_svc_handle)
{
    (void)conn_qual;
    (void)reply_evd;
    (void)destination_path;
    (void)private_data;
    (void)private_data_length;
    (void)ud_svc_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_ud_service_request_handle_query(it_ud_svc_req_handle_t ud_svc_handle,
                                               it_ud_svc_req_param_mask_t mask,
                                               it_ud_svc_req_param_t *ud_svc_handle_info)
{
    (void)ud_svc_handle;
    (void)mask;
    (void)ud_svc_handle_info;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_ud_service_request_handle_free(it_ud_svc_req_handle_t ud_svc_handle)
{
    (void)ud_svc_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_ud_service_request(it_ud_svc_req_handle_t ud_svc_handle)
{
    (void)ud_svc_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_ud_service_reply(it_ud_svc_req_identifier_t ud_svc_req_id,
                                it_ud_svc_req_status_t status, it_remote_ep_info_t ep_info,
                                const unsigned char *private_data, size_t private_data_length)
{
    (void)ud_svc_req_id;
    (void)status;
    (void)ep_info;
    (void)private_data;
    (void)private_data_length;
    return IT_ERR_OP_NOT_SUPPORTED;
}
