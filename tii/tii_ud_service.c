/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolution of datagram services. No provider has datagrams: what can be judged without them is
 * checked, and no handle or identifier names a request.
 */
#include "tii/tii_check.h"

static it_status_t tii_ud_check_evd(const struct evd *evd)
{
    if (!evd)
        return IT_ERR_INVALID_EVD;
    if (evd_stream(evd) == IT_AEVD_NOTIFICATION_EVENT_STREAM)
        return IT_ERR_AEVD_NOT_ALLOWED;
    return evd_stream(evd) == IT_CM_MSG_EVENT_STREAM ? IT_SUCCESS : IT_ERR_INVALID_EVD_TYPE;
}

it_status_t it_ud_service_request_handle_create(const it_conn_qual_t *conn_qual,
                                                it_evd_handle_t reply_evd,
                                                const it_path_t *destination_path,
                                                const unsigned char *private_data,
                                                size_t private_data_length,
                                                it_ud_svc_req_handle_t *ud_svc_handle)
{
    struct evd *evd = evd_from_handle(reply_evd);
    const struct ual_ia *ia;
    it_status_t status;

    status = tii_ud_check_evd(evd);
    if (status != IT_SUCCESS)
        return status;
    if (!conn_qual || !destination_path || !ud_svc_handle)
        return IT_ERR_FAULT;
    status = tii_check_pdata_pointer(private_data, private_data_length);
    if (status != IT_SUCCESS)
        return status;
    ia = (const struct ual_ia *)(const void *)evd_ia_of(evd);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    status = tii_check_path(ia, destination_path);
    /* A bad Spigot is a bad start of the path: this call has no code of its own for it. */
    if (status == IT_ERR_INVALID_SPIGOT)
        return IT_ERR_INVALID_SOURCE_PATH;
    return status == IT_SUCCESS ? IT_ERR_OP_NOT_SUPPORTED : status;
}

it_status_t it_ud_service_request_handle_query(it_ud_svc_req_handle_t ud_svc_handle,
                                               it_ud_svc_req_param_mask_t mask,
                                               it_ud_svc_req_param_t *ud_svc_handle_info)
{
    (void)ud_svc_handle;
    (void)mask;
    (void)ud_svc_handle_info;
    return IT_ERR_INVALID_UD_SVC;
}

it_status_t it_ud_service_request_handle_free(it_ud_svc_req_handle_t ud_svc_handle)
{
    (void)ud_svc_handle;
    return IT_ERR_INVALID_UD_SVC;
}

it_status_t it_ud_service_request(it_ud_svc_req_handle_t ud_svc_handle)
{
    (void)ud_svc_handle;
    return IT_ERR_INVALID_UD_SVC;
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
    return IT_ERR_INVALID_UD_SVC_REQ_ID;
}
