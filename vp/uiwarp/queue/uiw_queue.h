/* SPDX-License-Identifier: BSD-2-Clause */
/* A work queue: a ring of slots, and the indexes of those in use. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_QUEUE_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_QUEUE_H

#include "vp/uiwarp/memory/uiw_memory.h"

/* Progress of a request. */
enum uiw_done {
    UIW_DONE_NOT,
    UIW_DONE,     /* executed; completes after the requests before it */
    UIW_DONE_SENT /* the last octet has left; an acknowledgement of the peer is awaited */
};

/*
 * A flag of a request, beside those of it_dto_flags_t: the octets of the last segment are elsewhere
 * until the posting call returns, which clears it.
 */
#define UIW_LENT 0x80u

struct uiw_sqe {
    it_dto_cookie_t cookie;
    union {
        it_rdma_addr_t rdma_addr;
        it_handle_t unlinked; /* of a finished Read: the sink that it invalidated */
    };
    uint64_t operand; /* of an atomic: the value to add or store; otherwise the immediate value */
    union {
        uint64_t compare;    /* of an atomic */
        const uint8_t *lent; /* with UIW_LENT: the octets of the last segment */
    };
    uint32_t remote_stag;
    uint32_t length;
    uint32_t msn;    /* of its (first untagged) message; valid once started */
    uint8_t opcode;  /* enum vp_opcode */
    uint8_t flags;   /* it_dto_flags_t */
    bool started;    /* sender: has its MSN, and a Read its ORQ entry; a link was executed */
    uint8_t done;    /* locked: enum uiw_done */
    bool to_windows; /* of a Read: its segments name windows */
    bool resolved;   /* sender: the windows were looked up at the start of the Read */
    bool has_immediate;
    bool bad_key; /* the key has more bits than an STag: no peer has it */
    uint8_t segment_count;
    struct uiw_segment segments[];
};

struct uiw_rqe {
    it_dto_cookie_t cookie;
    uint32_t length; /* capped at 2^32-1: no message is longer */
    uint8_t flags;
    uint8_t segment_count;
    struct uiw_segment segments[];
};

/* Indexes run freely and wrap at 2^32; a slot is index & mask. */
struct uiw_queue {
    unsigned char *slots;
    uint32_t stride; /* .slots, .stride and .mask change only with both tokens and the lock held */
    uint32_t mask;
    uint32_t depth;        /* depth in force; locked */
    _Atomic uint32_t tail; /* next to post; written locked, with release for the sender or reader */
    /*
     * Index of the oldest request not completed << 32 | number of completions reported to the EVD.
     * It is one word, so that a poster never counts a completion twice. The reader writes it for
     * the RQ. For the SQ, and by a flush, it is written locked.
     */
    _Atomic uint64_t over;
    _Atomic uint32_t retired; /* completions dequeued from the EVD; written by the dequeue */
};

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

/* Called before the event is visible: a completion must be counted before it is dequeued. */
static inline void uiw_queue_advance(struct uiw_queue *queue, uint32_t head, uint32_t reported)
{
    atomic_store_explicit(&queue->over, (uint64_t)head << 32 | reported, memory_order_release);
}

/* Locked, without sender or reader. Ends all posted requests without a completion. */
static inline void uiw_queue_discard(struct uiw_queue *queue)
{
    uiw_queue_advance(queue, atomic_load_explicit(&queue->tail, memory_order_relaxed),
                      uiw_queue_reported(queue));
}

/*
 * Returns how many slots are in use: by requests that are not completed, and by those whose event
 * has not been dequeued (rule P3). A lost event takes no slot.
 */
static inline uint32_t uiw_queue_in_use(const struct uiw_queue *queue)
{
    uint64_t over = atomic_load_explicit(&queue->over, memory_order_acquire);
    uint32_t retired = atomic_load_explicit(&queue->retired, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);

    return tail - (uint32_t)(over >> 32) + ((uint32_t)over - retired);
}

/*
 * Returns true for a local request, of which nothing goes to the peer: a link, an unlink, or an
 * invalidation, which is an unlink by key.
 */
static inline bool uiw_sqe_is_local(const struct uiw_sqe *sqe)
{
    return sqe->opcode == VP_RMR_LINK || sqe->opcode == VP_RMR_UNLINK;
}

static inline struct uiw_link *uiw_sqe_link(struct uiw_sqe *sqe)
{
    return (void *)sqe->segments;
}

/* Returns the size of a ring for this number of entries: a power of two, at least 1. */
static inline uint32_t uiw_ring_size(size_t entries)
{
    uint32_t size = 1;

    while (size < entries)
        size *= 2;
    return size;
}

/* Returns the octets of a slot: a header and an array of segments. */
static inline uint32_t uiw_slot_stride(size_t header, size_t segments)
{
    return (uint32_t)((header + segments * sizeof(struct uiw_segment) + 15) & ~(size_t)15);
}

#endif
