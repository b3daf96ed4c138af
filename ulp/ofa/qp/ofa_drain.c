/* SPDX-License-Identifier: BSD-2-Clause */
#include "qp/ofa_drain.h"

#include "post/ofa_post.h"
#include "queue/ofa_event.h"

#define LOOK_NS UINT64_C(1000000) /* between looks at the requests that have not ended */

static bool is_drained(struct ofa_qp *qp)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    if (qp->datagrams)
        return true;
    if (ofa_hold_is_due(qp) || itx_ep_stats(qp->send_ep, &counters) != IT_SUCCESS)
        return false;
    return (uint32_t)counters.requests_posted == (uint32_t)counters.requests_ended;
}

static void look(struct ofa_timer *timer)
{
    struct ofa_qp *qp = (struct ofa_qp *)(void *)((char *)timer - offsetof(struct ofa_qp, drained));

    if (atomic_load_explicit(&qp->state, memory_order_relaxed) != IBV_QPS_SQD)
        return;
    if (is_drained(qp))
        ofa_event_raise_qp(qp, IBV_EVENT_SQ_DRAINED);
    else
        ofa_timer_set(timer, ofa_clock_ns() + LOOK_NS);
}

void ofa_drain_init(struct ofa_qp *qp)
{
    qp->drained.callback = look;
}

void ofa_drain_begin(struct ofa_qp *qp, bool notify)
{
    if (!qp->datagrams)
        ofa_hold_pause(qp);
    if (notify)
        ofa_timer_set(&qp->drained, ofa_clock_ns());
}

void ofa_drain_end(struct ofa_qp *qp)
{
    ofa_timer_cancel(&qp->drained);
    ofa_hold_resume(qp);
}

void ofa_drain_close(struct ofa_qp *qp)
{
    ofa_timer_cancel(&qp->drained);
}
