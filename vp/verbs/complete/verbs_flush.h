/* SPDX-License-Identifier: BSD-2-Clause */
/* Posts that the device does not complete. */
#ifndef ITAPI_VP_VERBS_COMPLETE_VERBS_FLUSH_H
#define ITAPI_VP_VERBS_COMPLETE_VERBS_FLUSH_H

#include "vp/verbs/device/verbs_ep.h"

void verbs_source_leave(struct verbs_ep *ep);

/*
 * The QP has failed, or is gone: what the device does not complete is flushed, in order. lost: that
 * is all of which there is no completion now; else what is posted from .local_from on.
 */
void verbs_source_flush(struct verbs_ep *ep, struct verbs_queue *queue, bool lost);

/* After a flush with nothing left to post: the posts to come are for a new QP. */
void verbs_source_renew(struct verbs_ep *ep, struct verbs_queue *queue);

/* There is a post that does not reach the device. */
void verbs_source_post_local(struct verbs_ep *ep, struct verbs_queue *queue);

/* With .reads_overtaken: a request of the consumer's has failed, on this QP. */
bool verbs_source_request_failed(struct verbs_ep *ep);

/* Takes note of what is done, so that slots without events get free. */
void verbs_source_reap(struct verbs_ep *ep, struct verbs_queue *queue);

/* An EP with an S-RQ: from now on completions of that QP are its. NULL: of none. */
void verbs_source_name(struct verbs_ep *ep, const struct ibv_qp *qp);

#endif
