/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends a short Send or Write that is alone in the queue and has nothing to wait for, as one FPDU
 * in one piece. A batch would do the same with twice the instructions.
 */
#include "vp/uiwarp/send/uiw_send.h"

#include "evd/deliver/evd_deliver.h"
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/queue/uiw_sq.h"

#include <string.h>

/* Up to this length a copy is cheaper than three iovecs. */
#define SINGLE_MAX 4096u
/* Below this length a copy and one sum over the FPDU are cheaper than a sum for each part. */
#define SINGLE_BRIEF 192u
/* So many segments: the head of an upper layer's message, its payload, and two to spare. */
#define SINGLE_SEGMENTS 4u
#define SINGLE_FRAME    (IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + SINGLE_MAX + IW_TRAILER_MAX)

static bool single_is_usual(const struct uiw_ep *ep, const struct uiw_sqe *sqe)
{
    const unsigned usual =
        (unsigned)IT_COMPLETION_FLAG | (unsigned)IT_NOTIFY_FLAG | (unsigned)IT_SOLICITED_WAIT_FLAG;

    return (sqe->opcode == VP_SEND || sqe->opcode == VP_RDMA_WRITE) && !sqe->started &&
           sqe->segment_count <= SINGLE_SEGMENTS && (sqe->flags & ~usual) == 0 &&
           !sqe->has_immediate && !sqe->bad_key && sqe->length <= SINGLE_MAX &&
           sqe->length <= ep->tx.max_ulpdu - IW_UNTAGGED_HEADER && !ep->agreed.send_markers;
}

bool uiw_single_is_next(const struct uiw_ep *ep)
{
    const struct uiw_tx *tx = &ep->tx;

    return atomic_load_explicit(&ep->sq_ready, memory_order_acquire) == tx->cursor.sq + 1 &&
           single_is_usual(ep, uiw_sqe_at(ep, tx->cursor.sq)) && tx->image.start == tx->image.end &&
           !uiw_irq_waits(&ep->reads, tx->cursor.irq) &&
           !atomic_load_explicit(&ep->own.ack_is_due, memory_order_relaxed);
}

/* Returns the length of what single_start encodes. */
static uint32_t single_header(const struct uiw_sqe *sqe)
{
    return IW_LENGTH_FIELD + (sqe->opcode == VP_RDMA_WRITE ? IW_TAGGED_HEADER : IW_UNTAGGED_HEADER);
}

/* Copies the segments. Returns false if one may not be read. */
static bool __attribute__((noinline))
single_gather(const struct uiw_ep *ep, const struct uiw_sqe *sqe, uint8_t *to)
{
    for (unsigned i = 0; i < sqe->segment_count; i++) {
        const struct uiw_segment *segment = &sqe->segments[i];

        if (segment->length == 0)
            continue;
        if (!uiw_mr_pin_local(segment->mr, segment->stag, segment->addr, segment->length,
                              IT_PRIV_LOCAL_READ, ep->pz))
            return false;
        memcpy(to, segment->addr, segment->length);
        uiw_mr_unpin(segment->mr);
        to += segment->length;
    }
    return true;
}

/* Encodes the header. The message keeps its MSN even if this attempt to send fails. */
static uint32_t single_start(struct uiw_ep *ep, struct uiw_sqe *sqe, uint8_t *header)
{
    sqe->msn = ep->tx.next_send_msn;
    sqe->started = true;
    if (sqe->opcode == VP_RDMA_WRITE)
        return (uint32_t)iw_encode_tagged(header, IW_OP_WRITE, true, sqe->remote_stag,
                                          sqe->rdma_addr, sqe->length);
    ep->tx.next_send_msn++;
    return (uint32_t)iw_encode_untagged(
        header, sqe->flags & IT_SOLICITED_WAIT_FLAG ? IW_OP_SEND_SE : IW_OP_SEND, true,
        sqe->remote_stag, IW_QN_SEND, sqe->msn, 0, sqe->length);
}

/*
 * Adds payload, padding and CRC to the header. payload: NULL if it is in its place. Returns the
 * length of the FPDU.
 */
static uint32_t single_fill(const struct uiw_ep *ep, uint8_t *fpdu, uint32_t header,
                            const uint8_t *payload, uint32_t length)
{
    unsigned pad = iw_pad(header - IW_LENGTH_FIELD + length);
    uint8_t *end = fpdu + header + length;
    uint32_t crc = 0;

    memset(end, 0, sizeof(uint32_t));
    if (ep->agreed.crc && payload && length >= SINGLE_BRIEF) {
        crc = iw_crc_update(IW_CRC_INIT, fpdu, header);
        crc = iw_crc_copy(crc, fpdu + header, payload, length);
        crc = iw_crc_final(iw_crc_update(crc, end, pad));
    } else {
        if (payload)
            memcpy(fpdu + header, payload, length);
        if (ep->agreed.crc)
            crc = iw_crc_final(iw_crc_update(IW_CRC_INIT, fpdu, header + length + pad));
    }
    return header + length + (uint32_t)iw_encode_trailer(end, pad, crc);
}

/* Builds the FPDU. Returns its length; 0 if the message's memory may not be read. */
static inline __attribute__((always_inline)) uint32_t
single_build(struct uiw_ep *ep, struct uiw_sqe *sqe, uint8_t *fpdu)
{
    const struct uiw_segment *segment = &sqe->segments[0];
    uint32_t length = sqe->length;
    const uint8_t *payload = length ? segment->addr : NULL;
    uint32_t octets;

    if (__builtin_expect(sqe->segment_count > 1, false)) {
        payload = NULL;
        if (!single_gather(ep, sqe, fpdu + single_header(sqe)))
            return 0;
    } else if (length && !uiw_mr_pin_local(segment->mr, segment->stag, payload, length,
                                           IT_PRIV_LOCAL_READ, ep->pz))
        return 0;
    octets = single_fill(ep, fpdu, single_start(ep, sqe, fpdu), payload, length);
    if (payload)
        uiw_mr_unpin(segment->mr);
    return octets;
}

static void single_finish(struct uiw_ep *ep, struct uiw_sqe *sqe)
{
    bool wake;

    uiw_count(&ep->tx.fpdus, 1);
    ep->tx.responses = 0;
    base_lock_take(&ep->ual->lock);
    uiw_sq_mark_sent_locked(ep, sqe, ep->tx.cursor.sq++);
    wake = uiw_sq_complete_locked(ep);
    base_lock_drop(&ep->ual->lock);
    if (wake)
        evd_wake(ep->ual->request_evd);
}

enum uiw_out_state uiw_single_send(struct uiw_ep *ep)
{
    struct uiw_sqe *sqe = uiw_sqe_at(ep, ep->tx.cursor.sq);
    uint8_t fpdu[SINGLE_FRAME];
    struct iovec iov = {.iov_base = fpdu};
    ssize_t sent;

    iov.iov_len = single_build(ep, sqe, fpdu);
    if (iov.iov_len == 0)
        return UIW_OUT_MORE; /* the batch finds out why */
    atomic_store_explicit(&ep->tx.offered, ep->tx.cursor.sq + 1, memory_order_release);
    sent = uiw_out_write(ep, &iov, 1);
    if (sent <= 0)
        return uiw_out_take_back(ep) && sent == 0 ? UIW_OUT_FULL : UIW_OUT_DEAD;
    if ((size_t)sent < iov.iov_len &&
        !uiw_out_keep(ep, &iov, 1, (uint32_t)iov.iov_len, (uint32_t)sent)) {
        (void)uiw_out_take_back(ep);
        return UIW_OUT_DEAD;
    }
    single_finish(ep, sqe);
    return (size_t)sent < iov.iov_len ? UIW_OUT_FULL : UIW_OUT_IDLE;
}
