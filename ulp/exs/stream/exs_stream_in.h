/* SPDX-License-Identifier: BSD-2-Clause */
/* The receiver of a stream: README.md, rules 1, 2, 6, 7. Memory of the array is the caller's. */
#ifndef ITAPI_ULP_EXS_STREAM_EXS_STREAM_IN_H
#define ITAPI_ULP_EXS_STREAM_EXS_STREAM_IN_H

#include "wire/exs_message.h"

struct exs_receive {
    uint64_t length;
    uint64_t filled;
    bool waitall;
    bool peek;
    void *owner; /* the caller's */
};

struct exs_stream_in {
    uint64_t given; /* C: octets given to receives */
    uint64_t ring_size;
    uint64_t ring_written; /* octets that have come for the ring so far */
    uint64_t ring_read;    /* of these given to receives */
    uint64_t ring_told;    /* of these the sender knows */
    uint64_t advert_min;   /* shorter receives are not advertised if there is a ring */
    uint32_t chain;        /* the present one */
    uint32_t advertised;   /* receives at the head of the queue that the sender may use */
    uint32_t first;
    uint32_t count;
    uint32_t room;
    bool open; /* an ADVERT of the present chain has been sent */
    bool withdrawing;
    bool asked;
    bool small; /* data come in small pieces: receives are not advertised until asked for */
    bool ended; /* no more data */
    struct exs_receive *receives;
};

/* Octets on their way from the ring to the receive at the head. */
struct exs_take {
    struct exs_receive *receive;
    uint64_t to;       /* offset in the receive */
    uint64_t position; /* octets of the ring before these, ever; modulo its size the place */
    uint64_t count;
};

void exs_stream_in_start(struct exs_stream_in *in, uint64_t ring_size, uint64_t advert_min,
                         struct exs_receive *receives, uint32_t room);

/* ---- The program's receives ----------------------------------------------------------------- */

/* There is room: the caller counts credits. */
void exs_stream_in_post(struct exs_stream_in *in, const struct exs_receive *receive);

/* Octets for the head from the ring. Call it until it says false. */
bool exs_stream_in_take(struct exs_stream_in *in, struct exs_take *take);

/* Takes a complete receive off the queue; call it after take and after direct data. */
bool exs_stream_in_complete(struct exs_stream_in *in, struct exs_receive *receive);

/* The index-th receive; NULL beyond the last. */
struct exs_receive *exs_stream_in_at(struct exs_stream_in *in, uint32_t index);

/* Takes one out that is not advertised: index >= in->advertised. */
void exs_stream_in_remove(struct exs_stream_in *in, uint32_t index);

/* Has the chain withdrawn, if there is one; true if WITHDRAW for in->chain is to be sent. */
bool exs_stream_in_withdraw(struct exs_stream_in *in);

/* ---- Messages of the peer; false or NULL: a lie --------------------------------------------- */

/*
 * Octets that are in the receive at the head, or have come in the message; to is the offset of the
 * first.
 */
struct exs_receive *exs_stream_in_direct(struct exs_stream_in *in, uint32_t chain, uint64_t count,
                                         bool in_line, uint64_t *to);
bool exs_stream_in_ring(struct exs_stream_in *in, uint64_t count, bool in_line);
bool exs_stream_in_withdrawn(struct exs_stream_in *in, uint32_t chain);
bool exs_stream_in_ask(struct exs_stream_in *in);
bool exs_stream_in_end(struct exs_stream_in *in);

/* ---- What to send --------------------------------------------------------------------------- */

/* Some are to be advertised now. Where the sender has two left, fewer than four wait for more. */
bool exs_stream_in_adverts_due(struct exs_stream_in *in);
/* The next receive to be advertised, from its filled octets on, in in->chain; NULL: none. */
const struct exs_receive *exs_stream_in_next_advert(struct exs_stream_in *in);
/* It is, and *seq goes with it. */
void exs_stream_in_advertise(struct exs_stream_in *in, uint64_t *seq);

/*
 * Asked after everything else, when the program has had its chance to receive: NONE is to be sent,
 * since there is nothing to advertise.
 */
bool exs_stream_in_none_due(struct exs_stream_in *in);

/* The sender may be waiting for room. */
bool exs_stream_in_ack_due(const struct exs_stream_in *in);
/* A message leaves, and the return value with it. */
uint32_t exs_stream_in_tell(struct exs_stream_in *in);

#endif /* ITAPI_ULP_EXS_STREAM_EXS_STREAM_IN_H */
