/* SPDX-License-Identifier: BSD-2-Clause */
/* A work queue: slots, and the indexes that say which are in use. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_QUEUE_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_QUEUE_H

#include "vp/uiwarp/memory/uiw_memory.h"

/* How far a request is. */
enum uiw_done {
    UIW_DONE_NOT,
    UIW_DONE,     /* executed, waits for those before it to complete */
    UIW_DONE_SENT /* the last octet has left, and the peer will say that it has it */
};

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
    uint8_t done;    /* locked: enum uiw_done */
    bool to_windows; /* a Read: the segments name windows ... */
    bool resolved;   /* sender: ... which have been looked up: its start */
    bool has_immediate;
    bool bad_key; /* of more bits than an STag has: no peer has such a key */
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

/* Locked, and nobody works on the queue: what is posted is over, without a completion. */
static inline void uiw_queue_discard(struct uiw_queue *queue)
{
    uiw_queue_advance(queue, atomic_load_explicit(&queue->tail, memory_order_relaxed),
                      uiw_queue_reported(queue));
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

/*
 * Local requests: links, unlinks, and invalidations, which are unlinks of keys. Nothing of them
 * goes to the peer.
 */
static inline bool uiw_sqe_is_local(const struct uiw_sqe *sqe)
{
    return sqe->opcode == VP_RMR_LINK || sqe->opcode == VP_RMR_UNLINK;
}

static inline struct uiw_link *uiw_sqe_link(struct uiw_sqe *sqe)
{
    return (void *)sqe->segments;
}

/* Slots of a ring that holds this number of entries, at least one. */
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

#endif
