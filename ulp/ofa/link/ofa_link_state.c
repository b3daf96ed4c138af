/* SPDX-License-Identifier: BSD-2-Clause */
/* Link up and link down. */
#include "link/ofa_link.h"
#include "link/ofa_silence.h"
#include "post/ofa_post.h"
#include "queue/ofa_event.h"

#include <string.h>

void ofa_link_up_locked(struct ofa_qp *qp)
{
    qp->link.state = OFA_LINK_UP;
    if (qp->link.moves && atomic_load_explicit(&qp->state, memory_order_relaxed) != IBV_QPS_ERR)
        atomic_store_explicit(&qp->state, IBV_QPS_RTS, memory_order_relaxed);
    memset(&qp->silence, 0, sizeof(qp->silence));
    ofa_silence_watch(qp);
    ofa_hold_release(qp);
}

void ofa_link_down_locked(struct ofa_qp *qp, enum ibv_wc_status status)
{
    qp->link.state = OFA_LINK_DOWN;
    /* In ERR the program has ended the connection, so posted work is flushed. */
    if (atomic_load_explicit(&qp->state, memory_order_relaxed) == IBV_QPS_ERR)
        status = IBV_WC_WR_FLUSH_ERR;
    if (!qp->parks)
        ofa_event_enter_error(qp);
    ofa_hold_flush(qp, status);
}
