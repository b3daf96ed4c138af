/* SPDX-License-Identifier: BSD-2-Clause */
/* it_handoff. */
#include "tii/tii_check.h"

#include <arpa/inet.h>

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
    status =
        tii_check_passive_qual(__func__, conn_qual, ia->provider->ia_attributes(ia)->passive_quals);
    if (status != IT_SUCCESS)
        return status;
    request = ual_request_take(cn_est_id, ia, false);
    if (!request) /* somebody was faster, or the peer has gone */
        return tii_refuse_request(__func__, cn_est_id);
    status = ia->provider->handoff(request, conn_qual, spigot_id);
    if (status != IT_SUCCESS) /* the attempt may have given it another id */
        ual_request_put_back(request, cn_est_id);
    return base_refuse(status, __func__, "conn_qual port %u, spigot_id %zu, cn_est_id %llu",
                       ntohs(conn_qual->conn_qual.port), spigot_id, (unsigned long long)cn_est_id);
}
