/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider's table, and the entry that returns it. */

#include "vp/verbs/provider/verbs_provider.h"

#include "vp/verbs/cm/verbs_cm_private.h"
#include "vp/verbs/convert/verbs_convert.h"
#include "vp/verbs/device/verbs_check.h"
#include "vp/verbs/device/verbs_query.h"
#include "vp/verbs/memory/verbs_memory.h"
#include "vp/verbs/memory/verbs_rmr.h"
#include "vp/verbs/post/verbs_posting.h"
#include "vp/verbs/provider/verbs_address.h"
#include "vp/verbs/provider/verbs_cm_ep.h"

static it_status_t provider_set_mpa(struct ual_ep *ep, const struct itx_mpa_params *params)
{
    (void)ep, (void)params; /* the device does its own MPA */
    return IT_ERR_OP_NOT_SUPPORTED;
}

static it_status_t provider_get_mpa(struct ual_ep *ep, struct itx_mpa_params *params)
{
    (void)ep, (void)params;
    return IT_ERR_OP_NOT_SUPPORTED;
}

static it_status_t provider_query_mpa(struct ual_ep *ep, struct itx_mpa_info *info)
{
    (void)ep, (void)info;
    return IT_ERR_OP_NOT_SUPPORTED;
}

static const struct vp_provider verbs_provider = {
    .abi = VP_ABI,
    .size = sizeof(struct vp_provider),
    .name = "verbs",
    .ia_area = sizeof(struct verbs_ia),
    .pz_area = sizeof(struct verbs_pz),
    .lmr_area = sizeof(struct verbs_lmr),
    .rmr_area = sizeof(struct verbs_rmr),
    .srq_area = sizeof(struct verbs_srq),
    .ep_area = sizeof(struct verbs_ep),
    .listen_area = sizeof(struct verbs_listen),
    .address_area = sizeof(struct verbs_address),
    .ud_service_area = sizeof(struct verbs_service),
    .interfaces = verbs_interfaces,
    .has_interface = verbs_has_interface,
    .ia_open = verbs_ia_open,
    .ia_close = verbs_ia_close,
    .ia_attributes = verbs_ia_attributes,
    .ia_query = verbs_ia_query,
    .has_spigot = verbs_has_spigot,
    .has_address = verbs_has_address,
    .paths = verbs_paths,
    .counters = verbs_counters,
    .pz_create = verbs_pz_create,
    .pz_destroy = verbs_pz_destroy,
    .lmr_create = verbs_lmr_create,
    .lmr_destroy = verbs_lmr_destroy,
    .lmr_modify = verbs_lmr_modify,
    .rmr_create = verbs_rmr_create,
    .rmr_destroy = verbs_rmr_destroy,
    .rmr_query = verbs_rmr_query,
    .srq_create = verbs_srq_create,
    .srq_destroy = verbs_srq_destroy,
    .srq_modify = verbs_srq_modify,
    .ep_create = verbs_ep_create,
    .ep_destroy = verbs_ep_destroy,
    .ep_halt = verbs_ep_halt,
    .ep_proceed = verbs_ep_proceed,
    .ep_modify_locked = verbs_ep_modify_locked,
    .ep_reset = verbs_ep_reset,
    .ep_set_mpa = provider_set_mpa,
    .ep_get_mpa = provider_get_mpa,
    .ep_query_mpa = provider_query_mpa,
    .listen_start = verbs_listen_start,
    .listen_stop = verbs_listen_stop,
    .connect = verbs_connect,
    .accept = verbs_accept,
    .reject = verbs_reject,
    .handoff = verbs_handoff,
    .disconnect = verbs_disconnect,
    .convert = verbs_convert,
    .address_create = verbs_address_create,
    .address_modify = verbs_address_modify,
    .address_destroy = verbs_address_destroy,
    .ud_service_create = verbs_ud_service_create,
    .ud_service_destroy = verbs_ud_service_destroy,
    .ud_request = verbs_ud_request,
    .ud_reply = verbs_ud_reply,
    .ep_counters = verbs_ep_counters,
    .obstacle = verbs_obstacle,
    .ep_addresses_locked = verbs_ep_addresses_locked,
    .request_addresses_locked = verbs_request_addresses_locked,
};

const struct vp_provider *VP_ENTRY(const struct vp_host *host, const char *options)
{
    if (host->abi != VP_ABI || host->size < sizeof(*host))
        return NULL;
    verbs_host = host;
    verbs_usual_set_layout(&host->layout);
    if (*options)
        verbs_log(VP_LOG_WARN, "verbs: options are not known: %s", options);
    return &verbs_provider;
}
