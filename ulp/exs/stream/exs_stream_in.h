/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiver of a stream: README.md, rules 1, 2, 6, 7. The caller owns the memory of the array.
 */
#ifndef ITAPI_ULP_EXS_STREAM_EXS_STREAM_IN_H
#define ITAPI_ULP_EXS_STREAM_EXS_STREAM_IN_H

#include "wire/exs_message.h"

struct exs_receive {
    uint64_t length;
    uint64_t filled;
    bool waitall;
    bool peek;
    void *owner; /* for the caller */
};

struct exs_stream_in {
    uint64_t given; /* C: octets given to receives */
    uint64_t ring_size;
    uint64_t ring_written; /* octets that have come to the ring so far */
    uint64_t ring_read;    /* part of ring_written that receives have taken */
    uint64_t ring_told;    /* part of ring_read that is reported to the sender */
    uint64_t advert_min;   /* with a ring, shorter receives are not advertised */
    uint32_t chain;        /* the current chain */
    uint32_t advertised;   /* receives at the head of the queue that the sender may use */
    uint32_t first;
    uint32_t count;
    uint32_t room;
    uint32_t level; /* receives that the program had open before it got its last events */
    bool open;      /* an ADVERT of the current chain has been sent */
    bool withdrawing;
    bool asked; /* without a ring: until the next ADVERT */
    bool small; /* data comes in small pieces: receives are advertised only when asked for */
    bool ended; /* no more data comes */
    struct exs_receive *receives;
};

/* Octets to copy from the ring to the first receive. */
struct exs_take {
    struct exs_receive *receive;
    uint64_t to;       /* offset in the receive */
    uint64_t position; /* counted over all octets of the ring; its place is this modulo the size */
    uint64_t count;
};

void exs_stream_in_start(struct exs_stream_in *in, uint64_t ring_size, uint64_t advert_min,
                         struct exs_receive *receives, uint32_t room);

/* ---- The program's receives ----------------------------------------------------------------- */

/* There is room, since the caller counts credits. */
void exs_stream_in_post(struct exs_stream_in *in, const struct exs_receive *receive);

/* Gets octets of the ring for the first receive. To be called until it returns false. */
bool exs_stream_in_take(struct exs_stream_in *in, struct exs_take *take);

/* Removes a complete receive from the queue; called after take and after direct data. */
bool exs_stream_in_complete(struct exs_stream_in *in, struct exs_receive *receive);

/* Drops the octets of the ring, which no receive will take. */
void exs_stream_in_drop(struct exs_stream_in *in);

/* Returns the index-th receive; NULL beyond the last. */
struct exs_receive *exs_stream_in_at(struct exs_stream_in *in, uint32_t index);

/* Removes a receive that is not advertised: index >= in->advertised. */
void exs_stream_in_remove(struct exs_stream_in *in, uint32_t index);

/*
 * Starts to withdraw the chain, if there is one. Returns true if WITHDRAW for in->chain must be
 * sent.
 */
bool exs_stream_in_withdraw(struct exs_stream_in *in);

/* ---- Messages of the peer; false or NULL: a protocol violation ------------------------------ */

/*
 * Octets that have been written to the first receive, or are in the message; *to is the offset of
 * the first one.
 */
struct exs_receive *exs_stream_in_direct(struct exs_stream_in *in, uint32_t chain, uint64_t count,
                                         bool in_line, uint64_t *to);
bool exs_stream_in_ring(struct exs_stream_in *in, uint64_t count, bool in_line);
bool exs_stream_in_withdrawn(struct exs_stream_in *in, uint32_t chain);
bool exs_stream_in_ask(struct exs_stream_in *in);
/* Returns true if the peer has said that data waits for a receive, as there is no ring. */
bool exs_stream_in_is_needed(const struct exs_stream_in *in);
bool exs_stream_in_end(struct exs_stream_in *in);

/* ---- What to send --------------------------------------------------------------------------- */

/*
 * Returns true if receives must be advertised. While the sender has two, fewer than four are held
 * back.
 */
bool exs_stream_in_adverts_due(struct exs_stream_in *in);
/*
 * Returns true if the program is expected to post more receives: it has fewer open than before.
 * Then an ADVERT can wait, to take them along, until exs_stream_in_settle.
 */
bool exs_stream_in_expects(const struct exs_stream_in *in);
/* The program has had its chance to receive. */
void exs_stream_in_settle(struct exs_stream_in *in);
/* Returns the next receive to advertise, beyond its filled octets, in in->chain; NULL: none. */
const struct exs_receive *exs_stream_in_next_advert(struct exs_stream_in *in);
/* The receive is advertised; *seq goes with it. */
void exs_stream_in_advertise(struct exs_stream_in *in, uint64_t *seq);

/*
 * Called last, when the program has had its chance to receive. Returns true if NONE must be sent,
 * since there is nothing to advertise.
 */
bool exs_stream_in_none_due(struct exs_stream_in *in);

/* Returns true if the sender may be waiting for room. */
bool exs_stream_in_ack_due(const struct exs_stream_in *in);
/* Called when a message is sent; the return value goes with it. */
uint32_t exs_stream_in_tell(struct exs_stream_in *in);

#endif /* ITAPI_ULP_EXS_STREAM_EXS_STREAM_IN_H */
