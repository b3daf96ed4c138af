/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting. */
#ifndef ITAPI_VP_VERBS_POST_VERBS_POST_H
#define ITAPI_VP_VERBS_POST_VERBS_POST_H

#include "vp/verbs/post/verbs_queue.h"

int verbs_segments(struct ibv_sge *sges, const it_lmr_triplet_t *from, size_t count);
extern const struct vp_ep_ops verbs_ep_ops, verbs_ud_ops;

/* The posts themselves, as long as they are usual (verbs_post_usual.c). */
extern const struct base_entries verbs_ep_entries;

/* Once, before there is an EP. */
void verbs_usual_set_layout(const struct vp_layout *layout);

/* By the EP's attributes; with the lock, or while nobody posts. */
void verbs_usual_set_limits(struct verbs_ep *ep);

/* With the lock, from the general path: the next post of this LMR may be a common one. */
void verbs_usual_remember(struct verbs_queue *queue, it_lmr_handle_t handle);
void verbs_usual_set_qp(struct verbs_ep *ep, struct ibv_qp *qp);

#endif
