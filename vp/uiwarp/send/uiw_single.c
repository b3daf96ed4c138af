/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The usual message: a Send or Write of one FPDU from at most one segment, with nothing before it,
 * nothing behind it and nothing to wait for. What the batch (uiw_batch.c) does for any mixture is
 * done here in a straight line: after a system call hardly any code is left in the caches, and the
 * time of a small message is that of the instructions fetched anew.
 */
#include "vp/uiwarp/send/uiw_single.h"

#include "evd/deliver/evd_deliver.h"
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/queue/uiw_sq.h"

#include <string.h>

/* Payload up to here is copied: alone in a call that is cheaper than three iovecs. */
#define SINGLE_COPY_MAX 4096u
/* Up to here it is copied first and summed together with what is around it. */
#define SINGLE_BRIEF 192u
#define SINGLE_FRAME (IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + SINGLE_COPY_MAX + IW_TRAILER_MAX)

struct single_frame {
    uint32_t header_length;
    uint32_t trailer_length;
    uint32_t length; /* of the FPDU */
    bool copied;     /* the payload stands between header and trailer */
    uint8_t octets[SINGLE_FRAME];
};

bool uiw_single_is_next(const struct uiw_ep *ep)
{
    const struct uiw_tx *tx = &ep->tx;
    const struct uiw_sqe *sqe;

    if (atomic_load_explicit(&ep->sq_ready, memory_order_acquire) != tx->cursor.sq + 1)
        return false;
    sqe = uiw_sqe_at(ep, tx->cursor.sq);
    return sqe->quick && !sqe->started && tx->image.start == tx->image.end &&
           tx->cursor.irq == atomic_load_explicit(&ep->reads.irq_tail, memory_order_acquire);
}

/* The header; the MSN is the message's from now on, whatever becomes of this attempt. */
static void single_begin(struct uiw_ep *ep, struct uiw_sqe *sqe)
{
    sqe->msn = ep->tx.next_send_msn;
    sqe->started = true;
    if (sqe->opcode != VP_RDMA_WRITE)
        ep->tx.next_send_msn++;
}

static uint32_t single_encode_header(const struct uiw_sqe *sqe, uint8_t *header)
{
    if (sqe->opcode == VP_RDMA_WRITE)
        return (uint32_t)iw_encode_tagged(header, IW_OP_WRITE, true, sqe->remote_stag,
                                          sqe->rdma_addr, sqe->length);
    return (uint32_t)iw_encode_untagged(
        header, sqe->flags & IT_SOLICITED_WAIT_FLAG ? IW_OP_SEND_SE : IW_OP_SEND, true,
        sqe->remote_stag, IW_QN_SEND, sqe->msn, 0, sqe->length);
}

/* The CRC of header and payload; the payload is copied if it is short. */
static uint32_t single_sum_pieces(struct single_frame *frame, const uint8_t *payload,
                                  uint32_t length)
{
    uint32_t crc = iw_crc_update(IW_CRC_INIT, frame->octets, frame->header_length);

    if (frame->copied)
        return iw_crc_copy(crc, frame->octets + frame->header_length, payload, length);
    return iw_crc_update(crc, payload, length);
}

/* All that is behind the header, but for payload that is too long to be copied. */
static void single_add_rest(const struct uiw_ep *ep, struct single_frame *frame,
                            const uint8_t *payload, uint32_t length)
{
    static const uint8_t zeros[4];
    unsigned pad = iw_pad(frame->header_length - IW_LENGTH_FIELD + length);
    uint32_t before = frame->header_length + (frame->copied ? length : 0);
    bool brief = length < SINGLE_BRIEF;
    uint32_t crc = 0;

    if (frame->copied && length && (brief || !ep->agreed.crc))
        memcpy(frame->octets + frame->header_length, payload, length);
    if (ep->agreed.crc && brief) {
        memcpy(frame->octets + before, zeros, sizeof(zeros));
        crc = iw_crc_final(iw_crc_update(IW_CRC_INIT, frame->octets, before + pad));
    } else if (ep->agreed.crc) {
        crc = single_sum_pieces(frame, payload, length);
        crc = iw_crc_final(pad ? iw_crc_update(crc, zeros, pad) : crc);
    }
    frame->trailer_length = (uint32_t)iw_encode_trailer(frame->octets + before, pad, crc);
    frame->length = frame->header_length + length + frame->trailer_length;
}

static ssize_t single_write(struct uiw_ep *ep, struct single_frame *frame, uint8_t *payload,
                            uint32_t length)
{
    struct iovec iov[3] = {
        {frame->octets, frame->header_length},
        {payload, length},
        {frame->octets + frame->header_length, frame->trailer_length},
    };

    if (!frame->copied)
        return uiw_out_write(ep, iov, 3);
    iov[0].iov_len = frame->length;
    return uiw_out_write(ep, iov, 1);
}

/* The rest of an FPDU that the socket took half of goes on from a copy. */
static bool single_keep_rest(struct uiw_ep *ep, const struct single_frame *frame,
                             const uint8_t *payload, uint32_t length, uint32_t sent)
{
    uint32_t before = frame->copied ? frame->length - frame->trailer_length : frame->header_length;

    if (sent < before) {
        if (!uiw_out_prepend(ep, frame->octets + sent, before - sent))
            return false;
        sent = before;
    }
    sent -= before;
    if (!frame->copied && sent < length) {
        if (!uiw_out_prepend(ep, payload + sent, length - sent))
            return false;
        sent = length;
    }
    if (!frame->copied)
        sent -= length;
    return uiw_out_prepend(ep, frame->octets + before + sent, frame->trailer_length - sent);
}

static void single_finish(struct uiw_ep *ep, struct uiw_sqe *sqe)
{
    bool wake;

    ep->tx.cursor.sq++;
    ep->tx.responses = 0;
    base_lock_take(&ep->ual->lock);
    sqe->done = true;
    wake = uiw_sq_complete_locked(ep);
    base_lock_drop(&ep->ual->lock);
    if (wake)
        evd_wake(ep->ual->request_evd);
}

/* A large message, to a peer that has spoken since the last such and so seems to wait for it. */
static bool single_goes_in_parts(struct uiw_ep *ep, struct uiw_sqe *sqe)
{
    uint64_t heard = atomic_load_explicit(&ep->rx.fpdus_in, memory_order_relaxed);

    if (sqe->length < UIW_PARTS_MIN || ep->tx.max_ulpdu <= UIW_PARTS_MIN ||
        heard == ep->tx.fpdus_in_seen)
        return false;
    ep->tx.fpdus_in_seen = heard;
    sqe->in_parts = true;
    return true;
}

enum uiw_out_state uiw_single_send(struct uiw_ep *ep)
{
    struct uiw_sqe *sqe = uiw_sqe_at(ep, ep->tx.cursor.sq);
    const struct uiw_segment *segment = &sqe->segments[0];
    uint32_t length = sqe->length;
    uint8_t *payload = length ? segment->addr : NULL;
    enum uiw_out_state state = UIW_OUT_IDLE;
    struct single_frame frame;
    ssize_t sent;

    if (single_goes_in_parts(ep, sqe) || length > ep->tx.max_ulpdu - IW_UNTAGGED_HEADER)
        return UIW_OUT_MORE;
    if (length &&
        !uiw_mr_pin_local(segment->mr, segment->stag, payload, length, IT_PRIV_LOCAL_READ, ep->pz))
        return UIW_OUT_MORE; /* the batch tells what is wrong with it */
    frame.copied = length <= SINGLE_COPY_MAX;
    single_begin(ep, sqe);
    frame.header_length = single_encode_header(sqe, frame.octets);
    single_add_rest(ep, &frame, payload, length);
    sent = single_write(ep, &frame, payload, length);
    if (sent < 0) {
        state = UIW_OUT_DEAD;
    } else if ((uint32_t)sent < frame.length) {
        state = UIW_OUT_FULL;
        if (sent > 0 && !single_keep_rest(ep, &frame, payload, length, (uint32_t)sent)) {
            /* Half an FPDU cannot be taken back. */
            atomic_store_explicit(&ep->tx.failed_stream, true, memory_order_release);
            state = UIW_OUT_DEAD;
        }
    }
    if (length)
        uiw_mr_unpin(segment->mr);
    if (sent > 0 && state != UIW_OUT_DEAD) {
        uiw_count(&ep->tx.fpdus, 1);
        single_finish(ep, sqe);
    }
    return state;
}
