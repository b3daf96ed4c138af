/* SPDX-License-Identifier: BSD-2-Clause */
/* Outstanding Reads and atomics, in both directions: ORQ and IRQ. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_READS_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_READS_H

#include "tdi/iwarp/iw.h"
#include "tdi/iwarp/iw_rx.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A Read or atomic of this side that waits for its response. The sender adds, the reader takes. */
struct uiw_orq_entry {
    uint32_t sq_index;
    uint32_t length;
    uint32_t received;
    uint32_t sink_stag; /* STag that the response must carry; never used to find memory */
    bool rtr;           /* the zero-length Read that opens a connection; no posted request */
    bool atomic;        /* an atomic; sq_index is its identifier on the wire */
};

/* A Read or atomic of the peer to be answered. The reader adds, the sender takes. */
struct uiw_irq_entry {
    union {
        struct iw_read_request request;
        struct iw_atomic_response atomic; /* was executed on arrival */
    };
    uint32_t msn; /* of a Read's Request, or of an atomic's Response */
    bool is_atomic;
};

/* Two rings. Each index has one writer. */
struct uiw_reads {
    struct uiw_orq_entry *orq; /* ring of orq_mask + 1 */
    uint32_t orq_mask;
    _Atomic uint32_t orq_tail; /* sender */
    _Atomic uint32_t orq_head; /* reader */
    struct uiw_irq_entry *irq; /* ring of irq_mask + 1, twice the IRD */
    uint32_t irq_mask;
    _Atomic uint32_t irq_tail; /* reader */
    _Atomic uint32_t irq_head; /* sender: the answers before it have left */
    _Atomic uint32_t irq_sent; /* sender: the same, with those in the current system call */
};

/* ---------------------------------------------------------------- of this side */

/* Returns the number of this side's Reads and atomics that wait for their response. */
static inline uint32_t uiw_orq_open(const struct uiw_reads *reads)
{
    return atomic_load_explicit(&reads->orq_tail, memory_order_acquire) -
           atomic_load_explicit(&reads->orq_head, memory_order_acquire);
}

static inline struct uiw_orq_entry *uiw_orq_at(const struct uiw_reads *reads, uint32_t index)
{
    return &reads->orq[index & reads->orq_mask];
}

/* Reader. Returns the entry that the next response belongs to; NULL: none is open. */
static inline struct uiw_orq_entry *uiw_orq_oldest(const struct uiw_reads *reads)
{
    if (uiw_orq_open(reads) == 0)
        return NULL;
    return uiw_orq_at(reads, atomic_load_explicit(&reads->orq_head, memory_order_relaxed));
}

/* Sender. Called before the Request can leave. */
static inline void uiw_orq_enter(struct uiw_reads *reads, const struct uiw_orq_entry *entry)
{
    uint32_t tail = atomic_load_explicit(&reads->orq_tail, memory_order_relaxed);

    *uiw_orq_at(reads, tail) = *entry;
    atomic_store_explicit(&reads->orq_tail, tail + 1, memory_order_release);
}

/* Reader. Removes the oldest, which has its response. */
static inline void uiw_orq_leave(struct uiw_reads *reads)
{
    uint32_t head = atomic_load_explicit(&reads->orq_head, memory_order_relaxed);

    atomic_store_explicit(&reads->orq_head, head + 1, memory_order_release);
}

/* ---------------------------------------------------------------- of the peer */

static inline struct uiw_irq_entry *uiw_irq_at(const struct uiw_reads *reads, uint32_t index)
{
    return &reads->irq[index & reads->irq_mask];
}

/* Sender. Returns true if the entry at this index waits for its response. */
static inline bool uiw_irq_waits(const struct uiw_reads *reads, uint32_t index)
{
    return index != atomic_load_explicit(&reads->irq_tail, memory_order_acquire);
}

/* Reader. Hands the entry to the sender. */
static inline void uiw_irq_enter(struct uiw_reads *reads, const struct uiw_irq_entry *entry)
{
    uint32_t tail = atomic_load_explicit(&reads->irq_tail, memory_order_relaxed);

    *uiw_irq_at(reads, tail) = *entry;
    atomic_store_explicit(&reads->irq_tail, tail + 1, memory_order_release);
}

/* Both tokens. Called when a new stream begins. */
static inline void uiw_reads_reset(struct uiw_reads *reads)
{
    atomic_store_explicit(&reads->orq_head, 0, memory_order_relaxed);
    atomic_store_explicit(&reads->orq_tail, 0, memory_order_relaxed);
    atomic_store_explicit(&reads->irq_head, 0, memory_order_relaxed);
    atomic_store_explicit(&reads->irq_sent, 0, memory_order_relaxed);
    atomic_store_explicit(&reads->irq_tail, 0, memory_order_relaxed);
}

#endif
