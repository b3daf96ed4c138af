/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files about completions share: verbs_source.c, verbs_join.c, verbs_flush.c. */
#ifndef ITAPI_VP_VERBS_COMPLETE_VERBS_SOURCE_H
#define ITAPI_VP_VERBS_COMPLETE_VERBS_SOURCE_H

#include "vp/verbs/device/verbs.h"

#define VERBS_SOURCE_BATCH 32u /* completions taken by one poll */

extern const struct evd_source_ops verbs_source_ops;

/* ---- With the EVD's lock. */
/* At most a batch; they go behind what is in the stash. Returns how many the device had. */
uint32_t verbs_source_poll_batch(struct verbs_cq *cq);
/* What the device has completed of the queue is in the stash already, or taken: flushes the rest. */
void verbs_source_drained(struct verbs_queue *queue);
void verbs_source_flush_rest(struct verbs_queue *queue);
void verbs_source_arm(void *context, bool failures_only);
void verbs_source_disarm(void *context);

static inline struct verbs_ep **verbs_source_by_qp(struct verbs_source *source, uint32_t number)
{
    return &source->by_qp[number & (VERBS_BY_QP - 1)];
}

/* ---- Without. */
void verbs_source_close(void *context);
void verbs_source_give_room(struct verbs_ep *ep);

#endif
