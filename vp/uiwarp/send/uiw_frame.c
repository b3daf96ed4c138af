/* SPDX-License-Identifier: BSD-2-Clause */

#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_marker.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/send/uiw_send.h"

#include <string.h>

static const uint8_t frame_zeros[4];

uint8_t *uiw_frame_buffer(struct uiw_ep *ep, struct uiw_batch *batch)
{
    struct uiw_bounce *bounce = uiw_bounce_get(&ep->ia->memory);

    if (!bounce) {
        uiw_fail_stream(ep);
        return NULL;
    }
    batch->bounces[batch->bounce_count++] = bounce;
    batch->bounce_used = 0;
    return bounce->octets;
}

/*
 * Returns room for the payload of one more FPDU; short ones share a buffer. NULL: the batch has no
 * room left, or the stream has failed.
 */
static uint8_t *frame_room(struct uiw_ep *ep, struct uiw_batch *batch, uint32_t length)
{
    uint8_t *room;

    if (batch->bounce_count == 0 || length > UIW_BOUNCE_SIZE - batch->bounce_used) {
        /* A batch with markers has one FPDU, so there is room for the two buffers it needs. */
        if (batch->bounce_count == UIW_BATCH_BOUNCES) {
            batch->full = true;
            return NULL;
        }
        if (!uiw_frame_buffer(ep, batch))
            return NULL;
    }
    room = batch->bounces[batch->bounce_count - 1]->octets + batch->bounce_used;
    batch->bounce_used += length;
    return room;
}

bool uiw_frame_add_summed(struct uiw_ep *ep, struct uiw_batch *batch, struct uiw_frame *frame,
                          const struct iovec *payload, unsigned count)
{
    uint8_t *copy = frame_room(ep, batch, frame->payload_length);
    uint8_t *place = copy;

    if (!copy)
        return false;
    frame->summed = true;
    frame->crc = iw_crc_update(IW_CRC_INIT, frame->header, frame->header_length);
    for (unsigned i = 0; i < count; i++) {
        frame->crc = iw_crc_copy(frame->crc, place, payload[i].iov_base, payload[i].iov_len);
        place += payload[i].iov_len;
    }
    uiw_frame_add(batch, copy, frame->payload_length);
    return true;
}

static uint32_t frame_crc(const struct uiw_batch *batch, const struct uiw_frame *frame,
                          unsigned pad)
{
    uint32_t crc = frame->crc; /* valid if .summed */

    if (!frame->summed) {
        crc = iw_crc_update(IW_CRC_INIT, frame->header,
                            frame->header_length + (frame->copied ? frame->payload_length : 0));
        if (!frame->copied)
            crc = iw_crc_update_iov(crc, &batch->iov[frame->payload_first],
                                    batch->iov_count - frame->payload_first, frame->payload_length);
    }
    return iw_crc_final(iw_crc_update(crc, frame_zeros, pad));
}

void uiw_frame_cut(struct uiw_batch *batch, struct uiw_frame *frame)
{
    struct iovec *first = &batch->iov[batch->iov_count - 1];
    uint8_t *end = (uint8_t *)first->iov_base + first->iov_len;

    frame->cut = true;
    batch->cut.source = NULL;
    first->iov_len -= UIW_LAST_PART;
    batch->cut.iovs = batch->iov_count;
    batch->cut.octets = batch->octets + (uint32_t)(frame->header_length + first->iov_len);
    batch->iov[batch->iov_count++] = (struct iovec){end - UIW_LAST_PART, UIW_LAST_PART};
}

static void frame_close_cut(const struct uiw_ep *ep, struct uiw_batch *batch,
                            const struct uiw_frame *frame, unsigned pad, uint8_t *trailer)
{
    struct uiw_cut *cut = &batch->cut;

    cut->length = frame->payload_length;
    cut->pad = pad;
    cut->trailer = trailer;
    cut->crc = 0;
    if (ep->agreed.crc)
        cut->crc = frame->summed ? frame->crc
                                 : iw_crc_update(IW_CRC_INIT, frame->header, frame->header_length);
}

bool uiw_frame_add_summed_cut(struct uiw_ep *ep, struct uiw_batch *batch, struct uiw_frame *frame,
                              const uint8_t *source)
{
    uint32_t first = frame->payload_length - UIW_LAST_PART;
    uint8_t *copy = frame_room(ep, batch, frame->payload_length);

    if (!copy)
        return false;
    frame->summed = true;
    frame->crc = iw_crc_update(IW_CRC_INIT, frame->header, frame->header_length);
    frame->crc = iw_crc_copy(frame->crc, copy, source, first);
    uiw_frame_add(batch, copy, frame->payload_length);
    uiw_frame_cut(batch, frame);
    batch->cut.source = source + first;
    return true;
}

void uiw_frame_sum_cut(const struct uiw_ep *ep, const struct uiw_batch *batch)
{
    const struct uiw_cut *cut = &batch->cut;
    const struct iovec *parts = &batch->iov[cut->iovs - 1];
    uint32_t crc;

    if (!ep->agreed.crc)
        return;
    crc = cut->source ? iw_crc_copy(cut->crc, parts[1].iov_base, cut->source, UIW_LAST_PART)
                      : iw_crc_update_iov(cut->crc, parts, 2, cut->length);
    (void)iw_encode_trailer(cut->trailer, cut->pad,
                            iw_crc_final(iw_crc_update(crc, frame_zeros, cut->pad)));
}

/* Inserts markers. Few peers want them, so this is simple: each call has one FPDU, in a buffer. */
static bool frame_apply_markers(struct uiw_ep *ep, struct uiw_batch *batch, unsigned iov_first,
                                struct uiw_fpdu *fpdu)
{
    uint8_t *plain = uiw_frame_buffer(ep, batch);
    uint8_t *marked = plain ? uiw_frame_buffer(ep, batch) : NULL;
    uint32_t used = 0;

    if (!marked)
        return false;
    for (unsigned i = iov_first; i < batch->iov_count; i++) {
        memcpy(plain + used, batch->iov[i].iov_base, batch->iov[i].iov_len);
        used += (uint32_t)batch->iov[i].iov_len;
    }
    fpdu->wire_length = (uint32_t)iw_marker_insert(
        ep->tx.position, plain, fpdu->wire_length - IW_CRC_FIELD, ep->agreed.crc, marked);
    batch->iov_count = iov_first;
    batch->iov[batch->iov_count++] = (struct iovec){marked, fpdu->wire_length};
    batch->full = true;
    return true;
}

bool uiw_frame_close(struct uiw_ep *ep, struct uiw_batch *batch, const struct uiw_frame *frame,
                     bool ends_request)
{
    uint32_t ulpdu = (uint32_t)frame->header_length - IW_LENGTH_FIELD + frame->payload_length;
    unsigned pad = iw_pad(ulpdu);
    uint32_t crc = ep->agreed.crc && !frame->cut ? frame_crc(batch, frame, pad) : 0;
    uint8_t *trailer = uiw_frame_scratch(batch);
    size_t trailer_length = iw_encode_trailer(trailer, pad, crc);
    struct uiw_fpdu *fpdu = &batch->fpdus[batch->fpdu_count];

    uiw_frame_add_scratch(batch, trailer_length);
    if (frame->cut)
        frame_close_cut(ep, batch, frame, pad, trailer);
    fpdu->wire_length = IW_LENGTH_FIELD + ulpdu + (uint32_t)trailer_length;
    fpdu->ends_request = ends_request;
    fpdu->after = batch->cursor;
    if (ep->agreed.send_markers && !frame_apply_markers(ep, batch, frame->iov_first, fpdu))
        return false;
    batch->octets += fpdu->wire_length;
    batch->fpdu_count++;
    return true;
}

bool uiw_frame_control(struct uiw_ep *ep, struct uiw_batch *batch, enum iw_opcode opcode,
                       uint32_t qn, uint32_t msn, size_t length, bool ends_request)
{
    size_t header =
        iw_encode_untagged(uiw_frame_scratch(batch), opcode, true, 0, qn, msn, 0, (uint32_t)length);
    struct uiw_frame frame = {.header = uiw_frame_scratch(batch),
                              .header_length = header + length,
                              .iov_first = batch->iov_count,
                              .copied = true};

    uiw_frame_add_scratch(batch, frame.header_length);
    return uiw_frame_close(ep, batch, &frame, ends_request);
}
