/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider's table and how it is handed over. */
#include "ual/verbs/verbs.h"

#include "ual/verbs/verbs_cm_private.h"
#include "ual/verbs/verbs_ud.h"

const struct vp_host *vrb_host;

static it_status_t provider_set_mpa(struct ual_ep *ep, const struct itx_mpa_params *params)
{
    (void)ep, (void)params; /* a device does its own MPA */
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

static const struct vp_provider vrb_provider = {
    .abi = VP_ABI,
    .size = sizeof(struct vp_provider),
    .name = "verbs",
    .ia_area = sizeof(struct vrb_ia),
    .pz_area = sizeof(struct vrb_pz),
    .lmr_area = sizeof(struct vrb_lmr),
    .rmr_area = sizeof(struct vrb_rmr),
    .srq_area = sizeof(struct vrb_srq),
    .ep_area = sizeof(struct vrb_ep),
    .listen_area = sizeof(struct vrb_listen),
    .address_area = sizeof(struct vrb_address),
    .ud_service_area = sizeof(struct vrb_service),
    .interfaces = vrb_interfaces,
    .has_interface = vrb_has_interface,
    .ia_open = vrb_ia_open,
    .ia_close = vrb_ia_close,
    .ia_attributes = vrb_ia_attributes,
    .ia_query = vrb_ia_query,
    .has_spigot = vrb_has_spigot,
    .has_address = vrb_has_address,
    .paths = vrb_paths,
    .counters = vrb_counters,
    .pz_create = vrb_pz_create,
    .pz_destroy = vrb_pz_destroy,
    .lmr_create = vrb_lmr_create,
    .lmr_destroy = vrb_lmr_destroy,
    .lmr_modify = vrb_lmr_modify,
    .rmr_create = vrb_rmr_create,
    .rmr_destroy = vrb_rmr_destroy,
    .rmr_query = vrb_rmr_query,
    .srq_create = vrb_srq_create,
    .srq_destroy = vrb_srq_destroy,
    .srq_modify = vrb_srq_modify,
    .ep_create = vrb_ep_create,
    .ep_destroy = vrb_ep_destroy,
    .ep_halt = vrb_ep_halt,
    .ep_proceed = vrb_ep_proceed,
    .ep_modify_locked = vrb_ep_modify_locked,
    .ep_reset = vrb_ep_reset,
    .ep_set_mpa = provider_set_mpa,
    .ep_get_mpa = provider_get_mpa,
    .ep_query_mpa = provider_query_mpa,
    .listen_start = vrb_listen_start,
    .listen_stop = vrb_listen_stop,
    .connect = vrb_connect,
    .accept = vrb_accept,
    .reject = vrb_reject,
    .handoff = vrb_handoff,
    .disconnect = vrb_disconnect,
    .convert = vrb_convert,
    .address_create = vrb_address_create,
    .address_modify = vrb_address_modify,
    .address_destroy = vrb_address_destroy,
    .ud_service_create = vrb_ud_service_create,
    .ud_service_destroy = vrb_ud_service_destroy,
    .ud_request = vrb_ud_request,
    .ud_reply = vrb_ud_reply,
};

const struct vp_provider *VP_ENTRY(const struct vp_host *host, const char *options)
{
    if (host->abi != VP_ABI || host->size < sizeof(*host))
        return NULL;
    vrb_host = host;
    if (*options)
        vrb_log(VP_LOG_WARN, "verbs: options are not known: %s", options);
    return &vrb_provider;
}
