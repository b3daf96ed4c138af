/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management for the rest of the provider. */
#ifndef ITAPI_VP_VERBS_PROVIDER_VERBS_CM_EP_H
#define ITAPI_VP_VERBS_PROVIDER_VERBS_CM_EP_H

#include "vp/verbs/device/verbs_ep.h"

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
 * From ep_reset: the same for what is left of the last connection, but that its id may still use
 * the QP. No lock is held.
 */
void verbs_cm_ep_forget(struct verbs_ep *ep);

/*
 * Afterwards: an id that is being destroyed still uses this QP, which has failed. It is destroyed
 * then, before anything else of the EP goes away. False: it is the caller's.
 */
bool verbs_cm_keeps_qp(struct verbs_ep *ep, struct ibv_qp *qp);
bool verbs_ep_addresses_locked(struct ual_ep *ual, struct itx_ep_addresses *addresses);
void verbs_counters(struct ual_ia *ual, struct itx_counters *counters);
it_status_t verbs_disconnect(struct ual_ep *ual);

/*
 * The device says that the QP has failed, or a completion does. On the IA's thread, no lock held;
 * the EP stays. A connection that is not over yet is: broken, once.
 */
void verbs_cm_ep_failed(struct verbs_ep *ep);

/* The first receive has arrived before the CM event that says so (IBV_EVENT_COMM_EST). */
void verbs_cm_ep_heard(struct verbs_ep *ep);

/* The device is gone. On the IA's thread, before the IA fails. */
void verbs_cm_device_gone(struct verbs_ia *ia);

#endif
