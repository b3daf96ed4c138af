/* SPDX-License-Identifier: BSD-2-Clause */
/* Work queues: slots, and what usual posts have in common. */
#ifndef ITAPI_VP_VERBS_POST_VERBS_QUEUE_H
#define ITAPI_VP_VERBS_POST_VERBS_QUEUE_H

#include "vp/verbs/device/verbs_ep.h"
#include "vp/verbs/memory/verbs_memory.h"

bool verbs_queue_is_full(const struct verbs_queue *queue);
bool verbs_queue_make_room(struct verbs_queue *queue);
bool verbs_queue_make(struct verbs_queue *queue, struct verbs_ep *ep, size_t depth,
                      bool is_receive);
void verbs_queue_free(struct verbs_queue *queue);

/* With the queue's lock: whether posts go straight to the device, and how many at least. */
void verbs_queue_refresh(struct verbs_queue *queue);

/* With the queue's lock, which is dropped; the slot is filled in, the device has returned error. */
it_status_t verbs_queue_finish(struct verbs_queue *queue, int error);

/* Fills in the members that common posts share. Nobody posts. */
void verbs_usual_init(struct verbs_queue *queue);

#endif
