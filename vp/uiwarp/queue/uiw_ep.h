/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An EP's work queues and stream. Fields are grouped by who may touch them:
 *   sender   holds tx.token; never waits for anything while it does
 *   reader   holds rx_token; may wait for the send token, never the other way round
 *   locked   ual_ep.lock
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_EP_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_EP_H

#include "vp/uiwarp/queue/uiw.h"
#include "vp/uiwarp/queue/uiw_gather.h"

#include <sched.h>

struct uiw_sqe {
    it_dto_cookie_t cookie;
    union {
        it_rdma_addr_t rdma_addr;
        it_handle_t unlinked; /* of a Read that is done: the sink it has invalidated */
    };
    uint64_t operand; /* atomic: to add or to store; else the immediate value */
    uint64_t compare; /* atomic */
    uint32_t remote_stag;
    uint32_t length;
    uint32_t msn;    /* of its (first untagged) message; valid once started */
    uint8_t opcode;  /* enum vp_opcode */
    uint8_t flags;   /* it_dto_flags_t */
    bool started;    /* sender: has its MSN, and its place in the ORQ; a link: has been executed */
    bool done;       /* locked: executed, waits for those before it to complete */
    bool to_windows; /* a Read: the segments name windows ... */
    bool resolved;   /* sender: ... which have been looked up: its start */
    bool has_immediate;
    bool bad_key;  /* of more bits than an STag has: no peer has such a key */
    bool quick;    /* of the usual kind; see uiw_single.c */
    bool in_parts; /* sender: the peer waits for it; see uiw_batch.c */
    uint8_t segment_count;
    struct uiw_segment segments[];
};

struct uiw_rqe {
    it_dto_cookie_t cookie;
    uint32_t length; /* at most 2^32-1: no message is longer */
    uint8_t flags;
    uint8_t segment_count;
    struct uiw_segment segments[];
};

/* Indexes run freely and wrap at 2^32; a slot is index & mask. */
struct uiw_queue {
    unsigned char *slots;
    uint32_t stride; /* slots, stride and mask change with both tokens and the lock held */
    uint32_t mask;
    uint32_t depth;        /* limit in force; locked */
    _Atomic uint32_t tail; /* next to post; written locked; RQ: released to the reader */
    /*
     * Index of the oldest that is not completed << 32 | events left in the EVD: one word, so that a
     * poster never counts a completion twice. Written by the reader (RQ), locked (SQ, flush).
     */
    _Atomic uint64_t over;
    _Atomic uint32_t retired; /* events taken from the EVD; written by the dequeue */
};

/* A Read or atomic of ours that waits for its response. Sender adds, reader takes. */
struct uiw_orq_entry {
    uint32_t sq_index;
    uint32_t length;
    uint32_t received;
    uint32_t sink_stag; /* what the response must carry: never used to find memory */
    bool rtr;           /* the zero-length Read that opens a connection: no request behind it */
    bool atomic;        /* its identifier on the wire is sq_index */
};

/* A Read or atomic of the peer that we answer. Reader adds, sender takes. */
struct uiw_irq_entry {
    union {
        struct iw_read_request request;
        struct iw_atomic_response atomic; /* executed already */
    };
    uint32_t msn; /* Read: of the Request; atomic: of the Response */
    bool is_atomic;
};

/* Where the sender is: next octet of the SQ's message and of the response. */
struct uiw_cursor {
    uint32_t sq;
    uint32_t sq_offset;
    bool sq_immediate; /* the payload is over, the immediate value comes */
    uint32_t irq;
    uint32_t irq_offset;
};

/* Octets that must leave before anything else: the rest of an FPDU the socket took half of. */
struct uiw_image {
    struct uiw_bounce *buffer; /* NULL: nothing waits */
    uint32_t start;
    uint32_t end;
};

enum uiw_token {
    UIW_TOKEN_FREE,
    UIW_TOKEN_HELD,
    UIW_TOKEN_AGAIN
};

struct uiw_tx {
    _Atomic int token;    /* enum uiw_token; AGAIN: the holder must look at the queues once more */
    _Atomic bool hold;    /* responder: no FPDU before the peer's first; cleared by the reader */
    _Atomic bool dead;    /* no more sending: the stream has failed or is ending */
    _Atomic bool blocked; /* the socket is full, EPOLLOUT is armed; sender writes */
    /* Sender. */
    bool detached; /* not in the poll set: the leader looks by itself; see uiw_detach.c */
    struct uiw_cursor cursor;
    struct uiw_image image;
    uint64_t position; /* octets handed to the socket since Full Operation: for markers */
    uint32_t next_send_msn;
    uint32_t next_read_msn;
    uint32_t max_ulpdu;                    /* of one FPDU */
    unsigned responses;                    /* in a row */
    uint64_t fpdus_in_seen;                /* of .fpdus_in: when a large message went in parts */
    _Atomic uint64_t fpdus, octets, calls; /* counters, read by anybody */
    /* Why the sender stopped for good; acted on after the token is back. */
    _Atomic int failed_status; /* it_dto_status_t of request failed_index; IT_DTO_SUCCESS: none */
    _Atomic int failed_error;  /* enum iw_error of the response at the cursor; IW_OK: none */
    uint32_t failed_index;
    _Atomic bool failed_stream; /* for another reason: no memory, memory that is not mapped */
    _Atomic uint64_t retries, terminates, nudges; /* rare: more of the counters */
};

/* What FPDUs are likely to come: how much is read at a time where they are not read directly. */
enum uiw_expect {
    UIW_EXPECT_ANY,
    UIW_EXPECT_TINY, /* few, for they cost as much as others */
    UIW_EXPECT_LARGE /* not much past a header */
};

struct uiw_silence_entry {
    struct ual_ep *next, *previous; /* these by progress.lock */
    uint64_t due_ns;
    bool listed;
    uint64_t look_ns;         /* loop: until the next look whether the Reply is acknowledged */
    uint64_t acknowledged_ns; /* loop: when it was seen to be; 0: not yet */
};

/* A message that holds a receive of an S-RQ; reader. See uiw_srq_watch.c. */
struct uiw_drawn {
    struct ual_ep *next; /* by progress.lock */
    bool listed;         /* by progress.lock */
    bool watched;        /* in the list, or in the hand of the loop that looks at it */
    uint32_t message;    /* index of its receive */
    uint32_t arrived;    /* octets, when it was looked at */
    uint64_t looked_ns;
    uint64_t age_ns;   /* since it was met */
    uint64_t still_ns; /* since the last octet */
};

struct uiw_ep {
    struct ual_ep *ual;
    struct uiw_ia *ia;

    /* Immutable while connected. */
    int fd; /* -1: no stream */
    struct iw_mpa_result agreed;
    bool initiator;
    uint64_t release_ns;   /* responder: silence after which it may speak first; 0: never */
    uint32_t generation;   /* counts the connections of this EP; never 0 */
    bool counters_retired; /* they are in uiw_ia.retired now; by retired_lock */
    const void *pz;
    struct uiw_stream_id id; /* of the connection: what peers may reach through it */

    _Atomic bool read_enabled; /* peers may RDMA Read, Write through this EP */
    _Atomic bool write_enabled;
    _Atomic bool atomics_enabled; /* the same for its atomics */
    _Atomic uint32_t ord_limit;   /* in force: as agreed, or as it_ep_modify has changed it */
    /*
     * Of receives drawn from the S-RQ: how many the EP may hold, that is, from the first octet of
     * the message until its completion is dequeued.
     */
    _Atomic uint32_t soft_limit; /* armed soft watermark; 0: off, or told */
    _Atomic uint32_t hard_limit; /* UINT32_MAX: none */

    /* Locked. */
    bool negotiated;                 /* .info is filled */
    struct itx_mpa_info info;        /* of this connection, or the last before a reset */
    uint32_t wanted_ird, wanted_ord; /* asked for; ual_ep.attr shows those in force */
    bool drained;                    /* NONOPERATIONAL and flushed: later posts flush themselves */
    struct uiw_queue sq;
    /*
     * Up to here the sender goes, and reads it with acquire; written locked. What is posted behind it
     * waits for a post without IT_COALESCE_WR_FLAG.
     */
    _Atomic uint32_t sq_ready;
    bool hold_met;              /* what is held was met by a sweep; see uiw_hold.c */
    _Atomic uint64_t last_post; /* base_rough_ticks at its end; any poster */
    unsigned burst;             /* posts in quick succession */
    uint64_t burst_heard;       /* of .fpdus_in, at the last post */
    bool burst_paused;          /* the last one came behind a pause */
    uint64_t burst_pause;       /* that does not end a burst, in the same ticks */
    unsigned gathered_requests; /* held back since the last that was not */
    uint64_t gathered_octets;

    _Alignas(64) struct uiw_tx tx;

    /* Reader, with rx_token. */
    _Alignas(64) _Atomic bool rx_token;
    bool rx_wake_recv, rx_wake_request; /* EVDs to wake when no lock is held */
    bool rx_kick;                       /* the sender has something new to do */
    bool rx_tell_low, rx_tell_high;     /* watermarks that were crossed; see uiw_srq.h */
    bool rx_drawn;                      /* a receive, from the S-RQ */
    bool rx_terminated;                 /* the peer's Terminate is in rx_terminate */
    enum uiw_expect expect;
    bool widened; /* the receive window; see uiw_net.h */
    struct uiw_gather gather;
    uint32_t rx_atomics; /* of the peer, executed: MSN of the last response */
    struct uiw_drawn drawn;
    unsigned pinned_count;
    struct uiw_mr *pinned[IW_RX_IOV_MAX]; /* between map and unmap */
    struct iw_terminate rx_terminate;
    _Atomic uint64_t octets_in, calls_in, fpdus_in; /* counters, read by anybody */
    uint64_t fpdus_before, octets_before;           /* of earlier connections */
    struct uiw_queue rq; /* with an S-RQ: what the EP has drawn from it, one slot */
    struct iw_rx rx;
    _Atomic uint64_t crc_errors, protocol_errors, terminates_in; /* counters, too */

    struct uiw_orq_entry *orq; /* ring of orq_mask + 1 */
    uint32_t orq_mask;
    _Atomic uint32_t orq_tail; /* sender */
    _Atomic uint32_t orq_head; /* reader */
    struct uiw_irq_entry *irq; /* ring of irq_mask + 1, twice the IRD */
    uint32_t irq_mask;
    _Atomic uint32_t irq_tail; /* reader */
    _Atomic uint32_t irq_head; /* sender: answered and gone */
    _Atomic uint32_t irq_sent; /* sender: the last octet is in the call that runs now, at least */
    _Atomic bool lost_event;   /* a completion did not fit its EVD: the connection must break */

    /* Connection management. */
    struct uiw_conn *conn;     /* locked; see uiw_start.h */
    struct itx_mpa_params mpa; /* locked */
    struct uiw_silence_entry silence;
    _Atomic uint32_t deferral;    /* on the list, in use on that account: see uiw_defer.c */
    struct ual_ep *next_deferred; /* these by whoever has listed it or taken the list */
    const void *deferred_by;      /* thread */
    bool deferred_met;            /* by a sweep */
    struct ual_ep *next_held;     /* by progress.lock */
    bool held;                    /* by progress.lock */
    _Atomic bool held_hint;       /* true: in the list, or about to be */
};

#define UIW_EP_AREA sizeof(struct uiw_ep)

static inline struct uiw_ep *uiw_ep_of(struct ual_ep *ual)
{
    return (struct uiw_ep *)(void *)ual->area;
}

static inline bool uiw_sqe_is_atomic(const struct uiw_sqe *sqe)
{
    return sqe->opcode == VP_FETCH_ADD || sqe->opcode == VP_CMP_SWAP || sqe->opcode == VP_SWAP;
}

static inline uint32_t uiw_queue_head(const struct uiw_queue *queue)
{
    return (uint32_t)(atomic_load_explicit(&queue->over, memory_order_acquire) >> 32);
}

static inline uint32_t uiw_queue_reported(const struct uiw_queue *queue)
{
    return (uint32_t)atomic_load_explicit(&queue->over, memory_order_acquire);
}

/* Before the event can be seen: what is dequeued must have been counted. */
static inline void uiw_queue_advance(struct uiw_queue *queue, uint32_t head, uint32_t reported)
{
    atomic_store_explicit(&queue->over, (uint64_t)head << 32 | reported, memory_order_release);
}

/*
 * Slots that may not be posted to: what is not completed, and what is but whose event has not been
 * dequeued (rule P3). An event that was lost takes no slot.
 */
static inline uint32_t uiw_queue_in_use(const struct uiw_queue *queue)
{
    uint64_t over = atomic_load_explicit(&queue->over, memory_order_acquire);
    uint32_t retired = atomic_load_explicit(&queue->retired, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);

    return tail - (uint32_t)(over >> 32) + ((uint32_t)over - retired);
}

static inline struct uiw_sqe *uiw_sqe_at(const struct uiw_ep *ep, uint32_t index)
{
    return (void *)(ep->sq.slots + (size_t)(index & ep->sq.mask) * ep->sq.stride);
}

/* Local requests: links and unlinks. Nothing of them goes to the peer. */
static inline bool uiw_sqe_is_local(const struct uiw_sqe *sqe)
{
    return sqe->opcode == VP_RMR_LINK || sqe->opcode == VP_RMR_UNLINK;
}

static inline struct uiw_link *uiw_sqe_link(struct uiw_sqe *sqe)
{
    return (void *)sqe->segments;
}

static inline struct uiw_rqe *uiw_rqe_at(const struct uiw_ep *ep, uint32_t index)
{
    return (void *)(ep->rq.slots + (size_t)(index & ep->rq.mask) * ep->rq.stride);
}

/* Slots of a ring that holds so many, at least one. */
static inline uint32_t uiw_ring_size(size_t entries)
{
    uint32_t size = 1;

    while (size < entries)
        size *= 2;
    return size;
}

/* Octets of a slot whose entry begins with a header and ends in an array of segments. */
static inline uint32_t uiw_slot_stride(size_t header, size_t segments)
{
    return (uint32_t)((header + segments * sizeof(struct uiw_segment) + 15) & ~(size_t)15);
}

static inline uint32_t uiw_rqe_stride(size_t segments)
{
    return uiw_slot_stride(sizeof(struct uiw_rqe), segments);
}

/* ---------------------------------------------------------------- between the files of the engine */

/* uiw_modify.c: what the mask (it_ep_param_mask_t bits) says. Watermarks are armed. */
#define UIW_EP_ALL (~0u)

#endif
