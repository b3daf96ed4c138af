/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting: work queues, requests and receives, S-RQs. */
#ifndef ITAPI_VP_VERBS_POST_VERBS_POSTING_H
#define ITAPI_VP_VERBS_POST_VERBS_POSTING_H

#include "vp/verbs/device/verbs_ep.h"
#include "vp/verbs/memory/verbs_memory.h"

/* ---------------------------------------------------------------- verbs_queue.c */

bool verbs_queue_is_full(const struct verbs_queue *queue);
bool verbs_queue_make_room(struct verbs_queue *queue);
bool verbs_queue_make(struct verbs_queue *queue, struct verbs_ep *ep, size_t depth,
                      bool is_receive);
void verbs_queue_free(struct verbs_queue *queue);

/* With the queue's lock. Sets whether usual posts go straight to the device, and their room. */
void verbs_queue_refresh(struct verbs_queue *queue);

/* With the queue's lock, which it drops. The slot is filled in; error is the device's result. */
it_status_t verbs_queue_finish(struct verbs_queue *queue, int error);

/* ---------------------------------------------------------------- verbs_post.c and _usual.c */

int verbs_segments(struct ibv_sge *sges, const it_lmr_triplet_t *from, size_t count);
extern const struct vp_ep_ops verbs_ep_ops, verbs_ud_ops;

/* The fast path of posts (verbs_post_usual.c). */
extern const struct base_entries verbs_ep_entries;

/* Called once, before there is an EP. */
void verbs_usual_set_layout(const struct vp_layout *layout);

/* Sets the limits from the EP's attributes; with the lock, or while no thread posts. */
void verbs_usual_set_limits(struct verbs_ep *ep);

/* Called with the lock by the general path: the next post from this LMR may take the fast path. */
void verbs_usual_remember(struct verbs_queue *queue, it_lmr_handle_t handle);
void verbs_usual_set_qp(struct verbs_ep *ep, struct ibv_qp *qp);

/* ---------------------------------------------------------------- verbs_srq.c */

it_status_t verbs_srq_create(struct ual_srq *ual);
void verbs_srq_destroy(struct ual_srq *ual);
it_status_t verbs_srq_modify(struct ual_srq *ual, it_srq_param_mask_t mask,
                             const it_srq_param_t *params);
void verbs_srq_is_low(struct verbs_srq *srq);

#endif
