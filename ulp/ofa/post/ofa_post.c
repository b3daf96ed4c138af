/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_post_send: requests go to the EP, or wait for it. */
#include "post/ofa_post.h"

#include <errno.h>

int ofa_post_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    switch (atomic_load_explicit(&qp->state, memory_order_relaxed)) {
    case IBV_QPS_RESET:
    case IBV_QPS_INIT:
    case IBV_QPS_RTR:
        return EINVAL;
    default:
        return qp->holding ? ofa_hold_locked(qp, wr) : ofa_request_locked(qp, wr);
    }
}

int ofa_post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct ofa_qp *qp = ofa_qp_of(base);
    int error = 0;

    ofa_spin_take(&qp->post_lock);
    for (; wr; wr = wr->next) {
        error = ofa_post_locked(qp, wr);
        if (error != 0) {
            *bad = wr;
            break;
        }
    }
    ofa_spin_drop(&qp->post_lock);
    return error;
}
