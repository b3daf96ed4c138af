/* SPDX-License-Identifier: BSD-2-Clause */
/* The receiver of packets: README.md. Memory of the array is the caller's. */
#ifndef ITAPI_ULP_EXS_PACKET_EXS_PACKET_IN_H
#define ITAPI_ULP_EXS_PACKET_EXS_PACKET_IN_H

#include "wire/exs_message.h"

struct exs_packet_receive {
    uint64_t length;
    bool advertised;
    void *owner; /* the caller's */
};

struct exs_packet_in {
    uint64_t given; /* packets given to receives: the number of the receive at the head */
    uint64_t ring_size;
    uint64_t ring_written; /* octets stored so far, heads included */
    uint64_t ring_read;
    uint64_t ring_told;  /* of these the sender knows */
    uint64_t advert_min; /* shorter receives are advertised if they are needed */
    uint64_t needed;     /* number of the packet that needs its receive, and 1; 0: none */
    uint32_t chain;
    uint32_t first;
    uint32_t count;
    uint32_t room;
    bool withdrawing;
    bool ended; /* no more packets */
    struct exs_packet_receive *receives;
};

enum exs_packet_fate {
    EXS_PACKET_LIE,
    EXS_PACKET_STORE, /* in the ring, at in->ring_written before the call */
    EXS_PACKET_GIVE   /* to the receive */
};

void exs_packet_in_start(struct exs_packet_in *in, uint64_t ring_size, uint64_t advert_min,
                         struct exs_packet_receive *receives, uint32_t room);

/* There is room: the caller counts credits. */
void exs_packet_in_post(struct exs_packet_in *in, uint64_t length, void *owner);

/*
 * The oldest packet in the ring, at in->ring_read, is for the oldest receive. Its length tells the
 * head there; exs_packet_in_take takes both out.
 */
bool exs_packet_in_match(const struct exs_packet_in *in);
void exs_packet_in_take(struct exs_packet_in *in, uint64_t length, struct exs_packet_receive *to);

/* A receive that no packet will come for. */
bool exs_packet_in_left(struct exs_packet_in *in, struct exs_packet_receive *receive);

struct exs_packet_receive *exs_packet_in_at(struct exs_packet_in *in, uint32_t index);
/* Takes one out while no receive is advertised. */
void exs_packet_in_remove(struct exs_packet_in *in, uint32_t index);
bool exs_packet_in_is_advertised(const struct exs_packet_in *in);
bool exs_packet_in_withdraw(struct exs_packet_in *in);

/* Messages of the peer: an inline packet, one that was written; false: a lie. */
enum exs_packet_fate exs_packet_in_ring(struct exs_packet_in *in, uint64_t length,
                                        struct exs_packet_receive *to);
bool exs_packet_in_direct(struct exs_packet_in *in, struct exs_packet_receive *to);
bool exs_packet_in_need(struct exs_packet_in *in, uint64_t number);
bool exs_packet_in_withdrawn(struct exs_packet_in *in, uint32_t chain);
bool exs_packet_in_end(struct exs_packet_in *in);

/* The next receive to be advertised, now; *number goes with it. NULL: none. */
struct exs_packet_receive *exs_packet_in_advertise(struct exs_packet_in *in, uint64_t *number);
bool exs_packet_in_ack_due(const struct exs_packet_in *in);
uint32_t exs_packet_in_tell(struct exs_packet_in *in);

#endif /* ITAPI_ULP_EXS_PACKET_EXS_PACKET_IN_H */
