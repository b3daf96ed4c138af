/* SPDX-License-Identifier: BSD-2-Clause */
/* The receiver of packets: README.md. The caller owns the memory of the array. */
#ifndef ITAPI_ULP_EXS_PACKET_EXS_PACKET_IN_H
#define ITAPI_ULP_EXS_PACKET_EXS_PACKET_IN_H

#include "wire/exs_message.h"

struct exs_packet_receive {
    uint64_t length;
    bool advertised;
    void *owner; /* for the caller */
};

struct exs_packet_in {
    uint64_t given; /* packets assigned to receives: the number of the first receive in the queue */
    uint64_t ring_size;
    uint64_t ring_written; /* octets stored so far, packet heads included */
    uint64_t ring_read;
    uint64_t ring_told;  /* part of ring_read that is reported to the sender */
    uint64_t advert_min; /* shorter receives are advertised only if they are needed */
    uint64_t needed;     /* number of the packet that needs its receive, plus 1; 0: none */
    uint32_t chain;
    uint32_t first;
    uint32_t count;
    uint32_t eager; /* receives to advertise before they are needed, not advertised yet */
    uint32_t room;
    bool withdrawing;
    bool ended; /* no more packets come */
    struct exs_packet_receive *receives;
};

enum exs_packet_fate {
    EXS_PACKET_LIE,
    EXS_PACKET_STORE, /* store it in the ring, at in->ring_written of before the call */
    EXS_PACKET_GIVE   /* place it in the receive */
};

void exs_packet_in_start(struct exs_packet_in *in, uint64_t ring_size, uint64_t advert_min,
                         struct exs_packet_receive *receives, uint32_t room);

/* There is room, since the caller counts credits. */
void exs_packet_in_post(struct exs_packet_in *in, uint64_t length, void *owner);

/*
 * Returns true if the oldest packet in the ring, at in->ring_read, can be given to the oldest
 * receive. The packet's head there has its length; exs_packet_in_take removes both.
 */
bool exs_packet_in_match(const struct exs_packet_in *in);
void exs_packet_in_take(struct exs_packet_in *in, uint64_t length, struct exs_packet_receive *to);

/* Removes the oldest packet in the ring, which no receive will take. */
void exs_packet_in_drop(struct exs_packet_in *in, uint64_t length);

/* Gets a receive for which no packet will come. */
bool exs_packet_in_left(struct exs_packet_in *in, struct exs_packet_receive *receive);

struct exs_packet_receive *exs_packet_in_at(struct exs_packet_in *in, uint32_t index);
/* Removes a receive; called while none is advertised. */
void exs_packet_in_remove(struct exs_packet_in *in, uint32_t index);
bool exs_packet_in_is_advertised(const struct exs_packet_in *in);
bool exs_packet_in_withdraw(struct exs_packet_in *in);

/*
 * Handle messages of the peer: a packet in the message, and a packet that the peer has written.
 * Those with a result return false for a protocol violation.
 */
enum exs_packet_fate exs_packet_in_ring(struct exs_packet_in *in, uint64_t length,
                                        struct exs_packet_receive *to);
bool exs_packet_in_direct(struct exs_packet_in *in, struct exs_packet_receive *to);
bool exs_packet_in_need(struct exs_packet_in *in, uint64_t number);
/* Returns true if the peer has said that a packet waits for a receive that is not posted. */
bool exs_packet_in_is_needed(const struct exs_packet_in *in);
bool exs_packet_in_withdrawn(struct exs_packet_in *in, uint32_t chain);
bool exs_packet_in_end(struct exs_packet_in *in);

/* Returns the next receive to advertise now; *number goes with it. NULL: none. */
struct exs_packet_receive *exs_packet_in_advertise(struct exs_packet_in *in, uint64_t *number);
/* That receive cannot be advertised after all. */
void exs_packet_in_unadvertise(struct exs_packet_in *in, struct exs_packet_receive *receive);
bool exs_packet_in_ack_due(const struct exs_packet_in *in);
uint32_t exs_packet_in_tell(struct exs_packet_in *in);

#endif /* ITAPI_ULP_EXS_PACKET_EXS_PACKET_IN_H */
