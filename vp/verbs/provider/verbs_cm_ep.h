/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management for the rest of the provider. */
#ifndef ITAPI_VP_VERBS_PROVIDER_VERBS_CM_EP_H
#define ITAPI_VP_VERBS_PROVIDER_VERBS_CM_EP_H

#include "vp/verbs/device/verbs_ep.h"

/* Called at the end of ia_open. Sets ia->cm and the members of ia->attributes that depend on it. */
it_status_t verbs_cm_open(struct verbs_ia *ia);

/* Called when all objects are gone. */
void verbs_cm_close(struct verbs_ia *ia);

/*
 * Called first in ep_destroy, in any state: ends the connection or attempt, reports nothing, and
 * returns when connection management no longer uses the EP. No lock is held.
 */
void verbs_cm_ep_end(struct verbs_ep *ep);

/*
 * Called by ep_reset: does the same for the last connection, but its id may still use the QP. No
 * lock is held.
 */
void verbs_cm_ep_forget(struct verbs_ep *ep);

/*
 * Called after that. Returns true if an id that is being destroyed still uses this QP, which has
 * failed: the QP is then destroyed with the id, before the EP goes away. Otherwise the caller
 * destroys the QP.
 */
bool verbs_cm_keeps_qp(struct verbs_ep *ep, struct ibv_qp *qp);
bool verbs_ep_addresses_locked(struct ual_ep *ual, struct itx_ep_addresses *addresses);
void verbs_counters(struct ual_ia *ual, struct itx_counters *counters);
it_status_t verbs_disconnect(struct ual_ep *ual);

/*
 * Called when an event of the device or a completion shows that the QP has failed. Runs on the IA's
 * thread with no lock held; the EP stays. A connection that has not ended becomes broken, once.
 */
void verbs_cm_ep_failed(struct verbs_ep *ep);

/*
 * Called when the first receive has arrived before the CM event that announces it: the device says
 * so (IBV_EVENT_COMM_EST), or the receive has completed.
 */
void verbs_cm_ep_heard(struct verbs_ep *ep);

/* Called when the device is gone, on the IA's thread, before the IA fails. */
void verbs_cm_device_gone(struct verbs_ia *ia);

#endif
