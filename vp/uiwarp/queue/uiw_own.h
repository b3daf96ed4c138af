/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What two ends of this library have agreed on beyond the standard: docs/acknowledgement.md. All of
 * it is at rest on a connection to any other peer, and the data path does not look at it.
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

/* Where the value of a Send stands. */
enum uiw_own_values {
    UIW_VALUES_APART,   /* in a message of its own */
    UIW_VALUES_UNKNOWN, /* the peer has not said yet */
    UIW_VALUES_INSIDE   /* in the header, if it has no more than 32 bits */
};

struct uiw_own {
    _Atomic(enum uiw_own_values) values;
    unsigned wanted;      /* IW_OWN_ bits asked for on this connection; immutable while it lives */
    unsigned agreed;      /* reader: 0 until the peer has said so */
    unsigned limit;       /* reader: of Sends of the peer that wait: see iw_own.h */
    uint64_t taken;       /* reader: messages of the peer that are placed, in their order */
    _Atomic uint64_t due; /* the same, for the sender */
    _Atomic bool
        ack_is_due;     /* the peer has not been told; set by the reader, cleared by the sender */
    uint64_t told;      /* sender: what it has been told */
    _Atomic bool waits; /* a Send of the peer, for a receive; set by the reader */
    bool peer_waits;    /* reader: so does one of ours, as far as the peer has said */
    bool heard_last;    /* reader: the peer will acknowledge nothing more */
    /* Locked: messages of ours, from the beginning of the connection. */
    uint64_t heard;   /* acknowledged by the peer */
    uint64_t matched; /* of these, those of requests that are completed */
    /* Reader: Sends that wait for a receive, the oldest first. See receive/uiw_hold.c. */
    struct uiw_held *first, *last;
    uint64_t held_octets; /* in all of them */
};

/* Both tokens: a connection begins. wanted: 0 if it cannot be agreed on. */
void uiw_own_begin(struct uiw_ep *ep, unsigned wanted);
/* Both tokens: it is over. Drops Sends that wait. */
void uiw_own_end(struct uiw_ep *ep);

/* Reader. The peer is one of ours and has agreed to these, or it is a foreign one: 0. */
void uiw_own_agree(struct uiw_ep *ep, unsigned bits);
/* Reader. The peer has acknowledged. */
void uiw_own_heard(struct uiw_ep *ep, const struct iw_segment *ack);
/* Reader. More messages of the peer are placed: it will be told, with whatever leaves next. */
void uiw_own_took(struct uiw_ep *ep, uint64_t messages);

/* Reader. A Send of the peer waits for a receive, or none does any more. */
void uiw_own_set_waits(struct uiw_ep *ep, bool waits);
/*
 * Both tokens. The peer has closed the stream: had it all that it has not acknowledged? Then it is
 * done, as if it had said so.
 */
void uiw_own_conclude(struct uiw_ep *ep);

/* Sender. The offset of an acknowledgement of what is taken now; of nothing, but with our limit. */
uint64_t uiw_own_tell(struct uiw_ep *ep);
uint64_t uiw_own_tell_limit(const struct uiw_ep *ep);
/* Sender. It has not left after all. */
void uiw_own_untell(struct uiw_ep *ep);

/* Locked. The index of the oldest Send or Write that the peer has not acknowledged. False: none. */
bool uiw_own_oldest_locked(const struct uiw_ep *ep, uint32_t *index);

struct ual_ep;

/* itx_ep_limit_hold. */
it_status_t uiw_own_limit_hold(struct ual_ep *ual, unsigned tries, uint64_t try_us);

/* ---------------------------------------------------------------- Sends that wait */

/* One of them, its octets apart: they come in pieces. */
struct uiw_held {
    struct uiw_held *next;
    uint64_t since_ns;
    uint8_t *octets;
    uint32_t room;
    uint32_t length;
    uint32_t stag;   /* to invalidate, with .opcode */
    uint8_t opcode;  /* enum iw_opcode */
    uint8_t control; /* the octet that it is a part of */
    bool whole;      /* the last octet is here */
    uint64_t value;  /* of Immediate Data */
    uint64_t behind; /* other messages that came since: acknowledged after it */
};

/* Reader. Takes a message of no octets into the list, as the newest. NULL: no room. */
struct uiw_held *uiw_held_add(struct uiw_ep *ep);
/* Reader. Room for this number of octets. False: there is none. */
bool uiw_held_grow(struct uiw_ep *ep, struct uiw_held *held, uint64_t octets);
/* Reader. The oldest leaves the list. */
void uiw_held_drop_first(struct uiw_ep *ep);
/* Octets in all such messages of this process. */
uint64_t uiw_held_octets(void);

#endif
