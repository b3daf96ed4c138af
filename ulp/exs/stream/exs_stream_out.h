/* SPDX-License-Identifier: BSD-2-Clause */
/* The sender of a stream: README.md, rules 3 to 5. Memory of the arrays is the caller's. */
#ifndef ITAPI_ULP_EXS_STREAM_EXS_STREAM_OUT_H
#define ITAPI_ULP_EXS_STREAM_EXS_STREAM_OUT_H

#include "wire/exs_message.h"

/* A receive of the peer's, or what is left of it. */
struct exs_advert {
    struct exs_place place;
    bool waitall;
};

struct exs_stream_out {
    uint64_t sent; /* S */
    uint64_t ring_size;
    uint64_t ring_sent;  /* octets charged to the ring so far */
    uint64_t ring_freed; /* of these */
    uint64_t ask_min;    /* data from this length on ask before they go to the ring */
    uint32_t chain;      /* the open one; 0: none */
    uint32_t closed;     /* the last that was closed */
    uint32_t first;      /* of the ADVERTs of the open chain */
    uint32_t count;
    uint32_t room;
    bool hopeful;    /* the receiver may be ahead */
    bool asked;      /* ADVERT or NONE will come */
    bool ring_known; /* its place has been told */
    bool wanted;     /* and has been asked for */
    struct exs_advert *adverts;
};

enum exs_step_kind {
    EXS_STEP_WAIT,
    EXS_STEP_DIRECT, /* octets for a receive */
    EXS_STEP_RING,   /* octets for the ring */
    EXS_STEP_ASK,    /* a message of that type, as soon as nothing else is to be done */
    EXS_STEP_WANT,
    EXS_STEP_NEED /* of packets */
};

struct exs_step {
    enum exs_step_kind kind;
    bool in_line;           /* octets: in the message; otherwise they are written */
    uint64_t count;         /* octets */
    uint64_t offset;        /* RING: from the start of the ring; to be written before its end */
    uint32_t chain;         /* DIRECT */
    struct exs_place place; /* DIRECT: where to */
};

/* The chain number 0 is never used. room: of adverts, what the peer may have open at once. */
void exs_stream_out_start(struct exs_stream_out *out, uint64_t ring_size, bool ring_known,
                          uint64_t ask_min, struct exs_advert *adverts, uint32_t room);

/*
 * What to do with this many octets that wait, at least 1; done as far as this struct goes. At most
 * inline_max octets go in a message.
 */
void exs_stream_out_step(struct exs_stream_out *out, uint64_t waiting, uint64_t inline_max,
                         struct exs_step *step);
/* ASK has been sent. */
void exs_stream_out_asked(struct exs_stream_out *out);

/* Messages of the peer. false: a lie. */
bool exs_stream_out_advert(struct exs_stream_out *out, const struct exs_message *message);
bool exs_stream_out_withdraw(struct exs_stream_out *out, uint32_t chain);
bool exs_stream_out_freed(struct exs_stream_out *out, uint32_t freed);
void exs_stream_out_none(struct exs_stream_out *out);

#endif /* ITAPI_ULP_EXS_STREAM_EXS_STREAM_OUT_H */
