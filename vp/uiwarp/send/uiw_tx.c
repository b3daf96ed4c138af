/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sender: takes requests of ours and Reads of the peer, and fills the socket with as many FPDUs
 * as fit into one sendmsg(2). One thread at a time, whoever finds the send token free; the others
 * only mark that there is more to do.
 */
#include "vp/uiwarp/send/uiw_tx.h"

#include "base/base_call.h"
#include "evd/deliver/evd_deliver.h"
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_marker.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/stream/uiw_log.h"

#include <errno.h>
#include <string.h>

/*
 * What one call may send before the thread goes back to its own business: a batch costs one, and one
 * more for each 128 KiB. A millisecond at the most; a quarter where other streams wait for their turn.
 */
#define TX_BUDGET        32u
#define TX_BUDGET_SHARED 8u
#define TX_BUDGET_OCTETS ((uint64_t)128 * 1024)

/* ---------------------------------------------------------------- token */

/*
 * True: the token is ours. False: its holder will look again before it lets go, and sees what was
 * published before this call. That takes a read-modify-write even when the mark is there already,
 * so that the holder's exchange synchronizes with every marker.
 */
static bool tx_try(struct uiw_tx *tx)
{
    int seen = UIW_TOKEN_FREE;

    for (;;) {
        int wanted = seen == UIW_TOKEN_FREE ? UIW_TOKEN_HELD : UIW_TOKEN_AGAIN;

        if (atomic_compare_exchange_weak_explicit(&tx->token, &seen, wanted, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return wanted == UIW_TOKEN_HELD;
    }
}

/* False: there is more to do, the token is still ours. */
static bool tx_release(struct uiw_tx *tx)
{
    int expected = UIW_TOKEN_HELD;

    if (atomic_compare_exchange_strong_explicit(&tx->token, &expected, UIW_TOKEN_FREE,
                                                memory_order_release, memory_order_relaxed))
        return true;
    (void)atomic_exchange_explicit(&tx->token, UIW_TOKEN_HELD, memory_order_acq_rel);
    return false;
}

bool uiw_tx_try(struct uiw_ep *ep)
{
    int expected = UIW_TOKEN_FREE;

    return atomic_compare_exchange_strong_explicit(&ep->tx.token, &expected, UIW_TOKEN_HELD,
                                                   memory_order_acquire, memory_order_relaxed);
}

void uiw_tx_take(struct uiw_ep *ep)
{
    int expected = UIW_TOKEN_FREE;

    while (!atomic_compare_exchange_weak_explicit(&ep->tx.token, &expected, UIW_TOKEN_HELD,
                                                  memory_order_acquire, memory_order_relaxed)) {
        expected = UIW_TOKEN_FREE;
        sched_yield();
    }
}

void uiw_tx_drop(struct uiw_ep *ep)
{
    /* Takes a mark off as well: whoever drops the token knows that somebody will look again. */
    (void)atomic_exchange_explicit(&ep->tx.token, UIW_TOKEN_FREE, memory_order_acq_rel);
}

/* ---------------------------------------------------------------- the image in front */

static void tx_image_free(struct uiw_ep *ep)
{
    if (ep->tx.image.buffer)
        uiw_bounce_put(ep->ia, ep->tx.image.buffer);
    ep->tx.image.buffer = NULL;
    ep->tx.image.start = 0;
    ep->tx.image.end = 0;
}

bool uiw_tx_prepend(struct uiw_ep *ep, const void *octets, size_t length)
{
    struct uiw_image *image = &ep->tx.image;

    if (!image->buffer) {
        image->buffer = uiw_bounce_get(ep->ia);
        image->start = 0;
        image->end = 0;
    }
    if (!image->buffer || length > UIW_BOUNCE_SIZE - image->end)
        return false;
    memcpy(image->buffer->octets + image->end, octets, length);
    image->end += (uint32_t)length;
    return true;
}

bool uiw_tx_prepend_fpdu(struct uiw_ep *ep, const uint8_t *fpdu, size_t length)
{
    uint8_t wire[128 + 8 * 4 + IW_CRC_FIELD];
    const struct uiw_image *image = &ep->tx.image;
    uint32_t crc;

    if (ep->agreed.send_markers) {
        uint64_t position = ep->tx.position + (image->end - image->start);

        return uiw_tx_prepend(ep, wire,
                              iw_marker_insert(position, fpdu, length, ep->agreed.crc, wire));
    }
    crc = ep->agreed.crc ? iw_crc_final(iw_crc_update(IW_CRC_INIT, fpdu, length)) : 0;
    return uiw_tx_prepend(ep, fpdu, length) &&
           uiw_tx_prepend(ep, wire, iw_encode_trailer(wire, 0, crc));
}

void uiw_tx_reset(struct uiw_ep *ep)
{
    struct uiw_tx *tx = &ep->tx;

    tx_image_free(ep);
    tx->cursor = (struct uiw_cursor){0};
    tx->cursor.sq = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    atomic_store_explicit(&ep->sq_ready, tx->cursor.sq, memory_order_relaxed);
    tx->position = 0;
    tx->next_send_msn = 1;
    tx->next_read_msn = 1;
    tx->responses = 0;
    tx->failed_index = 0;
    atomic_store_explicit(&tx->failed_error, IW_OK, memory_order_relaxed);
    atomic_store_explicit(&tx->failed_stream, false, memory_order_relaxed);
    atomic_store_explicit(&tx->failed_status, IT_DTO_SUCCESS, memory_order_relaxed);
    atomic_store_explicit(&tx->hold, false, memory_order_relaxed);
    atomic_store_explicit(&tx->blocked, false, memory_order_relaxed);
    atomic_store_explicit(&tx->dead, false, memory_order_relaxed);
}

/* ---------------------------------------------------------------- one system call */

static bool tx_retry_later(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ENOMEM;
}

/* What the reader will meet, too. Anything else is our own failure, and the stream may live on. */
static bool tx_is_end_of_stream(int error)
{
    return error == EPIPE || error == ECONNRESET || error == ECONNABORTED || error == ENOTCONN ||
           error == ESHUTDOWN || error == ETIMEDOUT || error == EHOSTUNREACH ||
           error == ENETUNREACH;
}

ssize_t uiw_tx_write(struct uiw_ep *ep, struct iovec *iov, unsigned count)
{
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = count};
    ssize_t sent;

    do {
        /* One piece is the common case of small messages, and send(2) the cheaper call for it. */
        sent = count == 1
                   ? base_send(ep->fd, iov->iov_base, iov->iov_len, MSG_DONTWAIT | MSG_NOSIGNAL)
                   : base_sendmsg(ep->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    uiw_count(&ep->tx.calls, 1);
    if (sent < 0 && tx_retry_later(errno))
        return 0;
    if (sent < 0) {
        if (!tx_is_end_of_stream(errno))
            atomic_store_explicit(&ep->tx.failed_stream, true, memory_order_release);
        return -1;
    }
    ep->tx.position += (uint64_t)sent;
    uiw_count(&ep->tx.octets, (uint64_t)sent);
    return sent;
}

/*
 * The socket is full, or the budget used up: the leader is to call us when it takes octets. Armed
 * before the caller returns; level triggered, so nothing is lost when that is true already.
 */
static void tx_block(struct uiw_ep *ep, bool blocked)
{
    if (atomic_load_explicit(&ep->tx.blocked, memory_order_relaxed) == blocked)
        return;
    atomic_store_explicit(&ep->tx.blocked, blocked, memory_order_relaxed);
    if (!uiw_progress_want(ep->ia->ual, ep->ual, ep->fd, blocked))
        atomic_store_explicit(&ep->tx.failed_stream, true, memory_order_release);
}

/*
 * The stream is beyond sending. Reading goes on: what the peer said last, perhaps a Terminate, is
 * still there, and the end of the stream will be seen by the reader.
 */
static void tx_kill(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->tx.dead, true, memory_order_relaxed);
    tx_image_free(ep);
}

static enum uiw_tx_state tx_send_image(struct uiw_ep *ep)
{
    struct uiw_image *image = &ep->tx.image;

    while (image->start != image->end) {
        struct iovec iov = {image->buffer->octets + image->start, image->end - image->start};
        ssize_t sent = uiw_tx_write(ep, &iov, 1);

        if (sent < 0) {
            tx_kill(ep);
            return UIW_TX_DEAD;
        }
        if (sent == 0)
            return UIW_TX_FULL;
        image->start += (uint32_t)sent;
    }
    tx_image_free(ep);
    return UIW_TX_MORE;
}

/* ---------------------------------------------------------------- accounting */

/* The local requests from index `from` up to the cursor have been executed. */
static void tx_mark_local_locked(struct uiw_ep *ep, uint32_t from)
{
    base_lock_assert_held(&ep->ual->lock);
    for (; from != ep->tx.cursor.sq; from++) {
        if (uiw_sqe_is_local(uiw_sqe_at(ep, from)))
            uiw_sqe_at(ep, from)->done = true;
    }
}

/* Requests whose last octet has been taken are executed; Reads wait for their response. */
static void tx_finish_requests(struct uiw_ep *ep, const struct uiw_batch *batch, unsigned complete,
                               uint32_t from)
{
    bool any = batch->passed_local;
    bool wake = false;

    for (unsigned i = 0; i < complete; i++)
        any |= batch->fpdus[i].ends_request;
    if (!any)
        return;
    base_lock_take(&ep->ual->lock);
    for (unsigned i = 0; i < complete; i++) {
        if (batch->fpdus[i].ends_request)
            uiw_sqe_at(ep, batch->fpdus[i].after.sq - 1)->done = true;
    }
    if (batch->passed_local)
        tx_mark_local_locked(ep, from);
    wake = uiw_sq_complete_locked(ep);
    base_lock_drop(&ep->ual->lock);
    if (wake)
        evd_wake(ep->ual->request_evd);
}

/*
 * The FPDU that ends at position fpdu_end of the batch was cut behind `sent` octets. It goes on
 * from a copy, since its source may change or vanish meanwhile.
 */
static bool tx_keep_rest(struct uiw_ep *ep, const struct uiw_batch *batch, uint32_t fpdu_end,
                         uint32_t sent)
{
    uint32_t position = 0;

    for (unsigned i = 0; i < batch->iov_count && position < fpdu_end; i++) {
        uint32_t length = (uint32_t)batch->iov[i].iov_len;
        uint32_t from = sent > position ? sent - position : 0;
        uint32_t to = fpdu_end - position < length ? fpdu_end - position : length;

        if (from < to &&
            !uiw_tx_prepend(ep, (const uint8_t *)batch->iov[i].iov_base + from, to - from))
            return false;
        position += length;
    }
    return true;
}

/*
 * `sent` octets of the batch are gone. The cursor moves behind the last FPDU that went or at least
 * began to go: the rest of that one is kept apart.
 */
static void tx_account(struct uiw_ep *ep, const struct uiw_batch *batch, uint32_t sent)
{
    uint32_t position = 0;
    uint32_t from = ep->tx.cursor.sq;
    unsigned complete = 0;

    while (complete < batch->fpdu_count && position < sent) {
        uint32_t end = position + batch->fpdus[complete].wire_length;

        if (end > sent && !tx_keep_rest(ep, batch, end, sent)) {
            /* Half an FPDU cannot be taken back. */
            atomic_store_explicit(&ep->tx.failed_stream, true, memory_order_release);
            tx_kill(ep);
            return;
        }
        position = end;
        complete++;
    }
    if (complete == batch->fpdu_count)
        ep->tx.cursor = batch->cursor; /* behind local requests, too */
    else if (complete > 0)
        ep->tx.cursor = batch->fpdus[complete - 1].after;
    else
        return;
    uiw_count(&ep->tx.fpdus, complete);
    atomic_store_explicit(&ep->irq_head, ep->tx.cursor.irq, memory_order_release);
    tx_finish_requests(ep, batch, complete, from);
}

/* ---------------------------------------------------------------- the loop */

/* What can not be executed lies ahead of what could not be sent yet: it is found again in its turn. */
static void tx_forget_failure(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->tx.failed_status, IT_DTO_SUCCESS, memory_order_relaxed);
    atomic_store_explicit(&ep->tx.failed_error, IW_OK, memory_order_relaxed);
}

static ssize_t tx_write_batch(struct uiw_ep *ep, struct uiw_batch *batch)
{
    unsigned first = batch->cut.iovs;
    ssize_t sent;
    ssize_t more;

    if (first == 0)
        return uiw_tx_write(ep, batch->iov, batch->iov_count);
    sent = uiw_tx_write(ep, batch->iov, first);
    uiw_batch_sum_cut(ep, batch);
    if (sent < 0 || (uint32_t)sent < batch->cut.octets)
        return sent;
    more = uiw_tx_write(ep, batch->iov + first, batch->iov_count - first);
    return more < 0 ? more : sent + more;
}

static enum uiw_tx_state tx_send_batch(struct uiw_ep *ep)
{
    struct uiw_batch batch;
    enum uiw_tx_state state = UIW_TX_MORE;
    ssize_t sent;

    uiw_batch_begin(&batch, &ep->tx.cursor);
    uiw_batch_fill(ep, &batch);
    if (batch.fpdu_count == 0) {
        tx_account(ep, &batch, 0);
        uiw_batch_end(ep, &batch);
        return batch.passed_local ? UIW_TX_MORE : UIW_TX_IDLE;
    }
    /* The peer may send its next Read as soon as it has this octet: give the slots back first. */
    atomic_store_explicit(&ep->irq_sent, batch.fpdus[batch.fpdu_count - 1].after.irq,
                          memory_order_release);
    sent = tx_write_batch(ep, &batch);
    if (sent < 0) {
        tx_kill(ep);
        state = UIW_TX_DEAD;
    } else {
        if ((uint32_t)sent < batch.octets) {
            state = UIW_TX_FULL;
            tx_forget_failure(ep);
        }
        tx_account(ep, &batch, (uint32_t)sent);
    }
    uiw_batch_end(ep, &batch);
    return state;
}

static bool tx_has_failed(const struct uiw_ep *ep)
{
    return atomic_load_explicit(&ep->tx.failed_status, memory_order_acquire) != IT_DTO_SUCCESS ||
           atomic_load_explicit(&ep->tx.failed_error, memory_order_acquire) != IW_OK ||
           atomic_load_explicit(&ep->tx.failed_stream, memory_order_acquire);
}

/* An EP that leaves CONNECTED executes nothing more: whoever ends it waits for the token. */
static bool tx_may_run(const struct uiw_ep *ep)
{
    return ep->fd >= 0 && ual_ep_state(ep->ual) == IT_EP_STATE_CONNECTED &&
           !atomic_load_explicit(&ep->tx.dead, memory_order_acquire) && !tx_has_failed(ep);
}

static bool tx_may_send(const struct uiw_ep *ep)
{
    return tx_may_run(ep) && !atomic_load_explicit(&ep->tx.hold, memory_order_acquire);
}

/*
 * Local requests whose turn it is wait neither for room in the socket nor for the peer. One that
 * completes may be what the fence of the next one has waited for.
 */
static void tx_run_local(struct uiw_ep *ep)
{
    struct uiw_cursor cursor = ep->tx.cursor;
    uint32_t from = cursor.sq;
    bool wake = false;

    while (uiw_at_local(ep, &cursor) && tx_may_run(ep) && uiw_local_run(ep, &cursor, true)) {
        ep->tx.cursor = cursor;
        base_lock_take(&ep->ual->lock);
        tx_mark_local_locked(ep, from);
        wake |= uiw_sq_complete_locked(ep);
        base_lock_drop(&ep->ual->lock);
        from = cursor.sq;
    }
    if (wake)
        evd_wake(ep->ual->request_evd);
}

/*
 * Sender. While the socket is full only the leader that saw it writable tries again, and in the same
 * way goes on what the budget was not enough for.
 */
static void tx_run(struct uiw_ep *ep, bool writable, unsigned *budget)
{
    enum uiw_tx_state state = UIW_TX_IDLE;

    if (uiw_quick_is_next(ep) && !atomic_load_explicit(&ep->tx.blocked, memory_order_relaxed) &&
        tx_may_send(ep)) {
        state = uiw_quick_send(ep);
        if (state == UIW_TX_IDLE)
            return;
        if (state == UIW_TX_DEAD)
            tx_kill(ep);
        if (state != UIW_TX_MORE) {
            tx_block(ep, state == UIW_TX_FULL);
            return;
        }
    }
    tx_run_local(ep);
    if (atomic_load_explicit(&ep->tx.blocked, memory_order_relaxed) && !writable)
        return;
    if (tx_may_send(ep)) {
        state = tx_send_image(ep);
        while (state == UIW_TX_MORE && *budget > 0 && tx_may_send(ep)) {
            uint64_t before = ep->tx.position;
            uint64_t cost;

            state = tx_send_batch(ep);
            cost = 1 + (ep->tx.position - before) / TX_BUDGET_OCTETS;
            *budget -= cost < *budget ? (unsigned)cost : *budget;
        }
        tx_run_local(ep);
    }
    if (state == UIW_TX_FULL)
        uiw_count(&ep->tx.retries, 1);
    if (ep->fd >= 0)
        tx_block(ep, state == UIW_TX_FULL || (state == UIW_TX_MORE && *budget == 0));
}

/* ---------------------------------------------------------------- what breaks the connection */

/* Why the sender stopped, noted while the token is held: afterwards the EP may be used anew. */
struct tx_failure {
    uint32_t generation;
    it_dto_status_t status; /* of request `index` */
    uint32_t index;
    enum iw_error error; /* of the response to `entry`, of which `answered` octets have left */
    struct uiw_irq_entry entry;
    uint32_t answered;
};

static void tx_note_failure(const struct uiw_ep *ep, struct tx_failure *failure)
{
    const struct uiw_tx *tx = &ep->tx;

    failure->generation = ep->generation;
    failure->status =
        (it_dto_status_t)atomic_load_explicit(&tx->failed_status, memory_order_acquire);
    failure->index = tx->failed_index;
    failure->error = (enum iw_error)atomic_load_explicit(&tx->failed_error, memory_order_acquire);
    failure->entry = ep->irq[tx->cursor.irq & ep->irq_mask];
    failure->answered = tx->cursor.irq_offset;
}

static it_event_type_t tx_async_of(it_dto_status_t status)
{
    if (status == IT_DTO_ERR_LOCAL_EP)
        return IT_ASYNC_AFF_EP_FAILURE;
    /* Of the remote errors only a key that no peer has is found out here. */
    return status == IT_DTO_ERR_REMOTE_ACCESS ? IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION
                                              : IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION;
}

/* A request that could not be executed (rule P6). */
static void tx_end_for_request(struct ual_ep *ual, const struct tx_failure *failure, bool reader)
{
    struct iw_terminate terminate;
    struct uiw_end end = {
        .step = UAL_EP_BROKEN,
        .generation = failure->generation,
        .async = tx_async_of(failure->status),
        .terminate = &terminate,
        .has_failed_request = true,
        .failed_index = failure->index,
        .failed_status = failure->status,
        .recv_status = IT_DTO_ERR_FLUSHED,
    };

    iw_terminate_fill(&terminate, IW_ERR_RDMAP_LOCAL, NULL, 0, 0);
    uiw_ep_end(ual, &end, reader);
}

/*
 * A Read of the peer whose source went away while it was answered. The Terminate tells what is left
 * of it (RFC 5040 4.8).
 */
static void tx_end_for_response(struct ual_ep *ual, const struct tx_failure *failure, bool reader)
{
    struct iw_read_request rest = failure->entry.request;
    uint8_t header[IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + IW_READ_REQUEST_HEADER];
    size_t length;
    struct iw_terminate terminate;
    struct uiw_end end = {.step = UAL_EP_BROKEN,
                          .generation = failure->generation,
                          .async = IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION,
                          .terminate = &terminate,
                          .recv_status = IT_DTO_ERR_FLUSHED};

    uiw_log_gone(ual, failure->error);
    rest.sink_to += failure->answered;
    rest.source_to += failure->answered;
    rest.length -= failure->answered;
    length = iw_encode_untagged(header, IW_OP_READ_REQUEST, true, 0, IW_QN_READ_REQUEST,
                                failure->entry.msn, 0, IW_READ_REQUEST_HEADER);
    length += iw_encode_read_request(header + length, &rest);
    iw_terminate_fill(&terminate, failure->error, header + IW_LENGTH_FIELD,
                      length - IW_LENGTH_FIELD, (uint32_t)(length - IW_LENGTH_FIELD));
    uiw_ep_end(ual, &end, reader);
}

/* The send token is not held. A stream that failed without a request or a Read to blame: no memory,
 * memory that is gone, an event that was lost. */
static void tx_act_on_failure(struct ual_ep *ual, const struct tx_failure *failure, bool reader)
{
    struct iw_terminate terminate;
    struct uiw_end end = {.step = UAL_EP_BROKEN,
                          .generation = failure->generation,
                          .async = IT_ASYNC_AFF_EP_FAILURE,
                          .terminate = &terminate,
                          .recv_status = IT_DTO_ERR_FLUSHED};

    iw_terminate_fill(&terminate, IW_ERR_RDMAP_LOCAL, NULL, 0, 0);
    if (failure->status != IT_DTO_SUCCESS)
        tx_end_for_request(ual, failure, reader);
    else if (failure->error != IW_OK)
        tx_end_for_response(ual, failure, reader);
    else
        uiw_ep_end(ual, &end, reader);
}

static void tx_send(struct ual_ep *ual, bool reader, bool writable, unsigned budget)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct tx_failure failure;
    bool failed;

    if (!tx_try(&ep->tx))
        return;
    do {
        tx_run(ep, writable, &budget);
        failed = tx_has_failed(ep) || atomic_load_explicit(&ep->lost_event, memory_order_acquire);
        if (failed)
            tx_note_failure(ep, &failure);
    } while (!tx_release(&ep->tx));
    if (failed)
        tx_act_on_failure(ual, &failure, reader);
}

void uiw_tx_kick(struct ual_ep *ual, bool reader)
{
    tx_send(ual, reader, false, TX_BUDGET);
}

void uiw_tx_turn(struct ual_ep *ual, bool reader, bool writable, bool shared)
{
    tx_send(ual, reader, writable, shared ? TX_BUDGET_SHARED : TX_BUDGET);
}

/* Between two FPDUs of one message it has no place. */
static bool tx_is_idle(const struct uiw_ep *ep)
{
    const struct uiw_tx *tx = &ep->tx;

    return tx->image.start == tx->image.end &&
           tx->cursor.sq == atomic_load_explicit(&ep->sq_ready, memory_order_acquire) &&
           tx->cursor.irq == atomic_load_explicit(&ep->irq_tail, memory_order_acquire);
}

void uiw_tx_nudge(struct ual_ep *ual, const uint8_t *fpdu, size_t length)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    if (!tx_try(&ep->tx))
        return;
    if (tx_may_send(ep) && tx_is_idle(ep) && uiw_tx_prepend_fpdu(ep, fpdu, length))
        uiw_count(&ep->tx.nudges, 1);
    uiw_tx_drop(ep);
    uiw_tx_kick(ual, false);
}
