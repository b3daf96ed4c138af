/* SPDX-License-Identifier: BSD-2-Clause */
/* The sender of packets: README.md. The caller owns the memory of the array. */
#ifndef ITAPI_ULP_EXS_PACKET_EXS_PACKET_OUT_H
#define ITAPI_ULP_EXS_PACKET_EXS_PACKET_OUT_H

#include "wire/exs_message.h"

/* A receive of the peer for the packet of this number. */
struct exs_packet_advert {
    uint64_t number;
    struct exs_place place;
};

struct exs_packet_out {
    uint64_t next; /* number of the next packet */
    uint64_t ring_size;
    uint64_t ring_sent; /* octets charged to the ring so far, packet heads included */
    uint64_t ring_freed;
    uint32_t chain;
    uint32_t first; /* index of the oldest ADVERT */
    uint32_t count;
    uint32_t room;
    bool needed; /* NEED has been sent for the next packet */
    struct exs_packet_advert *adverts;
};

enum exs_packet_step {
    EXS_PACKET_WAIT,
    EXS_PACKET_DIRECT, /* inline, for the receive of its number */
    EXS_PACKET_RING,   /* inline, charged to the ring */
    EXS_PACKET_WRITE,  /* written to place, as much as fits there */
    EXS_PACKET_NEED    /* a NEED message for out->next */
};

void exs_packet_out_start(struct exs_packet_out *out, uint64_t ring_size,
                          struct exs_packet_advert *adverts, uint32_t room);

/*
 * Decides how to send the next packet. in_line: it fits into a message. exs_packet_out_sent records
 * that it has been sent, and gets the place for a WRITE.
 */
enum exs_packet_step exs_packet_out_step(struct exs_packet_out *out, uint64_t length, bool in_line);
void exs_packet_out_sent(struct exs_packet_out *out, enum exs_packet_step step, uint64_t length,
                         struct exs_place *place);

/* Handle messages of the peer. Return false for a protocol violation. */
bool exs_packet_out_advert(struct exs_packet_out *out, const struct exs_message *message);
bool exs_packet_out_withdraw(struct exs_packet_out *out, uint32_t chain);
bool exs_packet_out_freed(struct exs_packet_out *out, uint32_t freed);

#endif /* ITAPI_ULP_EXS_PACKET_EXS_PACKET_OUT_H */
