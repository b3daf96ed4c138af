/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions when a QP has failed, is exchanged, or is destroyed. */

#include "vp/verbs/complete/verbs_complete.h"
#include "vp/verbs/memory/verbs_rmr.h"

#include <string.h>

static enum vp_queue source_side(const struct verbs_queue *queue)
{
    return queue->is_receive ? VP_RECEIVES : VP_REQUESTS;
}

static bool source_is_of(const struct ibv_wc *wc, const struct verbs_queue *queue)
{
    if (wc->wr_id & VERBS_SRQ_MARK)
        return false;
    return ((const struct verbs_slot *)(uintptr_t)wc->wr_id)->queue == queue;
}

void verbs_source_poll_all(struct verbs_cq *cq)
{
    size_t left;

    verbs_source_put_back(cq);
    left = (size_t)(cq->stash_end - cq->stash_first);
    memmove(cq->stash, cq->stash_first, left * sizeof(*cq->stash));
    cq->stash_first = cq->stash;
    cq->stash_end = cq->stash + left;
    while (cq->stash_end < cq->stash + cq->capacity && verbs_source_poll_batch(cq) > 0)
        continue;
}

/* Returns the number after the newest post that has a completion. */
static uint32_t source_completed(struct verbs_queue *queue)
{
    struct verbs_cq *cq = queue->cq;
    uint32_t end = queue->reaped;

    verbs_source_poll_all(cq);
    for (const struct ibv_wc *wc = cq->stash_first; wc != cq->stash_end; wc++)
        if (source_is_of(wc, queue))
            end = ((const struct verbs_slot *)(uintptr_t)wc->wr_id)->number + 1;
    return end;
}

bool verbs_source_request_failed(struct verbs_ep *ep)
{
    verbs_host->source_lock(ep->ual, VP_REQUESTS);
    verbs_source_poll_all(ep->sq.cq);
    verbs_host->source_unlock(ep->ual, VP_REQUESTS);
    return atomic_load_explicit(&ep->request_failed, memory_order_relaxed);
}

static void source_move(struct verbs_ep *ep, struct verbs_queue *queue)
{
    if (verbs_host->source_move(ep->ual, source_side(queue)))
        verbs_host->wake(ep->ual, source_side(queue));
}

void verbs_source_flush(struct verbs_ep *ep, struct verbs_queue *queue, bool lost)
{
    verbs_host->source_lock(ep->ual, source_side(queue));
    if (queue->is_receive)
        verbs_source_refuse_early_locked(ep);
    if (!(queue->special & VERBS_FLUSHES))
        queue->device_tail = queue->local_from;
    queue->special |= VERBS_FLUSHES;
    if (lost && !queue->drained)
        queue->device_tail = source_completed(queue);
    if (lost || (int32_t)(queue->reaped - queue->device_tail) >= 0)
        verbs_source_drained(queue);
    verbs_host->source_unlock(ep->ual, source_side(queue));
    source_move(ep, queue);
}

void verbs_source_renew(struct verbs_ep *ep, struct verbs_queue *queue)
{
    verbs_host->source_lock(ep->ual, source_side(queue));
    if (queue->drained)
        verbs_source_flush_rest(queue);
    queue->special = queue->is_receive && !ep->ud ? VERBS_EARLY : 0;
    queue->drained = false;
    queue->renewed = queue->tail;
    verbs_host->source_unlock(ep->ual, source_side(queue));
}

void verbs_source_post_local(struct verbs_ep *ep, struct verbs_queue *queue)
{
    verbs_host->source_lock(ep->ual, source_side(queue));
    if (queue->drained)
        verbs_source_flush_rest(queue);
    verbs_host->source_unlock(ep->ual, source_side(queue));
    source_move(ep, queue);
}

void verbs_source_reap(struct verbs_ep *ep, struct verbs_queue *queue)
{
    source_move(ep, queue);
    /*
     * Posts completed without an event while events before them were still queued: their slots are
     * free once those events have been dequeued.
     */
    verbs_host->source_lock(ep->ual, source_side(queue));
    if (atomic_load_explicit(&queue->retired, memory_order_acquire) == queue->moved &&
        queue->moved != queue->reaped) {
        queue->moved = queue->reaped;
        atomic_store_explicit(&queue->retired, queue->reaped, memory_order_release);
    }
    verbs_host->source_unlock(ep->ual, source_side(queue));
}

/* ---------------------------------------------------------------- names, leaving */

static void source_unname_locked(struct verbs_ep *ep)
{
    struct verbs_ep **link = verbs_source_by_qp(ep->recv_source, ep->qp_num);

    while (*link != ep)
        link = &(*link)->next_by_qp;
    *link = ep->next_by_qp;
}

/*
 * Relabels the completions of the old QP that have not been taken: they go on as the new QP's, but
 * do not wait for its connection.
 */
static void source_rename_locked(struct verbs_ep *ep, uint32_t number)
{
    struct verbs_cq *cq = ep->rq.cq;

    verbs_source_poll_all(cq);
    for (struct ibv_wc *wc = cq->stash_first; wc != cq->stash_end; wc++)
        if ((wc->wr_id & VERBS_SRQ_MARK) && wc->qp_num == ep->qp_num) {
            wc->wr_id |= VERBS_SRQ_LEFT;
            wc->qp_num = number;
        }
}

void verbs_source_name(struct verbs_ep *ep, const struct ibv_qp *qp)
{
    struct verbs_ep **link;

    if (!ep->srq)
        return;
    verbs_host->source_lock(ep->ual, VP_RECEIVES);
    if (ep->qp_num != 0) {
        source_unname_locked(ep);
        if (qp)
            source_rename_locked(ep, qp->qp_num);
    }
    ep->qp_num = qp ? qp->qp_num : 0;
    if (qp) {
        link = verbs_source_by_qp(ep->recv_source, ep->qp_num);
        ep->next_by_qp = *link;
        *link = ep;
    }
    verbs_host->source_unlock(ep->ual, VP_RECEIVES);
}

/* Drops a receive of an S-RQ whose completion would have been this EP's. */
static bool source_drop_shared(const struct ibv_wc *wc, const struct verbs_queue *queue)
{
    if (!(wc->wr_id & VERBS_SRQ_MARK) || !queue->is_receive || wc->qp_num != queue->ep->qp_num)
        return false;
    verbs_srq_return(verbs_srq_slot_of(wc));
    return true;
}

/* Drops completions that have not been taken, since the slots go away. */
static void source_forget(struct verbs_ep *ep, struct verbs_queue *queue)
{
    struct verbs_cq *cq = queue->cq;
    struct ibv_wc *kept;

    verbs_host->source_lock(ep->ual, source_side(queue));
    verbs_source_poll_all(cq);
    kept = cq->stash;
    for (const struct ibv_wc *wc = cq->stash; wc != cq->stash_end; wc++)
        if (!source_is_of(wc, queue) && !source_drop_shared(wc, queue))
            *kept++ = *wc;
    cq->stash_end = kept;
    verbs_host->source_unlock(ep->ual, source_side(queue));
}

void verbs_source_leave(struct verbs_ep *ep)
{
    source_forget(ep, &ep->sq);
    source_forget(ep, &ep->rq);
    verbs_link_drop_all(&ep->sq);
    verbs_source_name(ep, NULL);
    verbs_source_give_room(ep);
}
