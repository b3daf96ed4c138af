/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management over rdma_cm, as the rest of the provider sees it. */
#ifndef ITAPI_VP_VERBS_CM_VERBS_CM_H
#define ITAPI_VP_VERBS_CM_VERBS_CM_H

#include "vp/verbs/device/verbs.h"

/* Until a port that rdma_cm has chosen is also free of sockets, where few are: each is a random one. */
#define VERBS_PORT_TRIES 256u

/* ---------------------------------------------------------------- called by verbs_device.c, verbs_ep.c */

/* From ia_open, after everything else. Sets ia->cm and what only it knows of ia->attributes. */
it_status_t verbs_cm_open(struct verbs_ia *ia);
/* All objects are gone. */
void verbs_cm_close(struct verbs_ia *ia);

/*
 * From ep_destroy, in any state, first thing: ends the connection or attempt, reports nothing, and
 * returns when no thread uses the EP by way of connection management any more. No lock is held.
 */
void verbs_cm_ep_end(struct verbs_ep *ep);
/*
 * From ep_reset: the same for what is left of the last connection, but that its id may still use the QP.
 * No lock is held.
 */
void verbs_cm_ep_forget(struct verbs_ep *ep);
/*
 * Afterwards: an id that is being destroyed still uses this QP, which has failed. It is destroyed then, before
 * anything else of the EP goes away. False: it is the caller's.
 */
bool verbs_cm_keeps_qp(struct verbs_ep *ep, struct ibv_qp *qp);

/*
 * The device says that the QP has failed, or a completion does. On the IA's thread, no lock held; the
 * EP stays. A connection that is not over yet is: broken, once.
 */
void verbs_cm_ep_failed(struct verbs_ep *ep);
/* The first receive has arrived before the CM event that says so (IBV_EVENT_COMM_EST). */
void verbs_cm_ep_heard(struct verbs_ep *ep);

/* The device is gone. On the IA's thread, before the IA fails. */
void verbs_cm_device_gone(struct verbs_ia *ia);

/* ---------------------------------------------------------------- functions of the provider's table */

it_status_t verbs_paths(struct ual_ia *ual, size_t spigot_id, const it_net_addr_t *to,
                        size_t capacity, it_path_t *paths, size_t *total);
void verbs_counters(struct ual_ia *ual, struct itx_counters *counters);
it_status_t verbs_listen_start(struct ual_listen *listen);
void verbs_listen_stop(struct ual_listen *listen);
it_status_t verbs_connect(struct ual_ep *ual, const it_path_t *path,
                          const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                          it_cn_est_flags_t flags, const void *private_data, size_t length);
it_status_t verbs_accept(struct ual_ep *ual, struct ual_request *request, const void *private_data,
                         size_t length);
it_status_t verbs_reject(struct ual_request *request, const void *private_data, size_t length);
it_status_t verbs_handoff(struct ual_request *request, const it_conn_qual_t *qual,
                          size_t spigot_id);
it_status_t verbs_disconnect(struct ual_ep *ual);
it_status_t verbs_ud_service_create(struct ual_ud_service *ual);
void verbs_ud_service_destroy(struct ual_ud_service *ual);
it_status_t verbs_ud_request(struct ual_ud_service *ual);
it_status_t verbs_ud_reply(struct ual_request *request, const struct vp_ud_reply *reply);
it_status_t verbs_convert(struct ual_ep *ual, const struct vp_convert *convert);

/* Of siw: nothing has been posted behind a nudge (verbs_cm_nudge.c). */
bool verbs_nudge_may_have_failed(struct verbs_ep *ep);

#endif
