/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair of InfiniBand does not notice that its peer has gone: its receives stay where they
 * are, and a request fails after the time that the program has set for retries. The EP of IT-API
 * flushes both at once. So they are parked in their CQ: a request until that time is over, a
 * receive until the queue pair is in ERR, if ever. With ofa_cq.lock.
 */
#ifndef ITAPI_ULP_OFA_QUEUE_OFA_PARK_H
#define ITAPI_ULP_OFA_QUEUE_OFA_PARK_H

#include "object/ofa_object.h"

/* Whether a completion says no more than that the peer has gone, and is to wait. */
static inline bool ofa_park_wants(const struct ibv_wc *wc, const struct ofa_qp *qp)
{
    return (wc->status == IBV_WC_WR_FLUSH_ERR || wc->status == IBV_WC_RETRY_EXC_ERR) && qp->parks &&
           atomic_load_explicit(&qp->state, memory_order_relaxed) != IBV_QPS_ERR;
}

/*
 * The queue pair has come to ERR by a completion in another CQ than that of its receives, whose
 * lock cannot be taken now: that CQ is looked at soon, for the sake of its event. Any lock.
 */
void ofa_park_end(struct ofa_qp *qp);

void ofa_park_locked(struct ofa_cq *cq, const struct ofa_completion *completion);

/* Moves what need not wait any more to the stash; true if there was something. */
bool ofa_unpark_locked(struct ofa_cq *cq);

void ofa_park_forget_locked(struct ofa_cq *cq, const struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_QUEUE_OFA_PARK_H */
