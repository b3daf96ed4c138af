/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files about completions share: verbs_source.c, verbs_join.c, verbs_flush.c. */
#ifndef ITAPI_UAL_VERBS_VERBS_SOURCE_H
#define ITAPI_UAL_VERBS_VERBS_SOURCE_H

#include "ual/verbs/verbs.h"

#define VRB_SOURCE_BATCH 32u /* completions taken by one poll */

extern const struct evd_source_ops vrb_source_ops;

/* ---- With the EVD's lock. */
/* At most a batch; they go behind what is in the stash. Returns how many the device had. */
uint32_t vrb_source_poll_batch(struct vrb_source *source, struct vrb_cq *cq);
/* What the device has completed of the queue is in the stash already, or taken: flushes the rest. */
void vrb_source_drained(struct vrb_queue *queue);
void vrb_source_flush_rest(struct vrb_queue *queue);
void vrb_source_arm(void *context, bool failures_only);
void vrb_source_disarm(void *context);

static inline struct vrb_ep **vrb_source_by_qp(struct vrb_source *source, uint32_t number)
{
    return &source->by_qp[number & (VRB_BY_QP - 1)];
}

/* ---- Without. */
void vrb_source_close(void *context);
void vrb_source_give_room(struct vrb_ep *ep);

#endif
