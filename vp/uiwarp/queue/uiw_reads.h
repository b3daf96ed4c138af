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

#endif
