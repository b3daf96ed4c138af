/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns requests and answers into FPDUs and sends them. All by the sender, with the send token. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_SEND_H
#define ITAPI_VP_UIWARP_SEND_UIW_SEND_H

#include "vp/uiwarp/queue/uiw_ep.h"
#include "vp/uiwarp/queue/uiw_sq.h"

/* ---- uiw_out.c: one system call, and the rest of an FPDU that it sent in part ---- */

enum uiw_out_state {
    UIW_OUT_MORE,
    UIW_OUT_IDLE,
    UIW_OUT_FULL,
    UIW_OUT_DEAD
};

/* Called when a new stream begins, or the EP has none. */
void uiw_out_reset(struct uiw_ep *ep);

/*
 * blocked: the socket is full, or the budget used up. Then EPOLLOUT is armed on return, and the
 * leader calls again when the socket takes octets. It is level triggered, so a socket that takes
 * them already is reported, too.
 */
void uiw_out_block(struct uiw_ep *ep, bool blocked);

/*
 * Stops sending on a broken stream. Reading goes on: the peer's last octets, perhaps a Terminate,
 * may still be there, and the reader finds the end of the stream.
 */
void uiw_out_kill(struct uiw_ep *ep);

/* Returns the octets sent; 0 if the socket is full; -1 if it is broken. */
ssize_t uiw_out_write(struct uiw_ep *ep, struct iovec *iov, unsigned count);

/*
 * Called when less was sent than was offered. Returns false if the peer has acknowledged a request
 * that it cannot have: then the stream has failed.
 */
bool uiw_out_take_back(struct uiw_ep *ep);

/*
 * Called when the socket has taken `sent` of the first `end` octets of iov. Copies the rest, whose
 * source may change or vanish; the copy is sent before all other octets. If there is no memory for
 * the copy, the stream cannot continue, since half an FPDU was sent; then the function returns
 * false.
 */
bool uiw_out_keep(struct uiw_ep *ep, const struct iovec *iov, unsigned count, uint32_t end,
                  uint32_t sent);

/*
 * Queues a whole FPDU, which is sent before all others; adds markers and CRC. It has at most 128
 * octets without its CRC field. Returns false if memory runs out.
 */
bool uiw_out_prepend_fpdu(struct uiw_ep *ep, const uint8_t *fpdu, size_t length);

/* Sends the octets that come before all others. Returns MORE when all of them have been sent. */
enum uiw_out_state uiw_out_send_image(struct uiw_ep *ep);

/* ---- why the sender has stopped for good ---- */

/* A copy taken while the token is held: afterwards the EP may get another stream. */
struct uiw_failure {
    uint32_t generation;
    it_dto_status_t status; /* of the request `index` */
    uint32_t index;
    enum iw_error error; /* of the response to `entry`, of which `answered` octets have left */
    struct uiw_irq_entry entry;
    uint32_t answered;
};

/* The request cannot be executed. */
static inline void uiw_fail_request(struct uiw_ep *ep, uint32_t index, it_dto_status_t status)
{
    ep->tx.failed_index = index;
    atomic_store_explicit(&ep->tx.failed_status, (int)status, memory_order_release);
}

/* The Read of the peer at the cursor cannot be answered. */
static inline void uiw_fail_response(struct uiw_ep *ep, enum iw_error error)
{
    atomic_store_explicit(&ep->tx.failed_error, (int)error, memory_order_release);
}

/* No request and no Read is to blame. */
static inline void uiw_fail_stream(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->tx.failed_stream, true, memory_order_release);
}

static inline bool uiw_has_failed(const struct uiw_ep *ep)
{
    return atomic_load_explicit(&ep->tx.failed_status, memory_order_acquire) != IT_DTO_SUCCESS ||
           atomic_load_explicit(&ep->tx.failed_error, memory_order_acquire) != IW_OK ||
           atomic_load_explicit(&ep->tx.failed_stream, memory_order_acquire);
}

/* Forgets the failure of a request or response behind octets not sent: it will be tried again. */
static inline void uiw_failure_forget(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->tx.failed_status, IT_DTO_SUCCESS, memory_order_relaxed);
    atomic_store_explicit(&ep->tx.failed_error, IW_OK, memory_order_relaxed);
}

/* ---- uiw_frame.c: the FPDUs of one system call ---- */

#define UIW_BATCH_FPDUS   64u
#define UIW_BATCH_IOVS    336u
#define UIW_BATCH_PINS    128u
#define UIW_BATCH_SCRATCH 16384u
#define UIW_BATCH_BOUNCES 4u
/* Shorter payload is copied behind its header: cheaper than another iovec. */
#define UIW_INLINE_MAX 512u
/* Scratch of an FPDU: its header, a header of the message (of a Read Request, say), its trailer. */
#define UIW_OWN_HEADER 64u
#define UIW_FPDU_SCRATCH                                                                           \
    (IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + UIW_OWN_HEADER + IW_TRAILER_MAX + 1)
_Static_assert(UIW_OWN_HEADER >= IW_READ_REQUEST_HEADER &&
                   UIW_OWN_HEADER >= IW_ATOMIC_REQUEST_HEADER,
               "it fits");
/* Octets of payload in the second call of a cut FPDU. */
#define UIW_LAST_PART 24576u

struct uiw_fpdu {
    uint32_t wire_length;
    bool ends_request;       /* has the last octet of a Send or Write */
    struct uiw_cursor after; /* the sender's position behind this FPDU */
};

/* An FPDU that is sent in two calls. */
struct uiw_cut {
    unsigned iovs;   /* iovecs of the batch in the first call; 0: no FPDU is cut */
    uint32_t octets; /* octets of the first call */
    uint32_t length; /* of the payload: the last iovec of the first call, and the next one */
    uint32_t crc;    /* of the header before the payload; with .source also of the first part */
    unsigned pad;
    uint8_t *trailer;      /* the CRC is filled in between the calls */
    const uint8_t *source; /* of the second part, if that is copied between the calls; else NULL */
};

struct uiw_batch {
    struct uiw_cursor cursor; /* behind the FPDUs built so far */
    uint32_t known;           /* behind the requests that were posted at the last look */
    unsigned fpdu_count;
    unsigned iov_count;
    unsigned pin_count;
    uint32_t octets;
    uint32_t scratch_used;
    bool full;
    bool passed_local;   /* the cursor has passed local requests */
    bool restless;       /* the program may change the payload of the last request */
    bool acknowledges;   /* it contains an acknowledgement */
    uint32_t before_ack; /* the octets in front of that */
    struct uiw_cut cut;
    unsigned bounce_count;
    uint32_t bounce_used;                          /* of the last one */
    struct uiw_bounce *bounces[UIW_BATCH_BOUNCES]; /* of copies with CRC, of FPDUs with markers */
    struct uiw_fpdu fpdus[UIW_BATCH_FPDUS];
    struct iovec iov[UIW_BATCH_IOVS];
    struct uiw_mr *pins[UIW_BATCH_PINS]; /* held until the call has returned */
    uint8_t scratch[UIW_BATCH_SCRATCH];  /* headers, trailers, short payload */
};

/* The FPDU under construction. */
struct uiw_frame {
    uint8_t *header;
    size_t header_length; /* with a header of the message */
    uint32_t payload_length;
    unsigned iov_first;     /* of the FPDU */
    unsigned payload_first; /* first iovec of payload that is not copied */
    bool copied;            /* the payload is in scratch, behind the header */
    bool summed;            /* crc covers header and payload already */
    bool cut;               /* it is sent in two calls */
    uint32_t crc;
};

/* Returns the next free octet of scratch, where headers are encoded. */
static inline uint8_t *uiw_frame_scratch(struct uiw_batch *batch)
{
    return batch->scratch + batch->scratch_used;
}

/* Adds octets to the FPDU. Adjacent pieces become one iovec. */
static inline void uiw_frame_add(struct uiw_batch *batch, uint8_t *base, size_t length)
{
    struct iovec *last = batch->iov_count ? &batch->iov[batch->iov_count - 1] : NULL;

    if (last && (uint8_t *)last->iov_base + last->iov_len == base) {
        last->iov_len += length;
        return;
    }
    batch->iov[batch->iov_count++] = (struct iovec){base, length};
}

/* Adds the next `length` octets of scratch to the FPDU. */
static inline void uiw_frame_add_scratch(struct uiw_batch *batch, size_t length)
{
    uiw_frame_add(batch, uiw_frame_scratch(batch), length);
    batch->scratch_used += (uint32_t)length;
}

/* Returns false if a copy would take scratch that the headers of a full batch need. */
static inline bool uiw_frame_may_copy(const struct uiw_batch *batch, uint32_t length)
{
    uint32_t reserved = (UIW_BATCH_FPDUS - batch->fpdu_count) * (uint32_t)UIW_FPDU_SCRATCH;

    return length <= UIW_INLINE_MAX && batch->scratch_used + length + reserved <= UIW_BATCH_SCRATCH;
}

/* Opens an FPDU. Its header is in scratch; the payload follows. */
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

/* Keeps the pin until the call has returned. A run of segments of one LMR keeps a single pin. */
static inline void uiw_frame_keep_pin(struct uiw_batch *batch, struct uiw_mr *mr)
{
    if (batch->pin_count && batch->pins[batch->pin_count - 1] == mr)
        uiw_mr_unpin(mr);
    else
        batch->pins[batch->pin_count++] = mr;
}

/* Returns a buffer that lives as long as the batch. NULL: no memory, the stream has failed. */
uint8_t *uiw_frame_buffer(struct uiw_ep *ep, struct uiw_batch *batch);

/*
 * Adds a copy of the payload in a buffer of the batch, and sums it: another thread may change the
 * octets themselves. Returns false without room.
 */
bool uiw_frame_add_summed(struct uiw_ep *ep, struct uiw_batch *batch, struct uiw_frame *frame,
                          const struct iovec *payload, unsigned count);

/*
 * The same for payload that is sent in two calls. The second part is copied and summed between the
 * calls.
 */
bool uiw_frame_add_summed_cut(struct uiw_ep *ep, struct uiw_batch *batch, struct uiw_frame *frame,
                              const uint8_t *source);

/*
 * Cuts the payload, which is one iovec, so that it is sent in two calls. The peer copies the first
 * part while uiw_frame_sum_cut computes the CRC here and the second part is on its way.
 */
void uiw_frame_cut(struct uiw_batch *batch, struct uiw_frame *frame);

/*
 * Adds the trailer and enters the FPDU into the batch, whose cursor is behind it. Returns false if
 * that fails.
 */
bool uiw_frame_close(struct uiw_ep *ep, struct uiw_batch *batch, const struct uiw_frame *frame,
                     bool ends_request);

/*
 * Adds a message of one untagged segment: opens and closes its FPDU. Its own `length` octets are in
 * scratch already, behind the room for the header (uiw_frame_own).
 */
bool uiw_frame_control(struct uiw_ep *ep, struct uiw_batch *batch, enum iw_opcode opcode,
                       uint32_t qn, uint32_t msn, size_t length, bool ends_request);

/* Returns the place for the own octets of such a message. */
static inline uint8_t *uiw_frame_own(struct uiw_batch *batch)
{
    return uiw_frame_scratch(batch) + IW_LENGTH_FIELD + IW_UNTAGGED_HEADER;
}

/* Called after the first of the two calls. Fills in the CRC of the cut FPDU. */
void uiw_frame_sum_cut(const struct uiw_ep *ep, const struct uiw_batch *batch);

/* ---- uiw_local.c: local requests, of which nothing goes to the peer ---- */

static inline bool uiw_local_is_next(const struct uiw_ep *ep, const struct uiw_cursor *cursor)
{
    return cursor->sq_offset == 0 &&
           cursor->sq != atomic_load_explicit(&ep->sq_ready, memory_order_acquire) &&
           uiw_sqe_is_local(uiw_sqe_at(ep, cursor->sq));
}

/*
 * Executes the local requests at the cursor and moves it behind them, as far as fences allow.
 * may_wait: the caller holds no pin. A failure is left in ep->tx. Returns true if the cursor moved.
 */
bool uiw_local_run(struct uiw_ep *ep, struct uiw_cursor *cursor, bool may_wait);

/*
 * Looks up the windows of a Read that starts. Returns false if one is not linked, or not for this
 * stream.
 */
bool uiw_local_resolve(struct uiw_ep *ep, struct uiw_sqe *sqe);

/* Returns true if a Read with IT_UNLINK_LOCAL_SINK may have this sink. */
bool uiw_local_may_unlink_sink(const struct uiw_sqe *sqe);

/* ---- uiw_request.c, uiw_response.c ---- */

/*
 * Adds the next FPDU of the request at the batch's cursor. Returns false if the request may not
 * start yet (fence, ORD) or cannot be executed.
 */
bool uiw_request_add(struct uiw_ep *ep, struct uiw_batch *batch);

/*
 * Adds the next FPDU of the response at the batch's cursor. Returns false if the batch has no
 * buffer left for it, or the source of the Read is gone.
 */
bool uiw_response_add(struct uiw_ep *ep, struct uiw_batch *batch);

/* ---- uiw_batch.c: what is sent next, and how much fits ---- */

void uiw_batch_begin(struct uiw_batch *batch, const struct uiw_cursor *cursor);

/*
 * Builds FPDUs until the batch is full or nothing more may be sent now. A request or response that
 * cannot be executed ends the batch in front of it and leaves its reason in ep->tx.
 */
void uiw_batch_fill(struct uiw_ep *ep, struct uiw_batch *batch);

/* Drops the pins and buffers of the batch, after its system call. */
void uiw_batch_end(struct uiw_ep *ep, struct uiw_batch *batch);

/* ---- uiw_single.c: a single short message ---- */

/* Returns true if such a message is all there is to send. */
bool uiw_single_is_next(const struct uiw_ep *ep);

/* Called after uiw_single_is_next. Returns MORE when a batch must send the message. */
enum uiw_out_state uiw_single_send(struct uiw_ep *ep);

/* ---------------------------------------------------------------- uiw_sender.c */

/*
 * Returns true if the sender may execute requests. It executes nothing once the EP has left
 * CONNECTED: the thread that ends the connection waits for the token.
 */
static inline bool uiw_sender_may_run(const struct uiw_ep *ep)
{
    return ep->fd >= 0 && ual_ep_state(ep->ual) == IT_EP_STATE_CONNECTED &&
           !atomic_load_explicit(&ep->tx.dead, memory_order_acquire) && !uiw_has_failed(ep);
}

static inline bool uiw_sender_may_send(const struct uiw_ep *ep)
{
    return uiw_sender_may_run(ep) && !atomic_load_explicit(&ep->tx.hold, memory_order_acquire);
}

/* Returns true if requests, responses or an acknowledgement wait for the sender. */
static inline bool uiw_sender_has_work(const struct uiw_ep *ep)
{
    const struct uiw_cursor *cursor = &ep->tx.cursor;

    return cursor->sq != atomic_load_explicit(&ep->sq_ready, memory_order_acquire) ||
           uiw_irq_waits(&ep->reads, cursor->irq) ||
           atomic_load_explicit(&ep->own.ack_is_due, memory_order_relaxed);
}

/*
 * Sends until the budget is used up: a batch costs one, and one more for each 128 KiB. writable:
 * epoll reported that the socket takes octets; only then a full socket is tried again.
 */
void uiw_sender_run(struct uiw_ep *ep, bool writable, unsigned *budget);

void uiw_sender_note_failure(const struct uiw_ep *ep, struct uiw_failure *failure);

#endif
