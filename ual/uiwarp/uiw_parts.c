/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A large message with nothing around it, to a peer that seems to wait for it: each FPDU goes in two parts, so that
 * the peer copies and sums the first while we sum it and copy the second. On the wire it is what the batch
 * (uiw_batch.c) would send. A stream is sent faster in whole messages.
 */
#include "ual/uiwarp/uiw_tx.h"

#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_wire.h"

#include <string.h>

/* The last FPDU of a message goes along with the one before it if it is so short. */
#define PARTS_TAIL_MAX 512u
/* Payload of the second part of an FPDU: what the peer has to take in when all has been sent. */
#define PARTS_LAST 24576u
#define PARTS_IOVS 4u
_Static_assert(PARTS_LAST < UIW_PARTS_MIN, "there is a first part");

struct parts_fpdu {
    uint32_t offset; /* in the message */
    uint32_t length; /* of its payload */
    uint32_t header_length;
    uint32_t trailer_length;
    uint32_t crc;
    uint8_t header[IW_LENGTH_FIELD + IW_UNTAGGED_HEADER];
    uint8_t trailer[IW_TRAILER_MAX + 1];
};

/* A whole FPDU; length 0: none. */
struct parts_tail {
    uint32_t payload_length;
    uint32_t length;
    uint8_t octets[IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + PARTS_TAIL_MAX + IW_TRAILER_MAX + 1];
};

struct parts {
    struct uiw_ep *ep;
    struct uiw_sqe *sqe;
    const uint8_t *payload; /* of the message */
    struct parts_fpdu fpdu;
    struct parts_tail tail;
};

bool uiw_parts_are_due(const struct uiw_ep *ep, const struct uiw_sqe *sqe)
{
    return sqe->length <= UIW_PARTS_MAX && ep->tx.max_ulpdu > UIW_PARTS_MIN &&
           atomic_load_explicit(&ep->fpdus_in, memory_order_relaxed) != ep->tx.fpdus_in_seen;
}

/* ---------------------------------------------------------------- framing */

static uint32_t parts_encode_trailer(const struct parts *parts, uint8_t *trailer, uint32_t crc,
                                     uint32_t ulpdu_length)
{
    static const uint8_t zeros[4];
    unsigned pad = iw_pad(ulpdu_length);

    crc = parts->ep->agreed.crc ? iw_crc_final(iw_crc_update(crc, zeros, pad)) : 0;
    return (uint32_t)iw_encode_trailer(trailer, pad, crc);
}

static uint32_t parts_sum(const struct parts *parts, uint32_t crc, const uint8_t *octets,
                          uint32_t length)
{
    return parts->ep->agreed.crc ? iw_crc_update(crc, octets, length) : 0;
}

static void parts_open_fpdu(struct parts *parts, uint32_t offset, uint32_t length)
{
    struct parts_fpdu *fpdu = &parts->fpdu;

    fpdu->offset = offset;
    fpdu->length = length;
    fpdu->header_length = uiw_quick_encode_header(parts->sqe, fpdu->header, offset, length);
    fpdu->crc = parts_sum(parts, IW_CRC_INIT, fpdu->header, fpdu->header_length);
    fpdu->trailer_length = 0;
}

static void parts_sum_payload(struct parts *parts, uint32_t from, uint32_t to)
{
    struct parts_fpdu *fpdu = &parts->fpdu;

    fpdu->crc = parts_sum(parts, fpdu->crc, parts->payload + fpdu->offset + from, to - from);
}

static void parts_close_fpdu(struct parts *parts)
{
    struct parts_fpdu *fpdu = &parts->fpdu;

    fpdu->trailer_length = parts_encode_trailer(
        parts, fpdu->trailer, fpdu->crc, fpdu->header_length - IW_LENGTH_FIELD + fpdu->length);
}

/* What the message has behind `offset`, if it is little. */
static void parts_make_tail(struct parts *parts, uint32_t offset)
{
    struct parts_tail *tail = &parts->tail;
    uint32_t length = parts->sqe->length - offset;
    uint32_t used;

    tail->payload_length = 0;
    tail->length = 0;
    if (length == 0 || length > PARTS_TAIL_MAX)
        return;
    used = uiw_quick_encode_header(parts->sqe, tail->octets, offset, length);
    memcpy(tail->octets + used, parts->payload + offset, length);
    used += length;
    tail->payload_length = length;
    tail->length = used + parts_encode_trailer(parts, tail->octets + used,
                                               parts_sum(parts, IW_CRC_INIT, tail->octets, used),
                                               used - IW_LENGTH_FIELD);
}

/* ---------------------------------------------------------------- one part */

/* Payload octets [from, to) of the FPDU, with what stands in front of them and behind. */
static unsigned parts_gather(struct parts *parts, uint32_t from, uint32_t to, struct iovec *iov)
{
    struct parts_fpdu *fpdu = &parts->fpdu;
    unsigned count = 0;

    if (from == 0)
        iov[count++] = (struct iovec){fpdu->header, fpdu->header_length};
    iov[count++] =
        (struct iovec){(void *)(uintptr_t)(parts->payload + fpdu->offset + from), to - from};
    if (to < fpdu->length)
        return count;
    iov[count++] = (struct iovec){fpdu->trailer, fpdu->trailer_length};
    if (parts->tail.length > 0)
        iov[count++] = (struct iovec){parts->tail.octets, parts->tail.length};
    return count;
}

static uint32_t parts_length(const struct iovec *iov, unsigned count)
{
    uint32_t length = 0;

    for (unsigned i = 0; i < count; i++)
        length += (uint32_t)iov[i].iov_len;
    return length;
}

/* All but the first `skipped` octets. */
static bool parts_keep(struct uiw_ep *ep, const struct iovec *iov, unsigned count, uint32_t skipped)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t length = (uint32_t)iov[i].iov_len;
        uint32_t from = skipped < length ? skipped : length;

        if (from < length &&
            !uiw_tx_prepend(ep, (const uint8_t *)iov[i].iov_base + from, length - from))
            return false;
        skipped -= from;
    }
    return true;
}

/*
 * Of the part that begins at `from` the socket has taken `sent` octets. What has begun to go goes on from a copy, the
 * rest of the message by the batch.
 */
static enum uiw_tx_state parts_stop(struct parts *parts, uint32_t from, bool last, uint32_t sent)
{
    struct uiw_ep *ep = parts->ep;
    struct parts_fpdu *fpdu = &parts->fpdu;
    struct iovec iov[PARTS_IOVS];
    unsigned count;
    uint32_t length;

    if (sent == 0 && from == 0)
        return UIW_TX_FULL;
    if (!last) {
        parts_sum_payload(parts, from, fpdu->length);
        parts_close_fpdu(parts);
    }
    count = parts_gather(parts, from, fpdu->length, iov);
    length = parts_length(iov, count) - parts->tail.length;
    if (sent <= length && parts->tail.length > 0) {
        parts->tail.length = 0;
        count--;
    } else if (parts->tail.length > 0) {
        ep->tx.cursor.sq_offset += parts->tail.payload_length;
        uiw_count(&ep->tx.fpdus, 1);
    }
    ep->tx.cursor.sq_offset += fpdu->length;
    uiw_count(&ep->tx.fpdus, 1);
    if (parts_keep(ep, iov, count, sent))
        return UIW_TX_FULL;
    /* Half an FPDU cannot be taken back. */
    atomic_store_explicit(&ep->tx.failed_stream, true, memory_order_release);
    return UIW_TX_DEAD;
}

/* Where the part that begins at `from` ends. */
static uint32_t parts_cut(const struct parts_fpdu *fpdu, uint32_t from)
{
    return from == 0 && fpdu->length >= UIW_PARTS_MIN ? fpdu->length - PARTS_LAST : fpdu->length;
}

/* IDLE: all of the FPDU is gone. */
static enum uiw_tx_state parts_send_fpdu(struct parts *parts)
{
    const struct parts_fpdu *fpdu = &parts->fpdu;
    uint32_t from = 0;

    while (from < fpdu->length) {
        uint32_t to = parts_cut(fpdu, from);
        bool last = to == fpdu->length;
        struct iovec iov[PARTS_IOVS];
        unsigned count;
        uint32_t length;
        ssize_t sent;

        if (last) {
            parts_sum_payload(parts, from, to);
            parts_close_fpdu(parts);
        }
        count = parts_gather(parts, from, to, iov);
        length = parts_length(iov, count);
        sent = uiw_tx_write(parts->ep, iov, count);
        if (sent < 0)
            return UIW_TX_DEAD;
        if ((uint32_t)sent < length)
            return parts_stop(parts, from, last, (uint32_t)sent);
        if (!last)
            parts_sum_payload(parts, from, to);
        from = to;
    }
    parts->ep->tx.cursor.sq_offset += fpdu->length + parts->tail.payload_length;
    uiw_count(&parts->ep->tx.fpdus, parts->tail.length > 0 ? 2 : 1);
    return UIW_TX_IDLE;
}

/* ---------------------------------------------------------------- the message */

static enum uiw_tx_state parts_send_message(struct parts *parts)
{
    struct uiw_ep *ep = parts->ep;
    struct uiw_sqe *sqe = parts->sqe;
    uint32_t limit =
        ep->tx.max_ulpdu - (sqe->opcode == VP_RDMA_WRITE ? IW_TAGGED_HEADER : IW_UNTAGGED_HEADER);
    enum uiw_tx_state state = UIW_TX_IDLE;

    while (state == UIW_TX_IDLE && ep->tx.cursor.sq_offset < sqe->length) {
        uint32_t offset = ep->tx.cursor.sq_offset;
        uint32_t left = sqe->length - offset;
        uint32_t length = left < limit ? left : limit;

        parts_open_fpdu(parts, offset, length);
        parts_make_tail(parts, offset + length);
        state = parts_send_fpdu(parts);
    }
    return state;
}

enum uiw_tx_state uiw_parts_send(struct uiw_ep *ep, struct uiw_sqe *sqe)
{
    const struct uiw_segment *segment = &sqe->segments[0];
    struct parts parts;
    enum uiw_tx_state state;

    if (!uiw_mr_pin_local(segment->mr, segment->stag, segment->addr, sqe->length,
                          IT_PRIV_LOCAL_READ, ep->pz))
        return UIW_TX_MORE; /* the batch tells what is wrong with it */
    ep->tx.fpdus_in_seen = atomic_load_explicit(&ep->fpdus_in, memory_order_relaxed);
    parts.ep = ep;
    parts.sqe = sqe;
    parts.payload = segment->addr;
    uiw_quick_begin(ep, sqe);
    state = parts_send_message(&parts);
    uiw_mr_unpin(segment->mr);
    if (ep->tx.cursor.sq_offset == sqe->length) {
        ep->tx.cursor.sq_offset = 0;
        uiw_quick_finish(ep, sqe);
    }
    return state;
}
