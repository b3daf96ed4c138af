/* SPDX-License-Identifier: BSD-2-Clause */
/* it_reject. */
#include "tii/tii_check.h"

it_status_t it_reject(it_cn_est_identifier_t cn_est_id, const unsigned char *private_data,
                      size_t private_data_length)
{
    struct ual_ia *ia = ual_request_ia(cn_est_id, false);
    const struct vp_attributes *attributes;
    struct ual_request *request;
    it_status_t status;

    if (!ia)
        return tii_refuse_request(__func__, cn_est_id);
    status = tii_check_pdata_pointer(__func__, private_data, private_data_length);
    if (status != IT_SUCCESS)
        return status;
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    attributes = ia->provider->ia_attributes(ia);
    status =
        tii_check_pdata_length(__func__, attributes, private_data_length, attributes->reject_pdata);
    if (status != IT_SUCCESS)
        return status;
    request = ual_request_take(cn_est_id, ia, false);
    if (!request) /* somebody was faster, or the peer has gone */
        return tii_refuse_request(__func__, cn_est_id);
    status = ia->provider->reject(request, private_data, private_data_length);
    if (status != IT_SUCCESS)
        ual_request_put_back(request, cn_est_id);
    return base_refuse(status, __func__, "cn_est_id %llu, private_data_length %zu: refused by %s",
                       (unsigned long long)cn_est_id, private_data_length, ia->provider->name);
}
