/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the FPDUs of requests. Headers and short payload go to the batch's scratch; longer payload
 * is sent from the consumer's memory, unless CRC is in use and the program may change the memory
 * during the transfer (ITX_LMR_RESTLESS). Only the MSN of a message that starts is committed here.
 */

#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/send/uiw_send.h"

#include <string.h>

/*
 * An FPDU with at least REQUEST_PARTS_MIN octets, of a message with at most REQUEST_PARTS_MAX, is
 * sent in two calls if the peer waits for it.
 */
#define REQUEST_PARTS_MIN 49152u
#define REQUEST_PARTS_MAX 131072u
_Static_assert(UIW_LAST_PART < REQUEST_PARTS_MIN, "there is a first part");

static bool request_fail(struct uiw_ep *ep, const struct uiw_batch *batch, it_dto_status_t status)
{
    uiw_fail_request(ep, batch->cursor.sq, status);
    return false;
}

/* ---------------------------------------------------------------- payload */

/* Checks all segments of a message, before its first octet leaves. */
static bool request_check_segments(struct uiw_ep *ep, const struct uiw_sqe *sqe,
                                   it_mem_priv_t right)
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

/*
 * Adds octets [offset, offset + length) of the message: copied to `copy`, or as iovecs. lent: where
 * those of the last segment are, or NULL.
 */
static inline __attribute__((always_inline)) bool
request_payload(struct uiw_ep *ep, struct uiw_batch *batch, const struct uiw_sqe *sqe,
                uint32_t offset, uint32_t length, uint8_t *copy, const uint8_t *lent)
{
    for (unsigned i = 0; i < sqe->segment_count && length > 0; i++) {
        const struct uiw_segment *segment = &sqe->segments[i];
        const uint8_t *octets = segment->addr;
        uint32_t piece = segment->length;

        if (offset >= piece) {
            offset -= piece;
            continue;
        }
        piece = piece - offset < length ? piece - offset : length;
        if (!uiw_mr_pin_local(segment->mr, segment->stag, segment->addr + offset, piece,
                              IT_PRIV_LOCAL_READ, ep->pz))
            return false;
        if (lent && i + 1 == sqe->segment_count)
            octets = lent;
        octets += offset;
        if (copy) {
            memcpy(copy, octets, piece);
            copy += piece;
            uiw_mr_unpin(segment->mr);
        } else {
            batch->restless |= segment->mr->region.restless;
            uiw_frame_keep_pin(batch, segment->mr);
            batch->iov[batch->iov_count++] = (struct iovec){(void *)(uintptr_t)octets, piece};
        }
        offset = 0;
        length -= piece;
    }
    return true;
}

static bool __attribute__((noinline))
request_add_lent(struct uiw_ep *ep, struct uiw_batch *batch, const struct uiw_sqe *sqe,
                 uint32_t offset, uint32_t length, uint8_t *copy)
{
    return request_payload(ep, batch, sqe, offset, length, copy, sqe->lent);
}

static bool request_add_payload(struct uiw_ep *ep, struct uiw_batch *batch,
                                const struct uiw_sqe *sqe, uint32_t offset, uint32_t length,
                                uint8_t *copy)
{
    if (__builtin_expect(sqe->flags & UIW_LENT, 0))
        return request_add_lent(ep, batch, sqe, offset, length, copy);
    return request_payload(ep, batch, sqe, offset, length, copy, NULL);
}

/* ---------------------------------------------------------------- start */

/* Returns the STag that the response must carry. */
static uint32_t request_sink_stag(const struct uiw_sqe *sqe)
{
    return sqe->segment_count ? sqe->segments[0].stag : 1;
}

/* Returns how many messages of the peer's Send queue the request consists of. */
static uint32_t request_sends(const struct uiw_ep *ep, const struct uiw_sqe *sqe)
{
    bool value = uiw_sq_value_is_apart(ep, sqe);
    bool data =
        sqe->opcode == VP_SEND_UNLINK || (sqe->opcode == VP_SEND && (sqe->length > 0 || !value));

    return (data ? 1u : 0u) + (value ? 1u : 0u);
}

/*
 * Returns true for a Send with a value while it is unknown whether the peer takes it in the header.
 */
static bool request_waits_for_peer(const struct uiw_ep *ep, const struct uiw_sqe *sqe)
{
    return sqe->has_immediate && sqe->opcode == VP_SEND &&
           atomic_load_explicit(&ep->own.values, memory_order_relaxed) == UIW_VALUES_UNKNOWN;
}

/* Gives the message its MSN. Returns false if it may not begin now, or has failed. */
static bool request_start(struct uiw_ep *ep, struct uiw_batch *batch, struct uiw_sqe *sqe)
{
    bool read = sqe->opcode == VP_RDMA_READ || uiw_sqe_is_atomic(sqe); /* gets a response */
    uint32_t open = uiw_orq_open(&ep->reads);
    uint32_t ord = atomic_load_explicit(&ep->limits.ord, memory_order_relaxed);

    if ((sqe->flags & IT_BARRIER_FENCE_FLAG) && open > 0)
        return false;
    if (read && ord == 0)
        return request_fail(ep, batch, IT_DTO_ERR_LOCAL_EP);
    if (sqe->bad_key)
        return request_fail(ep, batch, IT_DTO_ERR_REMOTE_ACCESS);
    if (read && open >= ord)
        return false;
    if (sqe->to_windows && !sqe->resolved && !uiw_local_resolve(ep, sqe))
        return request_fail(ep, batch, IT_DTO_ERR_LOCAL_PROTECTION);
    if ((sqe->flags & IT_UNLINK_LOCAL_SINK) && !uiw_local_may_unlink_sink(sqe))
        return request_fail(ep, batch, IT_DTO_ERR_LOCAL_MM_OPERATION);
    /* A message of one FPDU is checked when the FPDU is built. */
    if ((read || sqe->length > ep->tx.max_ulpdu - IW_UNTAGGED_HEADER) &&
        !request_check_segments(ep, sqe, read ? IT_PRIV_LOCAL_WRITE : IT_PRIV_LOCAL_READ))
        return request_fail(ep, batch, IT_DTO_ERR_LOCAL_PROTECTION);
    if (read) {
        sqe->msn = ep->tx.next_read_msn++;
        uiw_orq_enter(&ep->reads, &(struct uiw_orq_entry){.sq_index = batch->cursor.sq,
                                                          .length = sqe->length,
                                                          .sink_stag = request_sink_stag(sqe),
                                                          .atomic = uiw_sqe_is_atomic(sqe)});
    } else if (request_waits_for_peer(ep, sqe)) {
        return false;
    } else {
        sqe->msn = ep->tx.next_send_msn;
        ep->tx.next_send_msn += request_sends(ep, sqe);
    }
    sqe->started = true;
    return true;
}

/* ---------------------------------------------------------------- messages of one FPDU */

static bool request_add_read(struct uiw_ep *ep, struct uiw_batch *batch, const struct uiw_sqe *sqe)
{
    struct iw_read_request request = {
        .sink_stag = request_sink_stag(sqe),
        .sink_to = 0,
        .length = sqe->length,
        .source_stag = sqe->remote_stag,
        .source_to = sqe->rdma_addr,
    };
    size_t length = iw_encode_read_request(uiw_frame_own(batch), &request);

    batch->cursor.sq++;
    return uiw_frame_control(ep, batch, IW_OP_READ_REQUEST, IW_QN_READ_REQUEST, sqe->msn, length,
                             false);
}

static bool request_add_atomic(struct uiw_ep *ep, struct uiw_batch *batch,
                               const struct uiw_sqe *sqe)
{
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
    size_t length = iw_encode_atomic_request(uiw_frame_own(batch), &request);

    batch->cursor.sq++;
    return uiw_frame_control(ep, batch, IW_OP_ATOMIC_REQUEST, IW_QN_READ_REQUEST, sqe->msn, length,
                             false);
}

static bool request_add_immediate(struct uiw_ep *ep, struct uiw_batch *batch,
                                  const struct uiw_sqe *sqe)
{
    bool solicited = (sqe->flags & IT_SOLICITED_WAIT_FLAG) != 0;
    uint32_t msn = sqe->msn + request_sends(ep, sqe) - 1;
    size_t length = iw_encode_immediate(uiw_frame_own(batch), sqe->operand);

    batch->cursor.sq++;
    batch->cursor.sq_offset = 0;
    batch->cursor.sq_immediate = false;
    return uiw_frame_control(ep, batch, solicited ? IW_OP_IMMEDIATE_SE : IW_OP_IMMEDIATE,
                             IW_QN_SEND, msn, length, true);
}

/* ---------------------------------------------------------------- Sends and Writes */

/* Returns the opcode of a Send. A value of its own follows, and carries the solicited event. */
static enum iw_opcode request_send_opcode(const struct uiw_sqe *sqe, bool value_is_apart)
{
    bool solicited = (sqe->flags & IT_SOLICITED_WAIT_FLAG) != 0 && !value_is_apart;

    if (sqe->opcode == VP_SEND_UNLINK)
        return solicited ? IW_OP_SEND_SE_INV : IW_OP_SEND_INV;
    return solicited ? IW_OP_SEND_SE : IW_OP_SEND;
}

static size_t request_encode_send(const struct uiw_ep *ep, const struct uiw_sqe *sqe,
                                  uint8_t *header, bool last, uint32_t offset, uint32_t length)
{
    bool apart = uiw_sq_value_is_apart(ep, sqe);
    unsigned opcode = request_send_opcode(sqe, apart);
    uint32_t stag = sqe->remote_stag;

    if (sqe->has_immediate && !apart) {
        opcode |= IW_OWN_VALUE;
        stag = (uint32_t)sqe->operand;
    }
    return iw_encode_untagged(header, (enum iw_opcode)opcode, last, stag, IW_QN_SEND, sqe->msn,
                              offset, length);
}

/*
 * Returns true if this FPDU is sent in two calls. A large one is cut if its message is alone and
 * the peer seems to wait for it: the peer has sent an FPDU since the last such message.
 */
static bool request_goes_in_parts(struct uiw_ep *ep, const struct uiw_batch *batch,
                                  const struct uiw_sqe *sqe, uint32_t length, uint32_t left)
{
    uint64_t heard = atomic_load_explicit(&ep->rx.fpdus_in, memory_order_relaxed);

    if (length < REQUEST_PARTS_MIN || sqe->length > REQUEST_PARTS_MAX || sqe->segment_count != 1 ||
        ep->agreed.send_markers || batch->fpdu_count > 0 || heard == ep->tx.fpdus_in_seen ||
        batch->cursor.sq + 1 != atomic_load_explicit(&ep->sq_ready, memory_order_relaxed))
        return false;
    if (left - length < REQUEST_PARTS_MIN) /* the last such FPDU of the message */
        ep->tx.fpdus_in_seen = heard;
    return true;
}

/* Replaces the payload by a copy. in_parts: it is one iovec. Returns false without room. */
static bool request_copy(struct uiw_ep *ep, struct uiw_batch *batch, struct uiw_frame *frame,
                         bool in_parts)
{
    struct iovec payload[UIW_MAX_SEGMENTS];
    unsigned count = batch->iov_count - frame->payload_first;

    memcpy(payload, &batch->iov[frame->payload_first], count * sizeof(payload[0]));
    batch->iov_count = frame->payload_first;
    if (in_parts)
        return uiw_frame_add_summed_cut(ep, batch, frame, payload[0].iov_base);
    return uiw_frame_add_summed(ep, batch, frame, payload, count);
}

/*
 * Decides how payload that is not in scratch is sent: from a copy, in two calls, or as it is.
 * Returns false without room.
 */
static bool request_place_payload(struct uiw_ep *ep, struct uiw_batch *batch,
                                  const struct uiw_sqe *sqe, struct uiw_frame *frame, uint32_t left)
{
    bool restless = batch->restless && ep->agreed.crc;
    bool in_parts = request_goes_in_parts(ep, batch, sqe, frame->payload_length, left);

    batch->restless = false;
    if (restless)
        return request_copy(ep, batch, frame, in_parts);
    if (in_parts)
        uiw_frame_cut(batch, frame);
    return true;
}

/* Adds the next segment of a Send or Write. */
static bool request_add_segment(struct uiw_ep *ep, struct uiw_batch *batch,
                                const struct uiw_sqe *sqe)
{
    bool tagged = sqe->opcode == VP_RDMA_WRITE;
    uint32_t offset = batch->cursor.sq_offset;
    uint32_t limit = ep->tx.max_ulpdu - (tagged ? IW_TAGGED_HEADER : IW_UNTAGGED_HEADER);
    uint32_t left = sqe->length - offset;
    uint32_t length = left < limit ? left : limit;
    bool last = length == left;
    bool over = last && !uiw_sq_value_is_apart(ep, sqe);
    uint8_t *header = uiw_frame_scratch(batch);
    struct uiw_frame frame;
    size_t header_length;

    header_length = tagged ? iw_encode_tagged(header, IW_OP_WRITE, last, sqe->remote_stag,
                                              sqe->rdma_addr + offset, length)
                           : request_encode_send(ep, sqe, header, last, offset, length);
    uiw_frame_open(batch, &frame, header_length, length);
    if (!request_add_payload(ep, batch, sqe, offset, length,
                             frame.copied ? uiw_frame_scratch(batch) : NULL))
        return request_fail(ep, batch, IT_DTO_ERR_LOCAL_PROTECTION);
    if (frame.copied)
        uiw_frame_add_scratch(batch, length);
    else if (!request_place_payload(ep, batch, sqe, &frame, left))
        return false;
    batch->cursor.sq += over;
    batch->cursor.sq_offset = over ? 0 : offset + length;
    batch->cursor.sq_immediate = last && !over;
    return uiw_frame_close(ep, batch, &frame, over);
}

bool uiw_request_add(struct uiw_ep *ep, struct uiw_batch *batch)
{
    struct uiw_sqe *sqe = uiw_sqe_at(ep, batch->cursor.sq);

    if (uiw_sqe_is_local(sqe))
        return false; /* its fence makes it wait */
    if (!sqe->started && !request_start(ep, batch, sqe))
        return false;
    if (sqe->opcode == VP_RDMA_READ)
        return request_add_read(ep, batch, sqe);
    if (uiw_sqe_is_atomic(sqe))
        return request_add_atomic(ep, batch, sqe);
    if (batch->cursor.sq_immediate || (sqe->length == 0 && uiw_sq_value_is_apart(ep, sqe)))
        return request_add_immediate(ep, batch, sqe);
    return request_add_segment(ep, batch, sqe);
}
