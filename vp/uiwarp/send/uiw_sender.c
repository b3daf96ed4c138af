/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes posted requests and Reads of the peer, and sends as many FPDUs as fit into one sendmsg(2).
 * One thread at a time holds the send token. A thread that finds it held marks it, and the holder
 * looks at the queues again.
 */

#include "evd/deliver/evd_deliver.h"
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/queue/uiw_sq.h"
#include "vp/uiwarp/send/uiw_send.h"

#define SENDER_BUDGET_OCTETS ((uint64_t)128 * 1024)

/* ---------------------------------------------------------------- accounting */

/* Marks the local requests from index `from` up to the cursor as done: they were executed. */
static void sender_mark_local_locked(struct uiw_ep *ep, uint32_t from)
{
    base_lock_assert_held(&ep->ual->lock);
    if (uiw_sq_is_over(ep, from))
        from = uiw_queue_head(&ep->sq);
    for (; from != ep->tx.cursor.sq; from++) {
        if (uiw_sqe_is_local(uiw_sqe_at(ep, from)))
            uiw_sqe_at(ep, from)->done = UIW_DONE;
    }
}

/* Marks Sends and Writes whose last octet was sent as done. Reads wait for their response. */
static void sender_finish_requests(struct uiw_ep *ep, const struct uiw_batch *batch,
                                   unsigned complete, uint32_t from)
{
    bool any = batch->passed_local;
    bool wake = false;

    for (unsigned i = 0; i < complete; i++)
        any |= batch->fpdus[i].ends_request;
    if (!any)
        return;
    base_lock_take(&ep->ual->lock);
    for (unsigned i = 0; i < complete; i++) {
        uint32_t index = batch->fpdus[i].after.sq - 1;

        if (batch->fpdus[i].ends_request)
            uiw_sq_mark_sent_locked(ep, uiw_sqe_at(ep, index), index);
    }
    if (batch->passed_local)
        sender_mark_local_locked(ep, from);
    wake = uiw_sq_complete_locked(ep);
    base_lock_drop(&ep->ual->lock);
    if (wake)
        evd_wake(ep->ual->request_evd);
}

/*
 * Accounts for `sent` octets of the batch. The cursor moves behind the last FPDU that was sent, or
 * sent in part: the rest of that one is kept in a copy.
 */
static void sender_account(struct uiw_ep *ep, const struct uiw_batch *batch, uint32_t sent)
{
    uint32_t position = 0;
    uint32_t from = ep->tx.cursor.sq;
    unsigned complete = 0;

    while (complete < batch->fpdu_count && position < sent) {
        uint32_t end = position + batch->fpdus[complete].wire_length;

        if (end > sent && !uiw_out_keep(ep, batch->iov, batch->iov_count, end, sent))
            return;
        position = end;
        complete++;
    }
    if (complete == batch->fpdu_count)
        ep->tx.cursor = batch->cursor; /* may be behind local requests */
    else if (complete > 0)
        ep->tx.cursor = batch->fpdus[complete - 1].after;
    else
        return;
    uiw_count(&ep->tx.fpdus, complete);
    atomic_store_explicit(&ep->reads.irq_head, ep->tx.cursor.irq, memory_order_release);
    sender_finish_requests(ep, batch, complete, from);
}

/* ---------------------------------------------------------------- the loop */

static ssize_t sender_write_batch(struct uiw_ep *ep, struct uiw_batch *batch)
{
    unsigned first = batch->cut.iovs;
    ssize_t sent;
    ssize_t more;

    if (first == 0)
        return uiw_out_write(ep, batch->iov, batch->iov_count);
    sent = uiw_out_write(ep, batch->iov, first);
    uiw_frame_sum_cut(ep, batch);
    if (sent < 0 || (uint32_t)sent < batch->cut.octets)
        return sent;
    more = uiw_out_write(ep, batch->iov + first, batch->iov_count - first);
    return more < 0 ? more : sent + more;
}

static enum uiw_out_state sender_send_batch(struct uiw_ep *ep)
{
    struct uiw_batch batch;
    enum uiw_out_state state = UIW_OUT_MORE;
    ssize_t sent;

    uiw_batch_begin(&batch, &ep->tx.cursor);
    uiw_batch_fill(ep, &batch);
    if (batch.fpdu_count == 0) {
        sender_account(ep, &batch, 0);
        uiw_batch_end(ep, &batch);
        return batch.passed_local ? UIW_OUT_MORE : UIW_OUT_IDLE;
    }
    /*
     * A peer that gets the last octet of a response may send its next Read at once, so the slots
     * are freed before the octets are sent.
     */
    atomic_store_explicit(&ep->reads.irq_sent, batch.fpdus[batch.fpdu_count - 1].after.irq,
                          memory_order_release);
    atomic_store_explicit(&ep->tx.offered, batch.cursor.sq, memory_order_release);
    sent = sender_write_batch(ep, &batch);
    if (sent < 0) {
        uiw_out_kill(ep);
        state = UIW_OUT_DEAD;
    } else {
        if ((uint32_t)sent < batch.octets) {
            state = UIW_OUT_FULL;
            uiw_failure_forget(ep);
            if (batch.acknowledges && (uint32_t)sent <= batch.before_ack)
                uiw_own_untell(ep);
        }
        sender_account(ep, &batch, (uint32_t)sent);
    }
    uiw_batch_end(ep, &batch);
    if (state != UIW_OUT_MORE && !uiw_out_take_back(ep))
        state = UIW_OUT_DEAD;
    return state;
}

/*
 * Executes local requests at the cursor: they need neither room in the socket nor the peer. One
 * that completes may release the fence of the next one.
 */
static void sender_run_local(struct uiw_ep *ep)
{
    struct uiw_cursor *cursor = &ep->tx.cursor;
    bool wake = false;

    while (uiw_local_is_next(ep, cursor) && uiw_sender_may_run(ep)) {
        uint32_t from = cursor->sq;

        if (!uiw_local_run(ep, cursor, true))
            break;
        base_lock_take(&ep->ual->lock);
        sender_mark_local_locked(ep, from);
        wake |= uiw_sq_complete_locked(ep);
        base_lock_drop(&ep->ual->lock);
    }
    if (wake)
        evd_wake(ep->ual->request_evd);
}

void uiw_sender_run(struct uiw_ep *ep, bool writable, unsigned *budget)
{
    enum uiw_out_state state = UIW_OUT_IDLE;

    if (uiw_single_is_next(ep) && !atomic_load_explicit(&ep->tx.blocked, memory_order_relaxed) &&
        uiw_sender_may_send(ep)) {
        state = uiw_single_send(ep);
        if (state == UIW_OUT_IDLE)
            return;
        if (state == UIW_OUT_DEAD)
            uiw_out_kill(ep);
        if (state != UIW_OUT_MORE) {
            uiw_out_block(ep, state == UIW_OUT_FULL);
            return;
        }
    }
    sender_run_local(ep);
    if (atomic_load_explicit(&ep->tx.blocked, memory_order_relaxed) && !writable)
        return;
    if (uiw_sender_may_send(ep)) {
        state = uiw_out_send_image(ep);
        while (state == UIW_OUT_MORE && *budget > 0 && uiw_sender_may_send(ep)) {
            uint64_t before = ep->tx.position;
            uint64_t cost;

            if (!uiw_sender_has_work(ep)) {
                state = UIW_OUT_IDLE;
                break;
            }
            state = sender_send_batch(ep);
            cost = 1 + (ep->tx.position - before) / SENDER_BUDGET_OCTETS;
            *budget -= cost < *budget ? (unsigned)cost : *budget;
        }
        sender_run_local(ep);
    }
    if (state == UIW_OUT_FULL)
        uiw_count(&ep->tx.retries, 1);
    if (ep->fd >= 0)
        uiw_out_block(ep, state == UIW_OUT_FULL || (state == UIW_OUT_MORE && *budget == 0));
}

void uiw_sender_note_failure(const struct uiw_ep *ep, struct uiw_failure *failure)
{
    const struct uiw_tx *tx = &ep->tx;

    failure->generation = ep->generation;
    failure->status =
        (it_dto_status_t)atomic_load_explicit(&tx->failed_status, memory_order_acquire);
    failure->index = tx->failed_index;
    failure->error = (enum iw_error)atomic_load_explicit(&tx->failed_error, memory_order_acquire);
    failure->entry = *uiw_irq_at(&ep->reads, tx->cursor.irq);
    failure->answered = tx->cursor.irq_offset;
}
