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

/* A local segment, resolved to memory; its rights are checked when the operation runs. */
struct uiw_segment {
    uint8_t *addr;
    struct uiw_mr *mr; /* local entry of its LMR, or the window */
    uint32_t length;
    uint32_t stag; /* of mr when it was posted: dead when the LMR is freed */
};

/* What a link opens, in the place of the segments of its request. */
struct uiw_link {
    struct uiw_mr *window;
    struct ual_lmr *lmr; /* held from the post until the link is superseded; NULL: an unlink */
    uint8_t *addr;
    uint64_t length;
    uint32_t serial; /* of the window when it was posted: another one when the RMR is freed */
    uint32_t stag;
    uint8_t privs;
    bool relative;
    bool narrow;
};

#define UIW_LINK_SEGMENTS                                                                          \
    ((sizeof(struct uiw_link) + sizeof(struct uiw_segment) - 1) / sizeof(struct uiw_segment))

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
    bool quick;    /* of the usual kind; see uiw_quick.c */
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

/* Copies with a sum are stores of 64 octets, a fifth slower where each touches two cache lines. */
struct uiw_bounce {
    _Alignas(64) uint8_t octets[UIW_BOUNCE_SIZE];
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
    struct uiw_conn *conn;     /* locked; see uiw_stream.h */
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

#define UIW_EP_AREA  sizeof(struct uiw_ep)
#define UIW_LMR_AREA sizeof(struct uiw_lmr)
#define UIW_RMR_AREA sizeof(struct uiw_rmr)

/*
 * Two entries: what our own requests may do with the memory, and what peers may. So a peer that
 * invalidates the key takes nothing from us, and one that we read from is not told the key.
 */
struct uiw_lmr {
    struct uiw_mr *local;
    struct uiw_mr *remote;
    _Atomic uint32_t local_stag; /* of local */
};

struct uiw_rmr {
    struct uiw_mr *mr;
};

static inline struct uiw_ep *uiw_ep_of(struct ual_ep *ual)
{
    return (struct uiw_ep *)(void *)ual->area;
}

static inline struct uiw_lmr *uiw_lmr_of(struct ual_lmr *lmr)
{
    return (struct uiw_lmr *)(void *)lmr->area;
}

static inline struct uiw_rmr *uiw_rmr_of(struct ual_rmr *rmr)
{
    return (struct uiw_rmr *)(void *)rmr->area;
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

/* ---------------------------------------------------------------- reader token */

static inline bool uiw_reader_try(struct uiw_ep *ep)
{
    return !atomic_load_explicit(&ep->rx_token, memory_order_relaxed) &&
           !atomic_exchange_explicit(&ep->rx_token, true, memory_order_acquire);
}

/* Held for a bounded number of non-blocking system calls. */
static inline void uiw_reader_take(struct uiw_ep *ep)
{
    while (!uiw_reader_try(ep))
        sched_yield();
}

static inline void uiw_reader_drop(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->rx_token, false, memory_order_release);
}

/* ---------------------------------------------------------------- provider table: uiw_ep.c, uiw_sq.c ... */

it_status_t uiw_pz_create(struct ual_pz *pz);
void uiw_pz_destroy(struct ual_pz *pz);
it_status_t uiw_lmr_create(struct ual_lmr *lmr);
void uiw_lmr_destroy(struct ual_lmr *lmr);
it_status_t uiw_lmr_modify(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs);
it_status_t uiw_rmr_create(struct ual_rmr *rmr);
void uiw_rmr_destroy(struct ual_rmr *rmr);
void uiw_rmr_query(struct ual_rmr *rmr, struct vp_rmr_state *state);
it_status_t uiw_ep_create(struct ual_ep *ual);
void uiw_ep_destroy(struct ual_ep *ual);
void uiw_ep_halt(struct ual_ep *ual);
void uiw_ep_proceed(struct ual_ep *ual, it_ep_param_mask_t changed);
it_status_t uiw_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                 it_ep_attributes_t *attr);
it_status_t uiw_ep_reset(struct ual_ep *ual);
it_status_t uiw_ep_set_mpa(struct ual_ep *ual, const struct itx_mpa_params *params);
it_status_t uiw_ep_get_mpa(struct ual_ep *ual, struct itx_mpa_params *params);
it_status_t uiw_ep_query_mpa(struct ual_ep *ual, struct itx_mpa_info *info);
it_status_t uiw_ep_disconnect(struct ual_ep *ual);
/* uiw_counters.c */
void uiw_ep_counters(struct ual_ep *ual, struct itx_ep_counters *counters);
void uiw_ia_counters(struct ual_ia *ual, struct itx_counters *counters); /* of all EPs ever */
/* The EP goes away, what it has counted stays with its IA. */
void uiw_ep_retire_counters(struct uiw_ep *ep);
it_status_t uiw_post_request(struct ual_ep *ual, const struct vp_request *request);
it_status_t uiw_post_recv(struct ual_ep *ual, const it_lmr_triplet_t *segments, size_t count,
                          it_dto_cookie_t cookie, it_dto_flags_t flags);

/* ---------------------------------------------------------------- between the files of the engine */

/* uiw_ep_modify.c: what the mask (it_ep_param_mask_t bits) says. Watermarks are armed. */
#define UIW_EP_ALL (~0u)
void uiw_ep_set_enables(struct uiw_ep *ep, unsigned mask, const it_rc_only_attributes_t *rc);
void uiw_ep_set_watermarks(struct uiw_ep *ep, unsigned mask, const it_rc_only_attributes_t *rc);

/* uiw_sq.c, uiw_rq.c. _locked: ual_ep.lock is held. They return true when evd_wake is due. */
bool uiw_sq_complete_locked(struct uiw_ep *ep); /* reports what is done, in order */
enum uiw_hold {
    UIW_HOLD_NONE,  /* nothing waits for another post */
    UIW_HOLD_YOUNG, /* not met before */
    UIW_HOLD_OVER   /* met before: the sender may have it now */
};
enum uiw_hold uiw_sq_age_hold(struct ual_ep *ual);
/* Shows all that is posted to the sender. True: there was something that it did not see. */
bool uiw_sq_let_go(struct ual_ep *ual);
void uiw_segments_copy(struct uiw_segment *to, const it_lmr_triplet_t *from, size_t count);
bool uiw_sq_flush_locked(struct uiw_ep *ep, bool has_failed, uint32_t failed_index,
                         it_dto_status_t failed_status);
void uiw_rqe_fill(struct uiw_rqe *rqe, const it_lmr_triplet_t *segments, size_t count,
                  it_dto_cookie_t cookie, it_dto_flags_t flags);
/* Nobody reads any more, or never did. */
bool uiw_rq_flush_locked(struct uiw_ep *ep, it_dto_status_t first_status);
/* Reader. The oldest receive is complete. */
void uiw_rq_complete(struct uiw_ep *ep, uint32_t length, bool solicited, it_handle_t unlinked);
/* The same by a value that stands in the event; nothing was placed. */
void uiw_rq_complete_immediate(struct uiw_ep *ep, uint64_t value, bool solicited);

/* uiw_window.c */
/* Posting, ual_ep.lock is held. On failure nothing has changed. */
it_status_t uiw_link_fill_locked(struct uiw_ep *ep, struct uiw_sqe *sqe,
                                 const struct vp_request *request);
it_status_t uiw_windows_fill(struct uiw_sqe *sqe, const struct vp_request *request);
static inline bool uiw_at_local(const struct uiw_ep *ep, const struct uiw_cursor *cursor)
{
    return cursor->sq_offset == 0 &&
           cursor->sq != atomic_load_explicit(&ep->sq_ready, memory_order_acquire) &&
           uiw_sqe_is_local(uiw_sqe_at(ep, cursor->sq));
}
/*
 * Sender. Executes the local requests at the cursor and moves it behind them, as far as fences let
 * it; may_wait: the caller holds no pin. What fails is left in ep->tx. True if the cursor moved.
 */
bool uiw_local_run(struct uiw_ep *ep, struct uiw_cursor *cursor, bool may_wait);
/* Links in the send queue that will never be executed let go of their regions. */
void uiw_links_drop(struct uiw_ep *ep);
/* Sender. A Read that starts: its windows as they are now. False: not linked, or not for us. */
bool uiw_windows_resolve(struct uiw_ep *ep, struct uiw_sqe *sqe);
/* May a Read with IT_UNLINK_LOCAL_SINK have this sink? */
bool uiw_sink_may_unlink(const struct uiw_sqe *sqe);
/* Reader. The Read is done: closes its sink to peers; sets sqe->unlinked. */
void uiw_sink_unlink(struct uiw_ep *ep, struct uiw_sqe *sqe);
/*
 * Reader. Send with Invalidate. On IW_OK no octet moves through the STag any more, and *handle is
 * the LMR or RMR.
 */
enum iw_error uiw_region_invalidate(struct uiw_ep *ep, uint32_t stag, it_handle_t *handle);
/* With the token of a closed window: it belongs to no region and no endpoint any more. */
void uiw_window_let_go(struct uiw_mr *window);

/* uiw_tx.c */
/* Any thread, no lock held: sends what can be sent. reader: the caller holds the reader token. */
void uiw_tx_kick(struct ual_ep *ual, bool reader);
/*
 * The same by the leader. writable: the socket was seen to take octets again; shared: other streams
 * wait for their turn.
 */
void uiw_tx_turn(struct ual_ep *ual, bool reader, bool writable, bool shared);
bool uiw_tx_try(struct uiw_ep *ep);  /* the send token, if it is free; leaves no mark else */
void uiw_tx_take(struct uiw_ep *ep); /* waits for the send token; only to end the stream */
void uiw_tx_drop(struct uiw_ep *ep);
void uiw_tx_reset(struct uiw_ep *ep);
/* Sender: octets to go before anything else. False without memory. */
bool uiw_tx_prepend(struct uiw_ep *ep, const void *octets, size_t length);
/* The same for a whole FPDU without its CRC field, at most 128 octets: adds markers and CRC. */
bool uiw_tx_prepend_fpdu(struct uiw_ep *ep, const uint8_t *fpdu, size_t length);
/* Any thread, no lock held: sends such a nudge, unless something else is being sent. */
void uiw_tx_nudge(struct ual_ep *ual, const uint8_t *fpdu, size_t length);

/* uiw_bounce.c: a few are kept, so that the data path need not allocate. */
/* Opened and closed with the IA. _close also cleans up after an _open that failed. */
bool uiw_bounce_open(struct uiw_ia *ia);
void uiw_bounce_close(struct uiw_ia *ia);
struct uiw_bounce *uiw_bounce_get(struct uiw_ia *ia);
void uiw_bounce_put(struct uiw_ia *ia, struct uiw_bounce *bounce);

/*
 * uiw_atomic.c. Reader. May it be done? Then it is, in one step for all threads of this machine, and
 * *original is what stood there.
 */
enum iw_error uiw_atomic_execute(struct uiw_ep *ep, const struct iw_atomic_request *request,
                                 uint64_t *original);

/* Why a Read or atomic of the peer is refused. */
enum iw_error uiw_read_error(enum uiw_mr_verdict verdict);

/*
 * uiw_stream.c: the leader reads for one turn, a shorter one if it is shared with other streams;
 * returns the octets read into `staging` and memory, 0: none.
 */
size_t uiw_stream_receive(struct ual_ep *ual, uint8_t *staging, bool shared);
extern const struct iw_rx_ops uiw_rx_ops; /* uiw_place.c; context: struct uiw_ep */

/* uiw_end.c */
struct uiw_end {
    uint32_t generation;                  /* of the connection that is meant; 0: the one there is */
    enum ual_ep_step step;                /* DISCONNECT, CLOSED, BROKEN */
    it_event_type_t async;                /* affiliated event, 0: none */
    const struct iw_terminate *terminate; /* to be sent, NULL: none */
    bool has_failed_request;
    uint32_t failed_index; /* SQ index and status of the request that failed */
    it_dto_status_t failed_status;
    it_dto_status_t recv_status; /* of the receive that failed, else IT_DTO_ERR_FLUSHED */
};
/*
 * Ends an established connection, once: state, Terminate, flush, events; false when it has ended
 * already. reader: the caller holds the reader token (it stays held). The send token must not be.
 */
bool uiw_ep_end(struct ual_ep *ual, const struct uiw_end *end, bool reader);
/* Takes both tokens and drops the stream without a word to the consumer: the EP is going away. */
void uiw_ep_cut(struct ual_ep *ual);

#endif
