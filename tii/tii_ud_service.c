/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolution of datagram services: it_ud_service_request_handle_create, _query, _free,
 * it_ud_service_request, it_ud_service_reply.
 */
#include "tii/tii_check.h"
#include "ual/object/ual_object.h"

#include <string.h>

#define TII_UD_PARAMS (((unsigned)IT_UD_PARAM_PRIV_DATA_LENGTH << 1) - 1) /* all its bits */

#define TII_CREATE "it_ud_service_request_handle_create"

/* The arguments of a request. */
struct tii_ud_parts {
    struct evd *reply_evd;
    const it_conn_qual_t *conn_qual;
    it_path_t path;
    const unsigned char *private_data;
    size_t private_length;
};

/* ---------------------------------------------------------------- create */

static it_status_t tii_ud_check_evd(it_evd_handle_t reply_evd)
{
    const struct evd *evd = evd_from_handle(reply_evd);

    if (!evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, TII_CREATE, reply_evd);
    if (evd_stream(evd) == IT_AEVD_NOTIFICATION_EVENT_STREAM)
        return base_refuse_handle(IT_ERR_AEVD_NOT_ALLOWED, TII_CREATE, reply_evd);
    if (!evd_carries(evd, IT_CM_MSG_EVENT_STREAM))
        return base_refuse(IT_ERR_INVALID_EVD_TYPE, TII_CREATE, "reply_evd %p of %s",
                           (void *)reply_evd, itx_event_string(evd_stream(evd)));
    return IT_SUCCESS;
}

static it_status_t tii_ud_check_pdata(const char *call, size_t private_data_length, size_t limit)
{
    if (private_data_length > 0 && limit == 0)
        return base_refuse_above(IT_ERR_PDATA_NOT_SUPPORTED, call, private_data_length, limit);
    if (private_data_length > limit)
        return base_refuse_above(IT_ERR_INVALID_PDATA_LENGTH, call, private_data_length, limit);
    return IT_SUCCESS;
}

static it_status_t tii_ud_check_values(const struct ual_ia *ia, struct tii_ud_parts *parts)
{
    const struct vp_attributes *attributes = ia->provider->ia_attributes(ia);
    /* The call has no status for a wrong Spigot: it counts as a wrong source of the path. */
    it_status_t status = tii_check_path(TII_CREATE, ia, &parts->path, IT_ERR_INVALID_SOURCE_PATH);

    if (status == IT_SUCCESS && !attributes->datagrams)
        status = base_refuse(IT_ERR_OP_NOT_SUPPORTED, TII_CREATE, "%s has no datagrams", ia->name);
    if (status == IT_SUCCESS)
        status = tii_check_qual(TII_CREATE, attributes, parts->conn_qual, true);
    if (status == IT_SUCCESS)
        status =
            tii_ud_check_pdata(TII_CREATE, parts->private_length, attributes->ud_request_pdata);
    return status;
}

static void tii_ud_fill(struct ual_ud_service *service, const struct tii_ud_parts *parts)
{
    static _Atomic uint32_t last_id;

    service->reply_evd = parts->reply_evd;
    service->request_id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    service->conn_qual = *parts->conn_qual;
    service->path = parts->path;
    service->private_length = parts->private_length;
    if (parts->private_length > 0)
        memcpy(service->private_data, parts->private_data, parts->private_length);
}

static it_status_t tii_ud_new(struct ual_ia *ia, const struct tii_ud_parts *parts,
                              it_ud_svc_req_handle_t *ud_svc_handle)
{
    struct ual_ud_service *service;
    it_status_t status;

    service = ual_object_new_child(TII_CREATE, ia, IT_HANDLE_TYPE_UD_SVC_REQ, parts->reply_evd,
                                   IT_ERR_INVALID_EVD, &status);
    if (!service)
        return status;
    tii_ud_fill(service, parts);
    status = ia->provider->ud_service_create(service);
    if (status != IT_SUCCESS) {
        ual_object_discard_child(&service->object, parts->reply_evd);
        return base_refuse(status, TII_CREATE, "conn_qual, destination_path: refused by %s",
                           ia->provider->name);
    }
    ual_object_start(&service->object);
    *ud_svc_handle = (it_ud_svc_req_handle_t)(void *)service;
    return IT_SUCCESS;
}

it_status_t it_ud_service_request_handle_create(const it_conn_qual_t *conn_qual,
                                                it_evd_handle_t reply_evd,
                                                const it_path_t *destination_path,
                                                const unsigned char *private_data,
                                                size_t private_data_length,
                                                it_ud_svc_req_handle_t *ud_svc_handle)
{
    struct tii_ud_parts parts = {
        .reply_evd = evd_from_handle(reply_evd),
        .conn_qual = conn_qual,
        .private_data = private_data,
        .private_length = private_data_length,
    };
    struct ual_ia *ia;
    it_status_t status;

    status = tii_ud_check_evd(reply_evd);
    if (status != IT_SUCCESS)
        return status;
    if (!conn_qual || !destination_path || !ud_svc_handle)
        return base_refuse(
            IT_ERR_FAULT, __func__, "conn_qual %p, destination_path %p, ud_svc_handle %p",
            (const void *)conn_qual, (const void *)destination_path, (const void *)ud_svc_handle);
    status = tii_check_pdata_pointer(__func__, private_data, private_data_length);
    if (status != IT_SUCCESS)
        return status;
    ia = (struct ual_ia *)(void *)evd_ia_of(parts.reply_evd);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    parts.path = *destination_path;
    status = tii_ud_check_values(ia, &parts);
    if (status == IT_SUCCESS)
        status = tii_ud_new(ia, &parts, ud_svc_handle);
    return status;
}

/* ---------------------------------------------------------------- query, free */

it_status_t it_ud_service_request_handle_query(it_ud_svc_req_handle_t ud_svc_handle,
                                               it_ud_svc_req_param_mask_t mask,
                                               it_ud_svc_req_param_t *ud_svc_handle_info)
{
    const struct ual_ud_service *service = ual_ud_service_from(ud_svc_handle);
    it_ud_svc_req_param_t *info = ud_svc_handle_info;
    unsigned members = ual_object_members(mask);

    if (!service)
        return base_refuse_handle(IT_ERR_INVALID_UD_SVC, __func__, ud_svc_handle);
    if (!info)
        return base_refuse_null(__func__, ud_svc_handle_info);
    if ((unsigned)mask & ~TII_UD_PARAMS)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    if (members & IT_UD_PARAM_IA_HANDLE)
        info->ia = (it_ia_handle_t)(void *)service->object.ia;
    if (members & IT_UD_PARAM_REQ_ID)
        info->request_id = service->request_id;
    if (members & IT_UD_PARAM_REPLY_EVD)
        info->reply_evd = evd_handle(service->reply_evd);
    if (members & IT_UD_PARAM_CONN_QUAL)
        info->conn_qual = service->conn_qual;
    if (members & IT_UD_PARAM_DEST_PATH)
        info->destination_path = service->path;
    if (members & IT_UD_PARAM_PRIV_DATA)
        memcpy(info->private_data, service->private_data, sizeof(info->private_data));
    if (members & IT_UD_PARAM_PRIV_DATA_LENGTH)
        info->private_data_length = service->private_length;
    return IT_SUCCESS;
}

it_status_t it_ud_service_request_handle_free(it_ud_svc_req_handle_t ud_svc_handle)
{
    return ual_object_free(__func__, "ud_svc_handle", ud_svc_handle, IT_HANDLE_TYPE_UD_SVC_REQ,
                           IT_ERR_INVALID_UD_SVC, IT_ERR_INVALID_UD_SVC, ual_ud_service_destroy);
}

/* ---------------------------------------------------------------- request and reply */

it_status_t it_ud_service_request(it_ud_svc_req_handle_t ud_svc_handle)
{
    struct ual_ud_service *service = ual_ud_service_from(ud_svc_handle);
    const struct ual_ia *ia;

    if (!service)
        return base_refuse_handle(IT_ERR_INVALID_UD_SVC, __func__, ud_svc_handle);
    ia = ual_ia_of(&service->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    return base_refuse(ia->provider->ud_request(service), __func__,
                       "ud_svc_handle %p: refused by %s", (void *)service, ia->provider->name);
}

static bool tii_ud_status_is_known(it_ud_svc_req_status_t status)
{
    return (unsigned)status <= (unsigned)IT_UD_REQ_REDIRECTED;
}

it_status_t it_ud_service_reply(it_ud_svc_req_identifier_t ud_svc_req_id,
                                it_ud_svc_req_status_t status, it_remote_ep_info_t ep_info,
                                const unsigned char *private_data, size_t private_data_length)
{
    const struct vp_ud_reply reply = {
        .status = status,
        .ep_info = ep_info,
        .private_data = private_data,
        .private_length = private_data_length,
    };
    struct ual_ia *ia = ual_request_ia(ud_svc_req_id, true);
    struct ual_request *request;
    it_status_t result;

    if (!ia)
        return base_refuse_number(IT_ERR_INVALID_UD_SVC_REQ_ID, __func__, ud_svc_req_id);
    result = tii_check_pdata_pointer(__func__, private_data, private_data_length);
    if (result != IT_SUCCESS)
        return result;
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (!tii_ud_status_is_known(status))
        return base_refuse_number(IT_ERR_INVALID_UD_STATUS, __func__, status);
    result = tii_ud_check_pdata(__func__, private_data_length,
                                ia->provider->ia_attributes(ia)->ud_reply_pdata);
    if (result != IT_SUCCESS)
        return result;
    request = ual_request_take(ud_svc_req_id, ia, true);
    if (!request) /* another call took it, or the peer has given up */
        return base_refuse_number(IT_ERR_INVALID_UD_SVC_REQ_ID, __func__, ud_svc_req_id);
    result = ia->provider->ud_reply(request, &reply);
    if (result != IT_SUCCESS)
        ual_request_put_back(request, ud_svc_req_id);
    return base_refuse(result, __func__, "ud_svc_req_id %llu, private_data_length %zu",
                       (unsigned long long)ud_svc_req_id, private_data_length);
}
