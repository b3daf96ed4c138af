/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parked completions. An InfiniBand queue pair does not notice that its peer is gone: its receives
 * stay posted, and a request fails when the retries that the program has set are over. The EP of
 * IT-API flushes both at once. So flushed completions are parked in their CQ: a request until that
 * time is over, a receive until the queue pair is in ERR. Guarded by ofa_cq.lock.
 */
#ifndef ITAPI_ULP_OFA_QUEUE_OFA_PARK_H
#define ITAPI_ULP_OFA_QUEUE_OFA_PARK_H

#include "object/ofa_object.h"

/* Returns true if a completion only says that the peer is gone, so that it must be parked. */
static inline bool ofa_park_wants(const struct ibv_wc *wc, const struct ofa_qp *qp)
{
    return (wc->status == IBV_WC_WR_FLUSH_ERR || wc->status == IBV_WC_RETRY_EXC_ERR) && qp->parks &&
           atomic_load_explicit(&qp->state, memory_order_relaxed) != IBV_QPS_ERR;
}

/* Sets how long a request without a peer is repeated. Called when the attributes change. */
void ofa_park_limit(struct ofa_qp *qp, uint8_t timeout, uint8_t retries);

/*
 * Called with any lock when a completion has moved the queue pair to ERR. The CQ of its receives
 * may be another one, whose lock cannot be taken here: the timer looks at it soon, for its event.
 */
void ofa_park_end(struct ofa_qp *qp);

void ofa_park_locked(struct ofa_cq *cq, const struct ofa_completion *completion);

/* Moves completions that need not wait any more to the stash; returns true if there were any. */
bool ofa_unpark_locked(struct ofa_cq *cq);

void ofa_park_forget_locked(struct ofa_cq *cq, const struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_QUEUE_OFA_PARK_H */
