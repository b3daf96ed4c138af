/* SPDX-License-Identifier: BSD-2-Clause */

#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/send/uiw_send.h"

/* Octets of one call. With CRC fewer: the summed payload is then in the cache when it is copied. */
#define BATCH_OCTETS     (1024u * 1024u)
#define BATCH_OCTETS_CRC (256u * 1024u)
#define BATCH_RESPONSES  4u /* in a row before a request gets its turn */

void uiw_batch_begin(struct uiw_batch *batch, const struct uiw_cursor *cursor)
{
    batch->cursor = *cursor;
    batch->known = cursor->sq;
    batch->fpdu_count = 0;
    batch->iov_count = 0;
    batch->pin_count = 0;
    batch->octets = 0;
    batch->scratch_used = 0;
    batch->full = false;
    batch->passed_local = false;
    batch->acknowledges = false;
    batch->cut.iovs = 0;
    batch->bounce_count = 0;
    batch->restless = false;
    batch->bounce_used = 0;
}

void uiw_batch_end(struct uiw_ep *ep, struct uiw_batch *batch)
{
    for (unsigned i = 0; i < batch->pin_count; i++)
        uiw_mr_unpin(batch->pins[i]);
    for (unsigned i = 0; i < batch->bounce_count; i++)
        uiw_bounce_put(&ep->ia->memory, batch->bounces[i]);
}

/* ---------------------------------------------------------------- room */

/* Returns the octets left of a message that this batch has begun. */
static uint32_t batch_rest(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    const struct uiw_cursor *cursor = &batch->cursor;

    if (cursor->sq_offset > 0)
        return uiw_sqe_at(ep, cursor->sq)->length - cursor->sq_offset;
    if (cursor->irq_offset > 0)
        return uiw_irq_at(&ep->reads, cursor->irq)->request.length - cursor->irq_offset;
    return 0;
}

/*
 * Returns true if a short Send follows the last message of the batch: upper layers tell by it that
 * a Write is there.
 */
static bool batch_meets_notice(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    uint32_t next = batch->cursor.sq;
    const struct uiw_sqe *sqe = uiw_sqe_at(ep, next);

    return batch->fpdu_count > 0 && batch->fpdus[batch->fpdu_count - 1].ends_request &&
           uiw_sqe_at(ep, next - 1)->opcode == VP_RDMA_WRITE &&
           next != atomic_load_explicit(&ep->sq_ready, memory_order_acquire) &&
           sqe->opcode == VP_SEND && sqe->length <= UIW_INLINE_MAX;
}

/*
 * Returns true if the batch may grow. It grows up to a number of octets, or up to an FPDU that is
 * sent in two calls (a cut). Two things may follow all the same, since the batch hardly grows by
 * them and each would otherwise cost a call of its own: the rest of a message that has begun, if it
 * is short enough to be copied (64 KiB are one FPDU and a few octets), and a short Send behind a
 * Write.
 */
static bool batch_has_octets(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    uint32_t octets = ep->agreed.crc ? BATCH_OCTETS_CRC : BATCH_OCTETS;
    uint32_t rest;

    if (batch->octets < octets && batch->cut.iovs == 0)
        return true;
    rest = batch_rest(ep, batch);
    return rest > 0 ? rest <= UIW_INLINE_MAX : batch_meets_notice(ep, batch);
}

static bool batch_has_places(const struct uiw_batch *batch)
{
    return !batch->full && batch->fpdu_count < UIW_BATCH_FPDUS &&
           batch->iov_count + UIW_MAX_SEGMENTS + 3 <= UIW_BATCH_IOVS &&
           batch->scratch_used + UIW_FPDU_SCRATCH <= UIW_BATCH_SCRATCH;
}

static bool batch_has_room(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    return batch_has_places(batch) && batch->pin_count + UIW_MAX_SEGMENTS <= UIW_BATCH_PINS &&
           batch_has_octets(ep, batch);
}

/* ---------------------------------------------------------------- request or response */

enum batch_turn {
    BATCH_NOTHING,
    BATCH_REQUEST,
    BATCH_RESPONSE
};

/*
 * Chooses what is next: a few responses in a row, then a request. Two tagged messages never
 * interleave, since some receivers accept the segments of a message only one after the other. So a
 * Write that has begun is finished before a response, and the other way round.
 */
static enum batch_turn batch_turn(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    const struct uiw_cursor *cursor = &batch->cursor;
    bool request = cursor->sq != batch->known;
    bool response = uiw_irq_waits(&ep->reads, cursor->irq);
    bool write = request && uiw_sqe_at(ep, cursor->sq)->opcode == VP_RDMA_WRITE;

    if (!request || !response)
        return request ? BATCH_REQUEST : response ? BATCH_RESPONSE : BATCH_NOTHING;
    if (write && cursor->sq_offset > 0)
        return BATCH_REQUEST;
    if (write && cursor->irq_offset > 0)
        return BATCH_RESPONSE;
    return ep->tx.responses < BATCH_RESPONSES ? BATCH_RESPONSE : BATCH_REQUEST;
}

/* Builds one FPDU. If that fails, the batch is as before. */
static bool batch_try(struct uiw_ep *ep, struct uiw_batch *batch, enum batch_turn turn)
{
    struct uiw_cursor cursor = batch->cursor;
    uint32_t scratch_used = batch->scratch_used;
    unsigned iov_count = batch->iov_count;
    size_t last_length = iov_count ? batch->iov[iov_count - 1].iov_len : 0;

    if (turn == BATCH_RESPONSE ? uiw_response_add(ep, batch) : uiw_request_add(ep, batch)) {
        ep->tx.responses = turn == BATCH_RESPONSE ? ep->tx.responses + 1 : 0;
        return true;
    }
    batch->cursor = cursor;
    batch->scratch_used = scratch_used;
    batch->iov_count = iov_count;
    if (iov_count)
        batch->iov[iov_count - 1].iov_len = last_length;
    return false;
}

/* Returns false if the batch has no room for another FPDU. */
static __attribute__((noinline)) bool batch_acknowledge(struct uiw_ep *ep, struct uiw_batch *batch)
{
    struct uiw_frame frame;
    size_t header = iw_encode_tagged(uiw_frame_scratch(batch), IW_OP_WRITE, true, IW_OWN_STAG,
                                     uiw_own_tell(ep), 0);

    batch->acknowledges = true;
    batch->before_ack = batch->octets;
    uiw_frame_open(batch, &frame, header, 0);
    (void)uiw_frame_close(ep, batch, &frame, false); /* without markers: cannot fail */
    return batch_has_places(batch);
}

/*
 * Looks for posted requests. One of them may answer a message whose acknowledgement is due; that
 * leaves first, so that the peer's request completes before the answer arrives. Returns false if
 * the batch has no room for another FPDU.
 */
static bool batch_look(struct uiw_ep *ep, struct uiw_batch *batch)
{
    batch->known = atomic_load_explicit(&ep->sq_ready, memory_order_acquire);
    if (__builtin_expect(!atomic_load_explicit(&ep->own.ack_is_due, memory_order_relaxed), true))
        return true;
    return batch_acknowledge(ep, batch);
}

/*
 * Adds an FPDU, of a request or of a response. Local requests at the cursor are executed first,
 * since they send nothing. They may move the cursor beyond the posts known so far, so the
 * comparison with these allows for that. A response overtakes a request that may not start yet
 * (fence, ORD), but not one that only lacks room: it would get between the segments of a Write.
 */
static bool batch_add(struct uiw_ep *ep, struct uiw_batch *batch)
{
    enum batch_turn turn;

    if (uiw_local_is_next(ep, &batch->cursor) &&
        uiw_local_run(ep, &batch->cursor, batch->fpdu_count == 0))
        batch->passed_local = true;
    if ((int32_t)(batch->known - batch->cursor.sq) <= 0 && !batch_look(ep, batch))
        return false;
    turn = batch_turn(ep, batch);
    if (turn == BATCH_NOTHING)
        return false;
    if (batch_try(ep, batch, turn))
        return true;
    if (turn != BATCH_REQUEST || batch->full || uiw_has_failed(ep) ||
        !uiw_irq_waits(&ep->reads, batch->cursor.irq))
        return false;
    return batch_try(ep, batch, BATCH_RESPONSE);
}

void uiw_batch_fill(struct uiw_ep *ep, struct uiw_batch *batch)
{
    while (batch_has_room(ep, batch) && batch_add(ep, batch)) {
    }
}
