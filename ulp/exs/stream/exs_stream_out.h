/* SPDX-License-Identifier: BSD-2-Clause */
/* The sender of a stream: README.md, rules 3 to 5. The caller owns the memory of the arrays. */
#ifndef ITAPI_ULP_EXS_STREAM_EXS_STREAM_OUT_H
#define ITAPI_ULP_EXS_STREAM_EXS_STREAM_OUT_H

#include "wire/exs_message.h"

/* A receive of the peer, or the rest of it. */
struct exs_advert {
    struct exs_place place;
    bool waitall;
};

struct exs_stream_out {
    uint64_t sent; /* S */
    uint64_t ring_size;
    uint64_t ring_sent;  /* octets charged to the ring so far */
    uint64_t ring_freed; /* part of ring_sent */
    uint64_t ask_min;    /* from this length on, data asks before it goes to the ring */
    uint32_t chain;      /* the open one; 0: none */
    uint32_t closed;     /* the last closed chain */
    uint32_t first;      /* index of the oldest ADVERT of the open chain */
    uint32_t count;
    uint32_t room;
    bool hopeful;    /* the receiver may have receives ready */
    bool asked;      /* ADVERT or NONE will come */
    bool ring_known; /* the peer has sent its place */
    bool wanted;     /* the place has been asked for */
    struct exs_advert *adverts;
};

enum exs_step_kind {
    EXS_STEP_WAIT,
    EXS_STEP_DIRECT, /* octets for a receive */
    EXS_STEP_RING,   /* octets for the ring */
    EXS_STEP_ASK,    /* an ASK message, once no other work is left */
    EXS_STEP_WANT,
    EXS_STEP_NEED /* packets only */
};

struct exs_step {
    enum exs_step_kind kind;
    bool in_line;           /* octets go in the message; otherwise they are written */
    uint64_t count;         /* octets */
    uint64_t offset;        /* RING: from the start of the ring; the octets do not wrap */
    uint32_t chain;         /* DIRECT */
    struct exs_place place; /* DIRECT: where to */
};

/*
 * Chain number 0 is never used. room: number of adverts, which is how many the peer may have open
 * at once.
 */
void exs_stream_out_start(struct exs_stream_out *out, uint64_t ring_size, bool ring_known,
                          uint64_t ask_min, struct exs_advert *adverts, uint32_t room);

/*
 * Decides what to do with the octets that wait, at least 1, and updates out accordingly. At most
 * inline_max octets go into a message.
 */
void exs_stream_out_step(struct exs_stream_out *out, uint64_t waiting, uint64_t inline_max,
                         struct exs_step *step);
/* Returns true if the next step sends all of these octets, which fit into a message. */
bool exs_stream_out_takes(const struct exs_stream_out *out, uint64_t octets);
/* ASK has been sent. */
void exs_stream_out_asked(struct exs_stream_out *out);

/* Handle messages of the peer. Return false for a protocol violation. */
bool exs_stream_out_advert(struct exs_stream_out *out, const struct exs_message *message);
bool exs_stream_out_withdraw(struct exs_stream_out *out, uint32_t chain);
bool exs_stream_out_freed(struct exs_stream_out *out, uint32_t freed);
void exs_stream_out_none(struct exs_stream_out *out);

#endif /* ITAPI_ULP_EXS_STREAM_EXS_STREAM_OUT_H */
