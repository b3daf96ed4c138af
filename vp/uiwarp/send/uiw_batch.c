/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the FPDUs of one system call: headers and trailers in the batch's scratch memory, payload
 * where the consumer has it. Nothing is committed here but the MSN of a message that starts.
 */
#include "vp/uiwarp/send/uiw_batch.h"

#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_marker.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_sq.h"
#include "vp/uiwarp/send/uiw_local.h"

#include <string.h>

/* In one call; with CRC so much that the payload is still in the cache when it is copied. */
#define BATCH_OCTETS     (1024u * 1024u)
#define BATCH_OCTETS_CRC (256u * 1024u)
#define BATCH_RESPONSES  4u /* in a row before a request gets its turn */
/* Payload of the second part of an FPDU in two: what the peer has to take in when all has been sent. */
#define BATCH_LAST_PART 24576u
_Static_assert(BATCH_LAST_PART < UIW_PARTS_MIN, "there is a first part");
/* Scratch that every FPDU has: header, the header of a request's own (a Read's), trailer. */
#define FPDU_SCRATCH    (IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + FPDU_OWN_HEADER + IW_TRAILER_MAX + 1)
#define FPDU_OWN_HEADER 64u
_Static_assert(FPDU_OWN_HEADER >= IW_READ_REQUEST_HEADER &&
                   FPDU_OWN_HEADER >= IW_ATOMIC_REQUEST_HEADER,
               "it fits");

/* The FPDU being built. */
struct batch_fpdu {
    uint8_t *header;
    size_t header_length; /* a Read Request's 28 octets included */
    uint32_t ulpdu_length;
    uint32_t payload_length; /* behind the header */
    unsigned iov_first;      /* payload that is not copied */
    bool copied;             /* payload stands behind the header */
    bool summed;             /* crc covers header and payload already */
    bool cut;                /* it goes in two parts */
    uint32_t crc;
};

void uiw_batch_begin(struct uiw_batch *batch, const struct uiw_cursor *cursor)
{
    batch->cursor = *cursor;
    batch->fpdu_count = 0;
    batch->iov_count = 0;
    batch->pin_count = 0;
    batch->octets = 0;
    batch->scratch_used = 0;
    batch->full = false;
    batch->passed_local = false;
    batch->cut.iovs = 0;
    batch->bounce_count = 0;
    batch->bounce_used = 0;
}

void uiw_batch_end(struct uiw_ep *ep, struct uiw_batch *batch)
{
    for (unsigned i = 0; i < batch->pin_count; i++)
        uiw_mr_unpin(batch->pins[i]);
    for (unsigned i = 0; i < batch->bounce_count; i++)
        uiw_bounce_put(&ep->ia->memory, batch->bounces[i]);
}

/* What is left of a message that this call has begun to send. */
static uint32_t batch_rest(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    const struct uiw_cursor *cursor = &batch->cursor;

    if (cursor->sq_offset > 0)
        return uiw_sqe_at(ep, cursor->sq)->length - cursor->sq_offset;
    if (cursor->irq_offset > 0)
        return ep->reads.irq[cursor->irq & ep->reads.irq_mask].request.length - cursor->irq_offset;
    return 0;
}

/* A rest so short that it is copied goes along: 64 KiB are one FPDU and a few octets. */
static bool batch_has_octets(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    uint32_t octets = ep->agreed.crc ? BATCH_OCTETS_CRC : BATCH_OCTETS;
    uint32_t rest;

    if (batch->octets < octets && batch->cut.iovs == 0)
        return true;
    rest = batch_rest(ep, batch);
    return rest > 0 && rest <= UIW_INLINE_MAX;
}

static bool batch_has_room(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    return !batch->full && batch->fpdu_count < UIW_BATCH_FPDUS &&
           batch->iov_count + UIW_MAX_SEGMENTS + 3 <= UIW_BATCH_IOVS &&
           batch->pin_count + UIW_MAX_SEGMENTS <= UIW_BATCH_PINS &&
           batch->scratch_used + FPDU_SCRATCH <= UIW_BATCH_SCRATCH && batch_has_octets(ep, batch);
}

/* Scratch pieces that follow each other become one iovec. */
static void batch_add_iov(struct uiw_batch *batch, uint8_t *base, size_t length)
{
    struct iovec *last = batch->iov_count ? &batch->iov[batch->iov_count - 1] : NULL;

    if (last && (uint8_t *)last->iov_base + last->iov_len == base) {
        last->iov_len += length;
        return;
    }
    batch->iov[batch->iov_count++] = (struct iovec){base, length};
}

static void batch_fail_request(struct uiw_ep *ep, const struct uiw_batch *batch,
                               it_dto_status_t status)
{
    ep->tx.failed_index = batch->cursor.sq;
    atomic_store_explicit(&ep->tx.failed_status, (int)status, memory_order_release);
}

/* A buffer that lives as long as the batch. NULL: the stream can not go on. */
static uint8_t *batch_bounce(struct uiw_ep *ep, struct uiw_batch *batch)
{
    struct uiw_bounce *bounce = uiw_bounce_get(&ep->ia->memory);

    if (!bounce) {
        atomic_store_explicit(&ep->tx.failed_stream, true, memory_order_release);
        return NULL;
    }
    batch->bounces[batch->bounce_count++] = bounce;
    batch->bounce_used = 0;
    return bounce->octets;
}

/* ---------------------------------------------------------------- payload of a request */

/* All of a message's segments, before its first octet leaves. */
static bool batch_check_segments(struct uiw_ep *ep, const struct uiw_sqe *sqe, it_mem_priv_t right)
{
    for (unsigned i = 0; i < sqe->segment_count; i++) {
        const struct uiw_segment *segment = &sqe->segments[i];

        if (segment->length == 0)
            continue;
        if (!uiw_mr_pin_local(segment->mr, segment->stag, segment->addr, segment->length, right,
                              ep->pz))
            return false;
        uiw_mr_unpin(segment->mr);
    }
    return true;
}

/* Keeps the pin until the call is over; one per run of segments of the same LMR is enough. */
static void batch_keep_pin(struct uiw_batch *batch, struct uiw_mr *mr)
{
    if (batch->pin_count && batch->pins[batch->pin_count - 1] == mr)
        uiw_mr_unpin(mr);
    else
        batch->pins[batch->pin_count++] = mr;
}

/* Octets [offset, offset + length) of the message, copied to `copy` or as iovecs. */
static bool batch_add_payload(struct uiw_ep *ep, struct uiw_batch *batch, const struct uiw_sqe *sqe,
                              uint32_t offset, uint32_t length, uint8_t *copy)
{
    for (unsigned i = 0; i < sqe->segment_count && length > 0; i++) {
        const struct uiw_segment *segment = &sqe->segments[i];
        uint32_t piece = segment->length;

        if (offset >= piece) {
            offset -= piece;
            continue;
        }
        piece = piece - offset < length ? piece - offset : length;
        if (!uiw_mr_pin_local(segment->mr, segment->stag, segment->addr + offset, piece,
                              IT_PRIV_LOCAL_READ, ep->pz))
            return false;
        if (copy) {
            memcpy(copy, segment->addr + offset, piece);
            copy += piece;
            uiw_mr_unpin(segment->mr);
        } else {
            batch_keep_pin(batch, segment->mr);
            batch->iov[batch->iov_count++] = (struct iovec){segment->addr + offset, piece};
        }
        offset = 0;
        length -= piece;
    }
    return true;
}

/* ---------------------------------------------------------------- closing an FPDU */

static uint32_t batch_crc(const struct uiw_batch *batch, const struct batch_fpdu *fpdu,
                          unsigned pad)
{
    static const uint8_t zeros[4];
    size_t in_front = fpdu->header_length + (fpdu->copied ? fpdu->payload_length : 0);
    uint32_t crc = fpdu->summed ? fpdu->crc : iw_crc_update(IW_CRC_INIT, fpdu->header, in_front);

    if (!fpdu->copied && !fpdu->summed)
        crc = iw_crc_update_iov(crc, &batch->iov[fpdu->iov_first],
                                batch->iov_count - fpdu->iov_first, fpdu->payload_length);
    return iw_crc_final(iw_crc_update(crc, zeros, pad));
}

/*
 * A large FPDU that the peer waits for goes in two parts: the peer copies the first while it is summed here and the second is
 * on its way.
 */
static void batch_cut(struct uiw_batch *batch, struct batch_fpdu *fpdu)
{
    struct iovec *first = &batch->iov[batch->iov_count - 1];
    uint8_t *end = (uint8_t *)first->iov_base + first->iov_len;

    fpdu->cut = true;
    first->iov_len -= BATCH_LAST_PART;
    batch->cut.iovs = batch->iov_count;
    batch->cut.octets = batch->octets + (uint32_t)(fpdu->header_length + first->iov_len);
    batch->iov[batch->iov_count++] = (struct iovec){end - BATCH_LAST_PART, BATCH_LAST_PART};
}

static void batch_close_cut(const struct uiw_ep *ep, struct uiw_batch *batch,
                            const struct batch_fpdu *fpdu, uint8_t *trailer)
{
    struct uiw_cut *cut = &batch->cut;

    cut->length = fpdu->payload_length;
    cut->pad = iw_pad(fpdu->ulpdu_length);
    cut->trailer = trailer;
    cut->crc = ep->agreed.crc ? iw_crc_update(IW_CRC_INIT, fpdu->header, fpdu->header_length) : 0;
}

void uiw_batch_sum_cut(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    static const uint8_t zeros[4];
    const struct uiw_cut *cut = &batch->cut;
    uint32_t crc;

    if (!ep->agreed.crc)
        return;
    crc = iw_crc_update_iov(cut->crc, &batch->iov[cut->iovs - 1], 2, cut->length);
    (void)iw_encode_trailer(cut->trailer, cut->pad,
                            iw_crc_final(iw_crc_update(crc, zeros, cut->pad)));
}

/* A peer that wants markers gets one FPDU a call, assembled apart: rare, so simple. */
static bool batch_apply_markers(struct uiw_ep *ep, struct uiw_batch *batch, unsigned iov_first,
                                uint32_t length, struct uiw_fpdu *done)
{
    uint8_t *plain = batch_bounce(ep, batch);
    uint8_t *marked = plain ? batch_bounce(ep, batch) : NULL;
    uint32_t used = 0;

    if (!marked)
        return false;
    for (unsigned i = iov_first; i < batch->iov_count; i++) {
        memcpy(plain + used, batch->iov[i].iov_base, batch->iov[i].iov_len);
        used += (uint32_t)batch->iov[i].iov_len;
    }
    done->wire_length = (uint32_t)iw_marker_insert(ep->tx.position, plain, length - IW_CRC_FIELD,
                                                   ep->agreed.crc, marked);
    batch->iov_count = iov_first;
    batch->iov[batch->iov_count++] = (struct iovec){marked, done->wire_length};
    batch->full = true;
    return true;
}

/* Adds the trailer and enters the FPDU; the cursor has been moved behind it. */
static bool batch_close_fpdu(struct uiw_ep *ep, struct uiw_batch *batch,
                             const struct batch_fpdu *fpdu, unsigned iov_start, bool ends_request)
{
    unsigned pad = iw_pad(fpdu->ulpdu_length);
    uint32_t crc = ep->agreed.crc && !fpdu->cut ? batch_crc(batch, fpdu, pad) : 0;
    uint8_t *trailer = batch->scratch + batch->scratch_used;
    size_t trailer_length = iw_encode_trailer(trailer, pad, crc);
    struct uiw_fpdu *done = &batch->fpdus[batch->fpdu_count];

    batch->scratch_used += (uint32_t)trailer_length;
    batch_add_iov(batch, trailer, trailer_length);
    if (fpdu->cut)
        batch_close_cut(ep, batch, fpdu, trailer);
    done->wire_length = IW_LENGTH_FIELD + fpdu->ulpdu_length + (uint32_t)trailer_length;
    done->ends_request = ends_request;
    done->after = batch->cursor;
    if (ep->agreed.send_markers &&
        !batch_apply_markers(ep, batch, iov_start, done->wire_length, done))
        return false;
    batch->octets += done->wire_length;
    batch->fpdu_count++;
    return true;
}

/* Copies must not take the scratch that the headers of a full batch need. */
static bool batch_may_copy(const struct uiw_batch *batch, uint32_t length)
{
    uint32_t reserved = (UIW_BATCH_FPDUS - batch->fpdu_count) * (uint32_t)FPDU_SCRATCH;

    return batch->scratch_used + length + reserved <= UIW_BATCH_SCRATCH;
}

/* The header has been written to scratch: it becomes an iovec. */
static void batch_open_fpdu(struct uiw_batch *batch, struct batch_fpdu *fpdu, size_t header_length,
                            uint32_t payload_length)
{
    fpdu->header_length = header_length;
    fpdu->payload_length = payload_length;
    fpdu->ulpdu_length = (uint32_t)header_length - IW_LENGTH_FIELD + payload_length;
    batch->scratch_used += (uint32_t)header_length;
    batch_add_iov(batch, fpdu->header, header_length);
    fpdu->iov_first = batch->iov_count;
    fpdu->copied = payload_length <= UIW_INLINE_MAX && batch_may_copy(batch, payload_length);
}

/* ---------------------------------------------------------------- requests */

static uint32_t batch_reads_open(const struct uiw_ep *ep)
{
    return atomic_load_explicit(&ep->reads.orq_tail, memory_order_relaxed) -
           atomic_load_explicit(&ep->reads.orq_head, memory_order_acquire);
}

static void batch_enter_read(struct uiw_ep *ep, uint32_t index, struct uiw_sqe *sqe)
{
    uint32_t tail = atomic_load_explicit(&ep->reads.orq_tail, memory_order_relaxed);
    struct uiw_orq_entry *entry = &ep->reads.orq[tail & ep->reads.orq_mask];

    *entry = (struct uiw_orq_entry){.sq_index = index,
                                    .length = sqe->length,
                                    .sink_stag = sqe->segment_count ? sqe->segments[0].stag : 1,
                                    .atomic = uiw_sqe_is_atomic(sqe)};
    /* Entered before the Request can leave; pairs with the reader's acquire. */
    atomic_store_explicit(&ep->reads.orq_tail, tail + 1, memory_order_release);
}

/* How many messages of the Send queue a request consists of. */
static uint32_t batch_sends(const struct uiw_sqe *sqe)
{
    bool data = sqe->opcode == VP_SEND_UNLINK ||
                (sqe->opcode == VP_SEND && (sqe->length > 0 || !sqe->has_immediate));

    return (data ? 1u : 0u) + (sqe->has_immediate ? 1u : 0u);
}

/* May this message begin? Gives it its MSN. False: not now, or never (then ep->tx says so). */
static bool batch_start_request(struct uiw_ep *ep, struct uiw_batch *batch, struct uiw_sqe *sqe)
{
    bool read = sqe->opcode == VP_RDMA_READ || uiw_sqe_is_atomic(sqe); /* on queue 1, answered */
    uint32_t open = batch_reads_open(ep);
    uint32_t ord = atomic_load_explicit(&ep->limits.ord, memory_order_relaxed);

    if ((sqe->flags & IT_BARRIER_FENCE_FLAG) && open > 0)
        return false;
    if (read && ord == 0) {
        batch_fail_request(ep, batch, IT_DTO_ERR_LOCAL_EP);
        return false;
    }
    if (sqe->bad_key) {
        batch_fail_request(ep, batch, IT_DTO_ERR_REMOTE_ACCESS);
        return false;
    }
    if (read && open >= ord)
        return false;
    if (sqe->to_windows && !sqe->resolved && !uiw_local_resolve(ep, sqe)) {
        batch_fail_request(ep, batch, IT_DTO_ERR_LOCAL_PROTECTION);
        return false;
    }
    if ((sqe->flags & IT_UNLINK_LOCAL_SINK) && !uiw_local_may_unlink_sink(sqe)) {
        batch_fail_request(ep, batch, IT_DTO_ERR_LOCAL_MM_OPERATION);
        return false;
    }
    /* A message of one FPDU is checked when it is built. */
    if ((read || sqe->length > ep->tx.max_ulpdu - IW_UNTAGGED_HEADER) &&
        !batch_check_segments(ep, sqe, read ? IT_PRIV_LOCAL_WRITE : IT_PRIV_LOCAL_READ)) {
        batch_fail_request(ep, batch, IT_DTO_ERR_LOCAL_PROTECTION);
        return false;
    }
    if (read) {
        sqe->msn = ep->tx.next_read_msn++;
        batch_enter_read(ep, batch->cursor.sq, sqe);
    } else {
        sqe->msn = ep->tx.next_send_msn;
        ep->tx.next_send_msn += batch_sends(sqe);
    }
    sqe->started = true;
    return true;
}

static bool batch_add_read_request(struct uiw_ep *ep, struct uiw_batch *batch,
                                   const struct uiw_sqe *sqe)
{
    struct batch_fpdu fpdu = {.header = batch->scratch + batch->scratch_used};
    struct iw_read_request request = {
        .sink_stag = sqe->segment_count ? sqe->segments[0].stag : 1,
        .sink_to = 0,
        .length = sqe->length,
        .source_stag = sqe->remote_stag,
        .source_to = sqe->rdma_addr,
    };
    unsigned iov_start = batch->iov_count;
    size_t length = iw_encode_untagged(fpdu.header, IW_OP_READ_REQUEST, true, 0, IW_QN_READ_REQUEST,
                                       sqe->msn, 0, IW_READ_REQUEST_HEADER);

    length += iw_encode_read_request(fpdu.header + length, &request);
    batch_open_fpdu(batch, &fpdu, length, 0);
    batch->cursor.sq++;
    return batch_close_fpdu(ep, batch, &fpdu, iov_start, false);
}

static bool batch_add_atomic_request(struct uiw_ep *ep, struct uiw_batch *batch,
                                     const struct uiw_sqe *sqe)
{
    struct batch_fpdu fpdu = {.header = batch->scratch + batch->scratch_used};
    bool add = sqe->opcode == VP_FETCH_ADD;
    struct iw_atomic_request request = {
        .code = add ? IW_ATOMIC_FETCH_ADD : IW_ATOMIC_CMP_SWAP,
        .id = batch->cursor.sq,
        .stag = sqe->remote_stag,
        .to = sqe->rdma_addr,
        .operand = sqe->operand,
        .operand_mask = add ? 0 : UINT64_MAX,
        .compare = sqe->opcode == VP_CMP_SWAP ? sqe->compare : 0,
        .compare_mask = sqe->opcode == VP_SWAP ? 0 : UINT64_MAX,
    };
    unsigned iov_start = batch->iov_count;
    size_t length = iw_encode_untagged(fpdu.header, IW_OP_ATOMIC_REQUEST, true, 0,
                                       IW_QN_READ_REQUEST, sqe->msn, 0, IW_ATOMIC_REQUEST_HEADER);

    length += iw_encode_atomic_request(fpdu.header + length, &request);
    batch_open_fpdu(batch, &fpdu, length, 0);
    batch->cursor.sq++;
    return batch_close_fpdu(ep, batch, &fpdu, iov_start, false);
}

/* The value comes last: it is what the peer waits for. */
static enum iw_opcode batch_send_opcode(const struct uiw_sqe *sqe)
{
    bool solicited = (sqe->flags & IT_SOLICITED_WAIT_FLAG) != 0 && !sqe->has_immediate;

    if (sqe->opcode == VP_SEND_UNLINK)
        return solicited ? IW_OP_SEND_SE_INV : IW_OP_SEND_INV;
    return solicited ? IW_OP_SEND_SE : IW_OP_SEND;
}

static bool batch_add_immediate(struct uiw_ep *ep, struct uiw_batch *batch,
                                const struct uiw_sqe *sqe)
{
    struct batch_fpdu fpdu = {.header = batch->scratch + batch->scratch_used};
    bool solicited = (sqe->flags & IT_SOLICITED_WAIT_FLAG) != 0;
    uint32_t msn = sqe->msn + batch_sends(sqe) - 1;
    unsigned iov_start = batch->iov_count;
    size_t length =
        iw_encode_untagged(fpdu.header, solicited ? IW_OP_IMMEDIATE_SE : IW_OP_IMMEDIATE, true, 0,
                           IW_QN_SEND, msn, 0, IW_IMMEDIATE_DATA);

    length += iw_encode_immediate(fpdu.header + length, sqe->operand);
    batch_open_fpdu(batch, &fpdu, length, 0);
    batch->cursor.sq++;
    batch->cursor.sq_offset = 0;
    batch->cursor.sq_immediate = false;
    return batch_close_fpdu(ep, batch, &fpdu, iov_start, true);
}

/* The next segment of a Send or Write. */
static bool batch_add_segment(struct uiw_ep *ep, struct uiw_batch *batch, const struct uiw_sqe *sqe)
{
    bool tagged = sqe->opcode == VP_RDMA_WRITE;
    uint32_t offset = batch->cursor.sq_offset;
    uint32_t limit = ep->tx.max_ulpdu - (tagged ? IW_TAGGED_HEADER : IW_UNTAGGED_HEADER);
    uint32_t left = sqe->length - offset;
    uint32_t length = left < limit ? left : limit;
    bool last = length == left;
    bool over = last && !sqe->has_immediate;
    struct batch_fpdu fpdu = {.header = batch->scratch + batch->scratch_used};
    unsigned iov_start = batch->iov_count;
    size_t header_length;
    uint8_t *copy;

    header_length =
        tagged ? iw_encode_tagged(fpdu.header, IW_OP_WRITE, last, sqe->remote_stag,
                                  sqe->rdma_addr + offset, length)
               : iw_encode_untagged(fpdu.header, batch_send_opcode(sqe), last, sqe->remote_stag,
                                    IW_QN_SEND, sqe->msn, offset, length);
    batch_open_fpdu(batch, &fpdu, header_length, length);
    copy = fpdu.copied ? batch->scratch + batch->scratch_used : NULL;
    if (!batch_add_payload(ep, batch, sqe, offset, length, copy)) {
        batch_fail_request(ep, batch, IT_DTO_ERR_LOCAL_PROTECTION);
        return false;
    }
    if (copy && length) {
        batch->scratch_used += length;
        batch_add_iov(batch, copy, length);
    }
    if (sqe->in_parts && length >= UIW_PARTS_MIN)
        batch_cut(batch, &fpdu);
    batch->cursor.sq += over;
    batch->cursor.sq_offset = over ? 0 : offset + length;
    batch->cursor.sq_immediate = last && !over;
    return batch_close_fpdu(ep, batch, &fpdu, iov_start, over);
}

static bool batch_add_request(struct uiw_ep *ep, struct uiw_batch *batch)
{
    struct uiw_sqe *sqe = uiw_sqe_at(ep, batch->cursor.sq);

    if (uiw_sqe_is_local(sqe))
        return false; /* its fence holds it back */
    if (!sqe->started && !batch_start_request(ep, batch, sqe))
        return false;
    if (sqe->opcode == VP_RDMA_READ)
        return batch_add_read_request(ep, batch, sqe);
    if (uiw_sqe_is_atomic(sqe))
        return batch_add_atomic_request(ep, batch, sqe);
    if (batch->cursor.sq_immediate || (sqe->has_immediate && sqe->length == 0))
        return batch_add_immediate(ep, batch, sqe);
    return batch_add_segment(ep, batch, sqe);
}

/* ---------------------------------------------------------------- responses */

/* Room for the payload of one more FPDU; short ones share a buffer. NULL: not in this batch, or never. */
static uint8_t *batch_bounce_part(struct uiw_ep *ep, struct uiw_batch *batch, uint32_t length)
{
    uint8_t *part;

    if (batch->bounce_count == 0 || length > UIW_BOUNCE_SIZE - batch->bounce_used) {
        /* With markers there is one FPDU a batch, and room for the two buffers they need. */
        if (batch->bounce_count == UIW_BATCH_BOUNCES || !batch_bounce(ep, batch))
            return NULL;
    }
    part = batch->bounces[batch->bounce_count - 1]->octets + batch->bounce_used;
    batch->bounce_used += length;
    return part;
}

/*
 * The source of a Read may change at any time. With CRC its octets are therefore copied once and
 * summed where nobody else writes; short payload is copied anyway.
 */
static bool batch_copy_response(struct uiw_ep *ep, struct uiw_batch *batch,
                                const struct batch_fpdu *fpdu, uint8_t **copy)
{
    if (fpdu->copied) {
        *copy = batch->scratch + batch->scratch_used;
        batch->scratch_used += fpdu->payload_length;
        return true;
    }
    *copy = NULL;
    if (!ep->agreed.crc)
        return true;
    *copy = batch_bounce_part(ep, batch, fpdu->payload_length);
    return *copy != NULL;
}

static void batch_copy_summed(const struct uiw_ep *ep, struct batch_fpdu *fpdu, uint8_t *copy,
                              const uint8_t *source, uint32_t length)
{
    fpdu->summed = ep->agreed.crc && !fpdu->copied;
    if (!fpdu->summed) {
        memcpy(copy, source, length);
        return;
    }
    fpdu->crc = iw_crc_update(IW_CRC_INIT, fpdu->header, fpdu->header_length);
    fpdu->crc = iw_crc_copy(fpdu->crc, copy, source, length);
}

static bool batch_add_atomic_response(struct uiw_ep *ep, struct uiw_batch *batch,
                                      const struct uiw_irq_entry *entry)
{
    struct batch_fpdu fpdu = {.header = batch->scratch + batch->scratch_used};
    unsigned iov_start = batch->iov_count;
    size_t length = iw_encode_untagged(fpdu.header, IW_OP_ATOMIC_RESPONSE, true, 0, IW_QN_ATOMIC,
                                       entry->msn, 0, IW_ATOMIC_RESPONSE_HEADER);

    length += iw_encode_atomic_response(fpdu.header + length, &entry->atomic);
    batch_open_fpdu(batch, &fpdu, length, 0);
    batch->cursor.irq++;
    return batch_close_fpdu(ep, batch, &fpdu, iov_start, false);
}

static bool batch_add_read_response(struct uiw_ep *ep, struct uiw_batch *batch,
                                    const struct uiw_irq_entry *entry)
{
    uint32_t offset = batch->cursor.irq_offset;
    uint32_t left = entry->request.length - offset;
    uint32_t limit = ep->tx.max_ulpdu - IW_TAGGED_HEADER;
    uint32_t length = left < limit ? left : limit;
    bool last = length == left;
    struct batch_fpdu fpdu = {.header = batch->scratch + batch->scratch_used};
    unsigned iov_start = batch->iov_count;
    struct uiw_mr *mr = NULL;
    uint8_t *source = NULL;
    uint8_t *copy;
    size_t header_length;

    if (length > 0) {
        enum uiw_mr_verdict verdict = uiw_mr_pin_remote(
            &ep->ia->memory.mrs, entry->request.source_stag, entry->request.source_to + offset,
            length, IT_PRIV_REMOTE_READ, &ep->id, &mr, &source);

        if (verdict != UIW_MR_OK) {
            atomic_store_explicit(&ep->tx.failed_error, (int)uiw_read_error(verdict),
                                  memory_order_release);
            return false;
        }
    }
    header_length =
        iw_encode_tagged(fpdu.header, IW_OP_READ_RESPONSE, last, entry->request.sink_stag,
                         entry->request.sink_to + offset, length);
    batch_open_fpdu(batch, &fpdu, header_length, length);
    if (!batch_copy_response(ep, batch, &fpdu, &copy)) {
        if (mr)
            uiw_mr_unpin(mr);
        return false;
    }
    if (copy && length) {
        batch_copy_summed(ep, &fpdu, copy, source, length);
        batch_add_iov(batch, copy, length);
    } else if (length) {
        batch->iov[batch->iov_count++] = (struct iovec){source, length};
    }
    if (mr && copy)
        uiw_mr_unpin(mr);
    else if (mr)
        batch_keep_pin(batch, mr);
    batch->cursor.irq += last;
    batch->cursor.irq_offset = last ? 0 : offset + length;
    return batch_close_fpdu(ep, batch, &fpdu, iov_start, false);
}

static bool batch_add_response(struct uiw_ep *ep, struct uiw_batch *batch)
{
    const struct uiw_irq_entry *entry = &ep->reads.irq[batch->cursor.irq & ep->reads.irq_mask];

    if (entry->is_atomic)
        return batch_add_atomic_response(ep, batch, entry);
    return batch_add_read_response(ep, batch, entry);
}

/* ---------------------------------------------------------------- whose turn */

enum batch_turn {
    BATCH_NOTHING,
    BATCH_REQUEST,
    BATCH_RESPONSE
};

/*
 * Responses go first, a few in a row, then a request. Two tagged messages never interleave, since
 * some receivers take the segments of one message only in one piece: a Write that has begun is
 * finished before a response, and the other way round.
 */
static enum batch_turn batch_turn(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    const struct uiw_cursor *cursor = &batch->cursor;
    bool request = cursor->sq != atomic_load_explicit(&ep->sq_ready, memory_order_acquire);
    bool response = cursor->irq != atomic_load_explicit(&ep->reads.irq_tail, memory_order_acquire);
    bool write = request && uiw_sqe_at(ep, cursor->sq)->opcode == VP_RDMA_WRITE;

    if (!request || !response)
        return request ? BATCH_REQUEST : response ? BATCH_RESPONSE : BATCH_NOTHING;
    if (write && cursor->sq_offset > 0)
        return BATCH_REQUEST;
    if (write && cursor->irq_offset > 0)
        return BATCH_RESPONSE;
    return ep->tx.responses < BATCH_RESPONSES ? BATCH_RESPONSE : BATCH_REQUEST;
}

static bool batch_failed(const struct uiw_ep *ep)
{
    return atomic_load_explicit(&ep->tx.failed_status, memory_order_relaxed) != IT_DTO_SUCCESS ||
           atomic_load_explicit(&ep->tx.failed_error, memory_order_relaxed) != IW_OK ||
           atomic_load_explicit(&ep->tx.failed_stream, memory_order_relaxed);
}

/* Builds one FPDU or takes back what it has begun. */
static bool batch_try(struct uiw_ep *ep, struct uiw_batch *batch, enum batch_turn turn)
{
    struct uiw_cursor cursor = batch->cursor;
    uint32_t scratch_used = batch->scratch_used;
    unsigned iov_count = batch->iov_count;
    size_t last_length = iov_count ? batch->iov[iov_count - 1].iov_len : 0;

    if (turn == BATCH_RESPONSE ? batch_add_response(ep, batch) : batch_add_request(ep, batch)) {
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

/* A request that may not start yet (fence, ORD) lets a response pass. */
static bool batch_add(struct uiw_ep *ep, struct uiw_batch *batch)
{
    enum batch_turn turn;

    if (uiw_local_is_next(ep, &batch->cursor) &&
        uiw_local_run(ep, &batch->cursor, batch->fpdu_count == 0))
        batch->passed_local = true;
    turn = batch_turn(ep, batch);
    if (turn == BATCH_NOTHING)
        return false;
    if (batch_try(ep, batch, turn))
        return true;
    if (turn != BATCH_REQUEST || batch_failed(ep) ||
        batch->cursor.irq == atomic_load_explicit(&ep->reads.irq_tail, memory_order_acquire))
        return false;
    return batch_try(ep, batch, BATCH_RESPONSE);
}

void uiw_batch_fill(struct uiw_ep *ep, struct uiw_batch *batch)
{
    while (batch_has_room(ep, batch) && batch_add(ep, batch)) {
    }
}
