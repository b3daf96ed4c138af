/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files about completions share: verbs_source.c, verbs_join.c, verbs_flush.c. */
#ifndef ITAPI_VP_VERBS_COMPLETE_VERBS_SOURCE_H
#define ITAPI_VP_VERBS_COMPLETE_VERBS_SOURCE_H

#include "vp/verbs/device/verbs.h"

#define VERBS_SOURCE_BATCH 32u /* completions taken by one poll */

/* ---- With the EVD's lock. */
/* At most a batch; they go behind what is in the stash. Returns how many the device had. */
uint32_t verbs_source_poll_batch(struct verbs_cq *cq);
/* The completions of the device are in the stash already, or taken: flushes the rest. */
void verbs_source_drained(struct verbs_queue *queue);
void verbs_source_flush_rest(struct verbs_queue *queue);
void verbs_source_arm(void *context, bool failures_only);
void verbs_source_disarm(void *context);

static inline struct verbs_ep **verbs_source_by_qp(struct verbs_source *source, uint32_t number)
{
    return &source->by_qp[number & (VERBS_BY_QP - 1)];
}

size_t verbs_source_take(void *context, it_event_t *events, size_t max);
size_t verbs_source_drain(void *context, struct evd_dto *dtos, size_t max);
it_status_t verbs_source_dequeue(it_evd_handle_t evd, it_event_t *event);

#endif
