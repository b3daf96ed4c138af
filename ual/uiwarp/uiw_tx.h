/* SPDX-License-Identifier: BSD-2-Clause */
/* What one sendmsg(2) carries; shared by the builder (uiw_batch.c) and the sender (uiw_tx.c). */
#ifndef ITAPI_UAL_UIWARP_UIW_TX_H
#define ITAPI_UAL_UIWARP_UIW_TX_H

#include "ual/uiwarp/uiw_ep.h"

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

struct uiw_batch {
    struct uiw_cursor cursor; /* behind the FPDUs built so far */
    unsigned fpdu_count;
    unsigned iov_count;
    unsigned pin_count;
    uint32_t octets;
    uint32_t scratch_used;
    bool full;
    bool passed_local; /* the cursor has passed local requests */
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
/* Unpins. The memory the batch points to is not needed any more. */
void uiw_batch_end(struct uiw_ep *ep, struct uiw_batch *batch);

/* ---- One system call, and the usual message in one (uiw_quick.c) ---- */

enum uiw_tx_state {
    UIW_TX_MORE,
    UIW_TX_IDLE,
    UIW_TX_FULL,
    UIW_TX_DEAD
};

/* Octets taken, 0 when the socket is full, -1 when it is broken. Sender. */
ssize_t uiw_tx_write(struct uiw_ep *ep, struct iovec *iov, unsigned count);

/* Locked. Is this request, as it is posted, such a message? */
bool uiw_quick_may_be(const struct uiw_ep *ep, const struct vp_request *request);
/* Sender. Is such a message all there is to send? */
bool uiw_quick_is_next(const struct uiw_ep *ep);
/* Sender, after uiw_quick_is_next. MORE: it is left to the batch. */
enum uiw_tx_state uiw_quick_send(struct uiw_ep *ep);

/* Sender. Its only request, a Send or an RDMA Write: it begins; the header of one FPDU of it; it is over. */
void uiw_quick_begin(struct uiw_ep *ep, struct uiw_sqe *sqe);
uint32_t uiw_quick_encode_header(const struct uiw_sqe *sqe, uint8_t *header, uint32_t offset,
                                 uint32_t length);
void uiw_quick_finish(struct uiw_ep *ep, struct uiw_sqe *sqe);

/* ---- A large message with nothing around it: uiw_parts.c ---- */

#define UIW_PARTS_MIN 49152u
#define UIW_PARTS_MAX 131072u

/*
 * Sender. A message of UIW_PARTS_MIN octets or more is next, and all there is. The peer waits for it if it has spoken
 * since we sent the last such.
 */
bool uiw_parts_are_due(const struct uiw_ep *ep, const struct uiw_sqe *sqe);
/* Sender. MORE: it is left to the batch. */
enum uiw_tx_state uiw_parts_send(struct uiw_ep *ep, struct uiw_sqe *sqe);

/* Counters have one writer and may be read by anybody. */
static inline void uiw_count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

#endif
