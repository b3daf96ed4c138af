/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management over rdma_cm: what the rest of the provider calls. */
#ifndef ITAPI_VP_VERBS_CM_VERBS_CM_H
#define ITAPI_VP_VERBS_CM_VERBS_CM_H

#include "vp/verbs/device/verbs_ep.h"

struct verbs_listen {
    struct verbs_listener *listener; /* set by verbs_cm_listen.c */
};

static inline struct verbs_listen *verbs_listen_of(struct ual_listen *listen)
{
    return vp_area(verbs_host, VP_LISTEN, listen);
}

/* Tries of a random port: with most ports in use, the one rdma_cm picks may belong to a socket. */
#define VERBS_PORT_TRIES 256u

/* ---------------------------------------------------------------- the provider's table */

it_status_t verbs_paths(struct ual_ia *ual, size_t spigot_id, const it_net_addr_t *to,
                        size_t capacity, it_path_t *paths, size_t *total);
it_status_t verbs_listen_start(struct ual_listen *listen);
void verbs_listen_stop(struct ual_listen *listen);
it_status_t verbs_connect(struct ual_ep *ual, const it_path_t *path,
                          const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                          it_cn_est_flags_t flags, const void *private_data, size_t length);
it_status_t verbs_accept(struct ual_ep *ual, struct ual_request *request, const void *private_data,
                         size_t length);
it_status_t verbs_reject(struct ual_request *request, const void *private_data, size_t length);
void verbs_request_addresses_locked(struct ual_request *request,
                                    struct itx_ep_addresses *addresses);
it_status_t verbs_handoff(struct ual_request *request, const it_conn_qual_t *qual,
                          size_t spigot_id);
it_status_t verbs_ud_service_create(struct ual_ud_service *ual);
void verbs_ud_service_destroy(struct ual_ud_service *ual);
it_status_t verbs_ud_request(struct ual_ud_service *ual);
it_status_t verbs_ud_reply(struct ual_request *request, const struct vp_ud_reply *reply);

/*
 * siw: returns true if only a nudge can have failed, since nothing was posted after it
 * (verbs_cm_nudge.c).
 */
bool verbs_nudge_may_have_failed(struct verbs_ep *ep);

#endif
