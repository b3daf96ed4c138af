/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ia_query. */
#include "ual/object/ual_provider.h"

#include <string.h>

#define UAL_API_MAJOR 2
#define UAL_API_MINOR 1

/* Sets the attributes by which this layer decides, whatever the provider has written. */
static void ual_ia_tell_attributes(const struct vp_attributes *attributes, it_ia_info_t *info)
{
    info->transport_type = attributes->transport_type;
    info->supported_service_types =
        attributes->datagrams ? (it_transport_service_type_t)(IT_RC_SERVICE | IT_UD_SERVICE)
                              : IT_RC_SERVICE;
    info->socket_conversion_support = attributes->socket_conversion;
    info->three_way_handshake_support = attributes->three_way;
    info->ird_ord_suppressible = attributes->suppress_depths;
    info->ep_work_queues_resizable = attributes->queues_resizable;
    info->rdma_read_ord_increasable = attributes->ord_increasable;
    info->rdma_read_ird_modifiable = attributes->ird_modifiable;
    info->ep_rdma_enables_modifiable = attributes->enables_modifiable;
    info->srq_support = attributes->srq;
    info->srq_resizable = attributes->srq_resizable;
    info->soft_hi_watermark_support = attributes->soft_hi_watermark;
    info->hard_hi_watermark_support = attributes->hard_hi_watermark;
    info->atomic_support = attributes->atomics;
    info->addr_mode_relative_support = attributes->relative_addressing;
    info->rmr_types_supported = attributes->rmr_types;
    info->narrow_rmr_unlink_support = attributes->narrow_unlink;
    info->wide_rmr_unlink_support = attributes->wide_unlink;
    info->unlink_fence_support = attributes->unlink_fence;
    info->post_send_unlink_remote_support = attributes->send_unlink;
    info->rdma_read_local_extensions = attributes->read_extensions;
    info->lmr_link_support = attributes->lmr_link;
    info->connect_private_data_len = attributes->connect_pdata;
    info->accept_private_data_len = attributes->accept_pdata;
    info->reject_private_data_len = attributes->reject_pdata;
    info->disconnect_private_data_len = attributes->disconnect_pdata;
    info->ud_req_private_data_len = attributes->ud_request_pdata;
    info->ud_rep_private_data_len = attributes->ud_reply_pdata;
    info->private_data_support = attributes->connect_pdata || attributes->accept_pdata ||
                                         attributes->reject_pdata || attributes->disconnect_pdata
                                     ? IT_TRUE
                                     : IT_FALSE;
    for (size_t i = 0; i < info->num_spigots; i++) {
        info->spigot_info[i].active_side_conn_qual = attributes->active_quals;
        info->spigot_info[i].passive_side_conn_qual = attributes->passive_quals;
    }
}

static void ual_ia_tell_evds(struct ual_ia *ia, it_ia_info_t *info)
{
    base_lock_take(&ia->evd.lock);
    if (ia->evd.affiliated)
        info->affiliated_err_evd = evd_handle(ia->evd.affiliated);
    if (ia->evd.unaffiliated)
        info->unaffiliated_err_evd = evd_handle(ia->evd.unaffiliated);
    base_lock_drop(&ia->evd.lock);
}

it_status_t it_ia_query(it_ia_handle_t ia_handle, it_ia_info_t **ia_info)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);
    it_ia_info_t *info = NULL;
    it_status_t status;

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (!ia_info)
        return base_refuse_null(__func__, ia_info);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    status = ia->provider->ia_query(ia, &info);
    if (status != IT_SUCCESS)
        return status;
    memcpy(info->ia_name, ia->name, sizeof(ia->name));
    info->api_major_version = UAL_API_MAJOR;
    info->api_minor_version = UAL_API_MINOR;
    info->sw_major_version = ITX_VERSION_MAJOR;
    info->sw_minor_version = ITX_VERSION_MINOR;
    ual_ia_tell_attributes(ia->provider->ia_attributes(ia), info);
    ual_ia_tell_evds(ia, info);
    *ia_info = info;
    return IT_SUCCESS;
}
