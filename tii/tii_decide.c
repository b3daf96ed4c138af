/* SPDX-License-Identifier: BSD-2-Clause */
/* The decision about a request: it_ep_accept, it_reject, it_handoff. */
#include "tii/tii_check.h"
#include "ual/object/ual_ep_state.h"

#include <arpa/inet.h>

/* A passive EP is unconnected; an active EP of a three-way handshake waits for this call. */
static bool tii_accept_state_is_legal(const struct ual_ep *ep)
{
    it_ep_state_rc_t state = ual_ep_state(ep);

    return state == IT_EP_STATE_UNCONNECTED || state == IT_EP_STATE_ACTIVE2_CONNECTION_PENDING;
}

it_status_t it_ep_accept(it_ep_handle_t ep_handle, it_cn_est_identifier_t cn_est_id,
                         const unsigned char *private_data, size_t private_data_length)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct ual_request *request;
    struct ual_ia *ia;
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    ia = ual_ia_of(&ep->object);
    if (ual_request_ia(cn_est_id, false) != ia)
        return tii_refuse_request(__func__, cn_est_id);
    status = tii_check_pdata(__func__, ia, private_data, private_data_length,
                             ia->provider->ia_attributes(ia)->accept_pdata);
    if (status != IT_SUCCESS)
        return status;
    if (!tii_accept_state_is_legal(ep))
        return ual_ep_refuse_state(__func__, ep);
    request = ual_request_take(cn_est_id, ia, false);
    if (!request) /* another call took it, or the peer has gone */
        return tii_refuse_request(__func__, cn_est_id);
    status = ia->provider->accept(ep, request, private_data, private_data_length);
    if (status != IT_SUCCESS)
        ual_request_put_back(request, cn_est_id);
    return base_refuse(status, __func__,
                       "ep_handle %p in %s, cn_est_id %llu, private_data_length %zu: refused by %s",
                       (void *)ep, ual_ep_state_name(ep), (unsigned long long)cn_est_id,
                       private_data_length, ia->provider->name);
}

it_status_t it_reject(it_cn_est_identifier_t cn_est_id, const unsigned char *private_data,
                      size_t private_data_length)
{
    struct ual_ia *ia = ual_request_ia(cn_est_id, false);
    struct ual_request *request;
    it_status_t status;

    if (!ia)
        return tii_refuse_request(__func__, cn_est_id);
    status = tii_check_pdata(__func__, ia, private_data, private_data_length,
                             ia->provider->ia_attributes(ia)->reject_pdata);
    if (status != IT_SUCCESS)
        return status;
    request = ual_request_take(cn_est_id, ia, false);
    if (!request) /* another call took it, or the peer has gone */
        return tii_refuse_request(__func__, cn_est_id);
    status = ia->provider->reject(request, private_data, private_data_length);
    if (status != IT_SUCCESS)
        ual_request_put_back(request, cn_est_id);
    return base_refuse(status, __func__, "cn_est_id %llu, private_data_length %zu: refused by %s",
                       (unsigned long long)cn_est_id, private_data_length, ia->provider->name);
}

it_status_t it_handoff(const it_conn_qual_t *conn_qual, size_t spigot_id,
                       it_cn_est_identifier_t cn_est_id)
{
    struct ual_ia *ia = ual_request_ia(cn_est_id, false);
    struct ual_request *request;
    it_status_t status;

    if (!ia)
        return tii_refuse_request(__func__, cn_est_id);
    if (!conn_qual)
        return base_refuse_null(__func__, conn_qual);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (!ual_spigot_find(ia, &spigot_id))
        return base_refuse_number(IT_ERR_INVALID_SPIGOT, __func__, spigot_id);
    status = tii_check_qual(__func__, ia->provider->ia_attributes(ia), conn_qual, false);
    if (status != IT_SUCCESS)
        return status;
    request = ual_request_take(cn_est_id, ia, false);
    if (!request) /* another call took it, or the peer has gone */
        return tii_refuse_request(__func__, cn_est_id);
    status = ia->provider->handoff(request, conn_qual, spigot_id);
    if (status != IT_SUCCESS) /* the attempt may have changed its id */
        ual_request_put_back(request, cn_est_id);
    return base_refuse(status, __func__, "conn_qual port %u, spigot_id %zu, cn_est_id %llu",
                       ntohs(conn_qual->conn_qual.port), spigot_id, (unsigned long long)cn_est_id);
}
