/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and atomics that are under way, in either direction. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_READS_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_READS_H

#include "tdi/iwarp/iw.h"
#include "tdi/iwarp/iw_rx.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Two rings. Each index has one writer. */
struct uiw_reads {
    struct uiw_orq_entry *orq; /* ring of orq_mask + 1 */
    uint32_t orq_mask;
    _Atomic uint32_t orq_tail; /* sender */
    _Atomic uint32_t orq_head; /* reader */
    struct uiw_irq_entry *irq; /* ring of irq_mask + 1, twice the IRD */
    uint32_t irq_mask;
    _Atomic uint32_t irq_tail; /* reader */
    _Atomic uint32_t irq_head; /* sender: answered and gone */
    _Atomic uint32_t irq_sent; /* sender: the last octet is in the call that runs now, at least */
};

/* ---------------------------------------------------------------- ours */

/* The number of Reads and atomics of ours that wait for their response. */
static inline uint32_t uiw_orq_open(const struct uiw_reads *reads)
{
    return atomic_load_explicit(&reads->orq_tail, memory_order_acquire) -
           atomic_load_explicit(&reads->orq_head, memory_order_acquire);
}

static inline struct uiw_orq_entry *uiw_orq_at(const struct uiw_reads *reads, uint32_t index)
{
    return &reads->orq[index & reads->orq_mask];
}

/* Reader. The one that the next response belongs to; NULL: none is open. */
static inline struct uiw_orq_entry *uiw_orq_oldest(const struct uiw_reads *reads)
{
    if (uiw_orq_open(reads) == 0)
        return NULL;
    return uiw_orq_at(reads, atomic_load_explicit(&reads->orq_head, memory_order_relaxed));
}

/* Sender, before the Request can leave. */
static inline void uiw_orq_enter(struct uiw_reads *reads, const struct uiw_orq_entry *entry)
{
    uint32_t tail = atomic_load_explicit(&reads->orq_tail, memory_order_relaxed);

    *uiw_orq_at(reads, tail) = *entry;
    atomic_store_explicit(&reads->orq_tail, tail + 1, memory_order_release);
}

/* Reader: the oldest has its response. */
static inline void uiw_orq_leave(struct uiw_reads *reads)
{
    uint32_t head = atomic_load_explicit(&reads->orq_head, memory_order_relaxed);

    atomic_store_explicit(&reads->orq_head, head + 1, memory_order_release);
}

/* ---------------------------------------------------------------- the peer's */

static inline struct uiw_irq_entry *uiw_irq_at(const struct uiw_reads *reads, uint32_t index)
{
    return &reads->irq[index & reads->irq_mask];
}

/* Sender, at this index: does a Read or atomic wait for its response? */
static inline bool uiw_irq_waits(const struct uiw_reads *reads, uint32_t index)
{
    return index != atomic_load_explicit(&reads->irq_tail, memory_order_acquire);
}

/* Reader: hands the entry to the sender. */
static inline void uiw_irq_enter(struct uiw_reads *reads, const struct uiw_irq_entry *entry)
{
    uint32_t tail = atomic_load_explicit(&reads->irq_tail, memory_order_relaxed);

    *uiw_irq_at(reads, tail) = *entry;
    atomic_store_explicit(&reads->irq_tail, tail + 1, memory_order_release);
}

/* Both tokens: a new stream begins. */
static inline void uiw_reads_reset(struct uiw_reads *reads)
{
    atomic_store_explicit(&reads->orq_head, 0, memory_order_relaxed);
    atomic_store_explicit(&reads->orq_tail, 0, memory_order_relaxed);
    atomic_store_explicit(&reads->irq_head, 0, memory_order_relaxed);
    atomic_store_explicit(&reads->irq_sent, 0, memory_order_relaxed);
    atomic_store_explicit(&reads->irq_tail, 0, memory_order_relaxed);
}

#endif
