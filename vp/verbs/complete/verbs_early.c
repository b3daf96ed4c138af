/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives that complete before their connection is reported. A device may be faster than rdma_cm,
 * but the consumer could not answer yet. So it gets them after IT_CM_MSG_CONN_ESTABLISHED_EVENT.
 * Until then their completions are held in front of the stash of their CQ, oldest first, and
 * completions of other EPs overtake them. When the connection of one EP is reported or ends, all
 * held completions are put back into the stash. The next thread that takes completions holds again
 * those that are still early.
 */
#include "vp/verbs/complete/verbs_complete.h"

#include <string.h>

bool verbs_source_is_early(const struct verbs_ep *ep, const struct ibv_wc *wc)
{
    const struct verbs_slot *slot;

    if (!(ep->rq.special & VERBS_EARLY))
        return false;
    if (wc->wr_id & VERBS_SRQ_MARK)
        return !(wc->wr_id & VERBS_SRQ_LEFT) && wc->qp_num == ep->qp_num;
    slot = (const struct verbs_slot *)(uintptr_t)wc->wr_id;
    return slot->queue == &ep->rq && (int32_t)(slot->number - ep->rq.renewed) >= 0;
}

void verbs_source_hold(struct verbs_ep *ep, const struct ibv_wc *wc)
{
    *ep->rq.cq->stash++ = *wc; /* the place that it has left, or one below */
    if (!ep->heard || wc->status != IBV_WC_SUCCESS || (ep->rq.special & VERBS_HEARD))
        return;
    ep->rq.special |= VERBS_HEARD;
    verbs_host->task_submit(ep->heard);
}

void verbs_source_put_back(struct verbs_cq *cq)
{
    size_t count = (size_t)(cq->stash - cq->held);

    cq->stash_first -= count;
    memmove(cq->stash_first, cq->held, count * sizeof(*cq->held));
    cq->stash = cq->held;
}

void verbs_source_refuse_early_locked(struct verbs_ep *ep)
{
    struct verbs_cq *cq = ep->rq.cq;

    if (!(ep->rq.special & VERBS_EARLY))
        return;
    verbs_source_poll_all(cq);
    for (struct ibv_wc *wc = cq->stash_first; wc != cq->stash_end; wc++)
        if (wc->status == IBV_WC_SUCCESS && verbs_source_is_early(ep, wc))
            wc->status = IBV_WC_WR_FLUSH_ERR;
    ep->rq.special &= (uint8_t) ~(VERBS_EARLY | VERBS_HEARD);
}

void verbs_source_refuse_early(struct verbs_ep *ep)
{
    verbs_host->source_lock(ep->ual, VP_RECEIVES);
    verbs_source_refuse_early_locked(ep);
    verbs_host->source_unlock(ep->ual, VP_RECEIVES);
}

void verbs_source_show_early(struct verbs_ep *ep)
{
    struct verbs_cq *cq = ep->rq.cq;
    bool found;

    verbs_host->source_lock(ep->ual, VP_RECEIVES);
    ep->rq.special &= (uint8_t) ~(VERBS_EARLY | VERBS_HEARD);
    verbs_source_put_back(cq);
    found = cq->stash_first != cq->stash_end;
    verbs_host->source_unlock(ep->ual, VP_RECEIVES);
    /* The device has already notified of these completions, and does not notify again. */
    if (found && verbs_host->source_move(ep->ual, VP_RECEIVES))
        verbs_host->wake(ep->ual, VP_RECEIVES);
}
