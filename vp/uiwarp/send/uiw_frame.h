/* SPDX-License-Identifier: BSD-2-Clause */
/* The FPDUs of one system call, and the one under construction. Sender. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_FRAME_H
#define ITAPI_VP_UIWARP_SEND_UIW_FRAME_H

#include "vp/uiwarp/queue/uiw_ep.h"

#define UIW_BATCH_FPDUS   64u
#define UIW_BATCH_IOVS    336u
#define UIW_BATCH_PINS    128u
#define UIW_BATCH_SCRATCH 16384u
#define UIW_BATCH_BOUNCES 4u
/* Shorter payload is copied behind its header: cheaper than another iovec. */
#define UIW_INLINE_MAX 512u
/* Scratch of an FPDU: header, the header of a request's own (a Read's), trailer. */
#define UIW_OWN_HEADER 64u
#define UIW_FPDU_SCRATCH                                                                           \
    (IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + UIW_OWN_HEADER + IW_TRAILER_MAX + 1)
_Static_assert(UIW_OWN_HEADER >= IW_READ_REQUEST_HEADER &&
                   UIW_OWN_HEADER >= IW_ATOMIC_REQUEST_HEADER,
               "it fits");
/* Payload in the second call of an FPDU that is cut. */
#define UIW_LAST_PART 24576u

struct uiw_fpdu {
    uint32_t wire_length;
    bool ends_request;       /* last octet of a Send or Write */
    struct uiw_cursor after; /* where the sender is when it is gone */
};

/* An FPDU that goes in two calls. */
struct uiw_cut {
    unsigned iovs;   /* of the batch, that go in the first call; 0: there is no such FPDU */
    uint32_t octets; /* in these */
    uint32_t length; /* of its payload: the last of these and the one behind them */
    uint32_t crc;    /* of the header in front of that */
    unsigned pad;
    uint8_t *trailer; /* without the CRC as yet */
};

struct uiw_batch {
    struct uiw_cursor cursor; /* behind the FPDUs built so far */
    unsigned fpdu_count;
    unsigned iov_count;
    unsigned pin_count;
    uint32_t octets;
    uint32_t scratch_used;
    bool full;
    bool passed_local; /* the cursor has passed local requests */
    bool acknowledges; /* the first FPDU does: messages of the peer */
    struct uiw_cut cut;
    unsigned bounce_count;
    uint32_t bounce_used;                          /* of the last one */
    struct uiw_bounce *bounces[UIW_BATCH_BOUNCES]; /* answers with CRC; FPDUs with markers */
    struct uiw_fpdu fpdus[UIW_BATCH_FPDUS];
    struct iovec iov[UIW_BATCH_IOVS];
    struct uiw_mr *pins[UIW_BATCH_PINS]; /* held until the call has returned */
    uint8_t scratch[UIW_BATCH_SCRATCH];  /* headers, trailers, short payload */
};

/* The FPDU under construction. */
struct uiw_frame {
    uint8_t *header;
    size_t header_length; /* with a request's own header */
    uint32_t payload_length;
    unsigned iov_first;     /* of the FPDU */
    unsigned payload_first; /* iovec of payload that is not copied */
    bool copied;            /* payload stands behind the header */
    bool summed;            /* crc covers header and payload already */
    bool cut;               /* it goes in two calls */
    uint32_t crc;
};

/* The next octet of scratch: headers are encoded there. */
static inline uint8_t *uiw_frame_scratch(struct uiw_batch *batch)
{
    return batch->scratch + batch->scratch_used;
}

/* Scratch pieces that follow each other become one iovec. */
static inline void uiw_frame_add(struct uiw_batch *batch, uint8_t *base, size_t length)
{
    struct iovec *last = batch->iov_count ? &batch->iov[batch->iov_count - 1] : NULL;

    if (last && (uint8_t *)last->iov_base + last->iov_len == base) {
        last->iov_len += length;
        return;
    }
    batch->iov[batch->iov_count++] = (struct iovec){base, length};
}

/* Takes `length` octets of scratch into the FPDU. */
static inline void uiw_frame_add_scratch(struct uiw_batch *batch, size_t length)
{
    uiw_frame_add(batch, uiw_frame_scratch(batch), length);
    batch->scratch_used += (uint32_t)length;
}

/* Copies must not take the scratch that the headers of a full batch need. */
static inline bool uiw_frame_may_copy(const struct uiw_batch *batch, uint32_t length)
{
    uint32_t reserved = (UIW_BATCH_FPDUS - batch->fpdu_count) * (uint32_t)UIW_FPDU_SCRATCH;

    return length <= UIW_INLINE_MAX && batch->scratch_used + length + reserved <= UIW_BATCH_SCRATCH;
}

/* The header is in scratch; payload follows. */
static inline void uiw_frame_open(struct uiw_batch *batch, struct uiw_frame *frame,
                                  size_t header_length, uint32_t payload_length)
{
    frame->header = uiw_frame_scratch(batch);
    frame->header_length = header_length;
    frame->payload_length = payload_length;
    frame->iov_first = batch->iov_count;
    frame->summed = false;
    frame->cut = false;
    uiw_frame_add_scratch(batch, header_length);
    frame->payload_first = batch->iov_count;
    frame->copied = uiw_frame_may_copy(batch, payload_length);
}

/* Keeps the pin until the call is over; one per run of segments of the same LMR is enough. */
static inline void uiw_frame_keep_pin(struct uiw_batch *batch, struct uiw_mr *mr)
{
    if (batch->pin_count && batch->pins[batch->pin_count - 1] == mr)
        uiw_mr_unpin(mr);
    else
        batch->pins[batch->pin_count++] = mr;
}

/* A buffer that lives as long as the batch. NULL: the stream has failed. */
uint8_t *uiw_frame_buffer(struct uiw_ep *ep, struct uiw_batch *batch);

/*
 * The payload, one iovec, goes in two calls: the peer copies the first part while uiw_frame_sum_cut
 * sums all of it and the second part is on its way.
 */
void uiw_frame_cut(struct uiw_batch *batch, struct uiw_frame *frame);

/*
 * Adds the trailer and enters the FPDU; the cursor stands behind it. Returns false if that has
 * failed.
 */
bool uiw_frame_close(struct uiw_ep *ep, struct uiw_batch *batch, const struct uiw_frame *frame,
                     bool ends_request);

/*
 * A message of one untagged segment whose `length` octets of ULPDU stand in scratch behind the room
 * for the header: opens and closes its FPDU.
 */
bool uiw_frame_control(struct uiw_ep *ep, struct uiw_batch *batch, enum iw_opcode opcode,
                       uint32_t qn, uint32_t msn, size_t length, bool ends_request);

/* Such a message's own octets go here. */
static inline uint8_t *uiw_frame_own(struct uiw_batch *batch)
{
    return uiw_frame_scratch(batch) + IW_LENGTH_FIELD + IW_UNTAGGED_HEADER;
}

/* After the first of the two calls: the trailer of the FPDU that goes in both. */
void uiw_frame_sum_cut(const struct uiw_ep *ep, const struct uiw_batch *batch);

#endif
