/* SPDX-License-Identifier: BSD-2-Clause */
/* What one sendmsg(2) carries. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_BATCH_H
#define ITAPI_VP_UIWARP_SEND_UIW_BATCH_H

#include "vp/uiwarp/queue/uiw_ep.h"

#define UIW_BATCH_FPDUS   64u
#define UIW_BATCH_IOVS    336u
#define UIW_BATCH_PINS    128u
#define UIW_BATCH_SCRATCH 16384u
#define UIW_BATCH_BOUNCES 4u
/* Shorter payload is copied behind its header: cheaper than another iovec. */
#define UIW_INLINE_MAX 512u

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
    uint32_t crc;    /* of what is in front of that */
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
    struct uiw_cut cut;
    unsigned bounce_count;
    uint32_t bounce_used;                          /* of the last one */
    struct uiw_bounce *bounces[UIW_BATCH_BOUNCES]; /* answers with CRC; FPDUs with markers */
    struct uiw_fpdu fpdus[UIW_BATCH_FPDUS];
    struct iovec iov[UIW_BATCH_IOVS];
    struct uiw_mr *pins[UIW_BATCH_PINS]; /* held until the call has returned */
    uint8_t scratch[UIW_BATCH_SCRATCH];  /* headers, trailers, short payload */
};

/* Sender. */
void uiw_batch_begin(struct uiw_batch *batch, const struct uiw_cursor *cursor);
/*
 * Builds FPDUs until the batch is full or nothing more may be sent now. What can not be executed
 * leaves its reason in ep->tx (failed_status or failed_error) and ends the batch in front of it.
 */
void uiw_batch_fill(struct uiw_ep *ep, struct uiw_batch *batch);
/* After the first of the two calls: the trailer of the FPDU that goes in both. */
void uiw_batch_sum_cut(const struct uiw_ep *ep, const struct uiw_batch *batch);
/* Unpins. The memory the batch points to is not needed any more. */
void uiw_batch_end(struct uiw_ep *ep, struct uiw_batch *batch);

/* ---- One system call, and the usual message in one (uiw_single.c) ---- */

#endif
