/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extensions that two ends of this library agree on: docs/acknowledgement.md. They are off on a
 * connection to any other peer, where the data path does not touch them.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_OWN_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_OWN_H

#include "it_api.h"
#include "tdi/iwarp/iw_own.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct uiw_ep;
struct uiw_held;

/* Where the immediate value of a Send travels. */
enum uiw_own_values {
    UIW_VALUES_APART,   /* in a message of its own */
    UIW_VALUES_UNKNOWN, /* the peer has not answered the offer yet */
    UIW_VALUES_INSIDE   /* in the header of the Send, if it fits 32 bits */
};

struct uiw_own {
    _Atomic(enum uiw_own_values) values;
    unsigned wanted;         /* IW_OWN_ bits offered on this connection; immutable while it lives */
    unsigned agreed;         /* reader: 0 until the peer has answered */
    unsigned limit;          /* reader: peer's limit for Sends that wait here: see iw_own.h */
    uint64_t taken;          /* reader: messages of the peer placed so far, in order */
    _Atomic uint64_t due;    /* the same number for the sender */
    _Atomic bool ack_is_due; /* the reader sets it, the sender clears it */
    uint64_t told;           /* sender: the number in the last acknowledgement */
    _Atomic bool waits;      /* a Send of the peer waits for a receive; the reader sets it */
    uint64_t acks;           /* reader: acknowledgements received on this connection */
    bool peer_waits;         /* reader: the peer says that a Send of this side waits there */
    bool heard_last;         /* reader: the peer has sent its last acknowledgement */
    /* Locked: counts of this side's messages since the connection began. */
    uint64_t heard;   /* acknowledged by the peer */
    uint64_t matched; /* part of .heard that belongs to completed requests */
    /* Reader: Sends that wait for a receive, oldest first. See receive/uiw_hold.c. */
    struct uiw_held *first, *last;
    uint64_t held_octets; /* memory of all of them */
};

/* Both tokens. Begins a connection. wanted: 0 if its startup cannot carry the offer. */
void uiw_own_begin(struct uiw_ep *ep, unsigned wanted);
/* Both tokens. Ends it and drops the Sends that wait. */
void uiw_own_end(struct uiw_ep *ep);

/* Reader. Sets the extensions that the peer has agreed to; 0 for any other implementation. */
void uiw_own_agree(struct uiw_ep *ep, unsigned bits);
/* Reader. Handles an acknowledgement of the peer. */
void uiw_own_heard(struct uiw_ep *ep, const struct iw_segment *ack);
/*
 * Reader. Counts placed messages of the peer. An acknowledgement is sent with the next batch,
 * before requests that are posted from now on. So a Send is counted before its receive completes.
 */
void uiw_own_took(struct uiw_ep *ep, uint64_t messages);

/* Reader. Tells the peer whether a Send of it waits for a receive. */
void uiw_own_set_waits(struct uiw_ep *ep, bool waits);
/*
 * Both tokens. Called when the peer has closed the stream. Treats all requests as acknowledged if
 * the peer must have received them.
 */
void uiw_own_conclude(struct uiw_ep *ep);

/* Sender. Returns the tagged offset of an acknowledgement of all messages placed so far. */
uint64_t uiw_own_tell(struct uiw_ep *ep);
/*
 * Sender. The same for a message that acknowledges nothing, but carries this side's limit of tries.
 */
uint64_t uiw_own_tell_limit(const struct uiw_ep *ep);
/* Sender. The acknowledgement was not sent after all: it is due again. */
void uiw_own_untell(struct uiw_ep *ep);

/*
 * Locked. Finds the oldest Send or Write that the peer has not acknowledged. Returns false if there
 * is none.
 */
bool uiw_own_oldest_locked(const struct uiw_ep *ep, uint32_t *index);

struct ual_ep;

/* Implements itx_ep_limit_hold. */
it_status_t uiw_own_limit_hold(struct ual_ep *ual, unsigned tries, uint64_t try_us);

/* ---------------------------------------------------------------- Sends that wait */

/* A Send that waits. Its octets are a block of their own, which grows with its segments. */
struct uiw_held {
    struct uiw_held *next;
    uint64_t since_ns;
    uint8_t *octets;
    uint32_t room;
    uint32_t length;
    uint32_t stag;   /* to invalidate, if .opcode says so */
    uint8_t opcode;  /* enum iw_opcode */
    uint8_t control; /* octet of the header that holds the opcode */
    bool whole;      /* the last segment has arrived */
    uint64_t value;  /* of Immediate Data */
    uint64_t behind; /* later messages, acknowledged together with it */
};

/* Reader. Appends an empty message to the list. NULL: no memory, or over the limit. */
struct uiw_held *uiw_held_add(struct uiw_ep *ep);
/* Reader. Makes room for `octets`. Returns false if memory runs out or the limit is exceeded. */
bool uiw_held_grow(struct uiw_ep *ep, struct uiw_held *held, uint64_t octets);
/* Reader. Removes and frees the oldest. */
void uiw_held_drop_first(struct uiw_ep *ep);

#endif
