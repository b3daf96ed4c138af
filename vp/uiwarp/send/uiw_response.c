/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the FPDUs of responses. The source of a Read may change at any time. With CRC its octets
 * are therefore copied once, and the CRC is computed over the copy, which no other thread changes,
 * unless the program promises that they do not change (ITX_LMR_STEADY). Short payload is always
 * copied.
 */

#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/send/uiw_send.h"

#include <string.h>

/*
 * Adds the payload, whose source lies in `mr`, and takes over the pin of `mr`. Returns false
 * without room for a copy.
 */
static bool response_add_payload(struct uiw_ep *ep, struct uiw_batch *batch,
                                 struct uiw_frame *frame, struct uiw_mr *mr, uint8_t *source)
{
    bool added = true;

    if (!frame->copied && (!ep->agreed.crc || mr->region.steady)) {
        batch->iov[batch->iov_count++] = (struct iovec){source, frame->payload_length};
        uiw_frame_keep_pin(batch, mr);
        return true;
    }
    if (frame->copied) {
        memcpy(uiw_frame_scratch(batch), source, frame->payload_length);
        uiw_frame_add_scratch(batch, frame->payload_length);
    } else {
        const struct iovec payload = {source, frame->payload_length};

        added = uiw_frame_add_summed(ep, batch, frame, &payload, 1);
    }
    uiw_mr_unpin(mr);
    return added;
}

static bool response_add_read(struct uiw_ep *ep, struct uiw_batch *batch,
                              const struct uiw_irq_entry *entry)
{
    const struct iw_read_request *request = &entry->request;
    uint32_t offset = batch->cursor.irq_offset;
    uint32_t left = request->length - offset;
    uint32_t limit = ep->tx.max_ulpdu - IW_TAGGED_HEADER;
    uint32_t length = left < limit ? left : limit;
    bool last = length == left;
    struct uiw_mr *mr = NULL;
    uint8_t *source = NULL;
    struct uiw_frame frame;
    size_t header;

    if (length > 0) {
        enum uiw_mr_verdict verdict = uiw_mr_pin_remote(&ep->ia->memory.mrs, request->source_stag,
                                                        request->source_to + offset, length,
                                                        IT_PRIV_REMOTE_READ, &ep->id, &mr, &source);

        if (verdict != UIW_MR_OK) {
            uiw_fail_response(ep, uiw_read_error(verdict));
            return false;
        }
    }
    header = iw_encode_tagged(uiw_frame_scratch(batch), IW_OP_READ_RESPONSE, last,
                              request->sink_stag, request->sink_to + offset, length);
    uiw_frame_open(batch, &frame, header, length);
    if (mr && !response_add_payload(ep, batch, &frame, mr, source))
        return false;
    batch->cursor.irq += last;
    batch->cursor.irq_offset = last ? 0 : offset + length;
    return uiw_frame_close(ep, batch, &frame, false);
}

bool uiw_response_add(struct uiw_ep *ep, struct uiw_batch *batch)
{
    const struct uiw_irq_entry *entry = uiw_irq_at(&ep->reads, batch->cursor.irq);
    size_t length;

    if (!entry->is_atomic)
        return response_add_read(ep, batch, entry);
    length = iw_encode_atomic_response(uiw_frame_own(batch), &entry->atomic);
    batch->cursor.irq++;
    return uiw_frame_control(ep, batch, IW_OP_ATOMIC_RESPONSE, IW_QN_ATOMIC, entry->msn, length,
                             false);
}
