/* SPDX-License-Identifier: BSD-2-Clause */
/* RMRs: memory windows of the device. */
#ifndef ITAPI_VP_VERBS_MEMORY_VERBS_RMR_H
#define ITAPI_VP_VERBS_MEMORY_VERBS_RMR_H

#include "vp/verbs/device/verbs.h"

it_status_t verbs_rmr_create(struct ual_rmr *ual);
void verbs_rmr_destroy(struct ual_rmr *ual);
void verbs_rmr_query(struct ual_rmr *ual, struct vp_rmr_state *state);

/* The QP goes: first the windows that are open on it. */
void verbs_rmr_leave(struct verbs_ia *ia, uint32_t qp_num);

/* A peer has invalidated the key: the RMR that had it, or NULL. */
it_handle_t verbs_rmr_invalidated(struct verbs_ia *ia, uint32_t key);

/* With the queue's lock. No success: nothing is posted. *error: of the device. */
it_status_t verbs_link_request(struct verbs_ep *ep, struct verbs_slot *slot,
                               const struct vp_request *request, int *error);
void verbs_link_done(struct verbs_slot *slot, bool executed);
void verbs_link_drop_all(struct verbs_queue *queue);
struct verbs_link *verbs_link_of(const struct verbs_slot *slot);

#endif
