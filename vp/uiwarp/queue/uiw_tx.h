/* SPDX-License-Identifier: BSD-2-Clause */
/* The sender's part of an EP. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_TX_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_TX_H

#include "vp/uiwarp/memory/uiw_memory.h"

/* The sender's position: next octet of the SQ's message and of the current response. */
struct uiw_cursor {
    uint32_t sq;
    uint32_t sq_offset;
    bool sq_immediate; /* the payload was sent, the immediate value is next */
    uint32_t irq;
    uint32_t irq_offset;
};

/* Octets that must be sent before all others: the rest of an FPDU that was sent in part. */
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
    _Atomic bool hold;    /* responder: sends nothing before the peer's first FPDU */
    _Atomic bool dead;    /* nothing more is sent: the stream has failed or is ending */
    _Atomic bool blocked; /* the socket is full, EPOLLOUT is armed; the sender writes it */
    /* Sender. */
    bool detached; /* not in the poll set: only the leader polls it; see uiw_detach.c */
    struct uiw_cursor cursor;
    struct uiw_image image;
    _Atomic uint32_t offered; /* behind the requests that may have left before .cursor moves */
    uint64_t position;        /* octets handed to the socket since Full Operation: for markers */
    uint32_t next_send_msn;
    uint32_t next_read_msn;
    uint32_t max_ulpdu;     /* of one FPDU */
    unsigned responses;     /* sent in a row */
    uint64_t fpdus_in_seen; /* .rx.fpdus_in when a large message was last sent in parts */
    _Atomic uint64_t fpdus, octets, calls; /* counters, read by any thread */
    /* Why the sender stopped for good. Handled after the token is dropped. */
    _Atomic int failed_status; /* it_dto_status_t of request failed_index; IT_DTO_SUCCESS: none */
    _Atomic int failed_error;  /* enum iw_error of the response at the cursor; IW_OK: none */
    uint32_t failed_index;
    _Atomic bool failed_stream; /* failed for another reason: no memory, or unmapped memory */
    _Atomic uint64_t retries, terminates, nudges; /* more counters, of rare events */
};

#endif
