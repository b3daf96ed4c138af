/* SPDX-License-Identifier: BSD-2-Clause */
/* The octets of messages and of a connection's private data: README.md. Big endian. */
#ifndef ITAPI_ULP_EXS_WIRE_EXS_MESSAGE_H
#define ITAPI_ULP_EXS_WIRE_EXS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXS_HEAD_OCTETS  24u
#define EXS_PLACE_OCTETS 24u /* follows the head of ADVERT and RING */
#define EXS_ADVERTS_MAX  64u /* receives in one ADVERT */
#define EXS_SETUP_OCTETS 34u

enum exs_message_type {
    EXS_MESSAGE_DATA = 1,
    EXS_MESSAGE_ADVERT,
    EXS_MESSAGE_ASK,
    EXS_MESSAGE_NONE,
    EXS_MESSAGE_NEED,
    EXS_MESSAGE_WITHDRAW,
    EXS_MESSAGE_WITHDRAWN,
    EXS_MESSAGE_WANT,
    EXS_MESSAGE_RING,
    EXS_MESSAGE_CREDIT,
    EXS_MESSAGE_FIN,
    EXS_MESSAGE_CLOSE,
    EXS_MESSAGE_CLOSED,
    EXS_MESSAGE_TYPES /* one more than the last */
};

/* Flags. */
#define EXS_MESSAGE_DIRECT  0x1u /* DATA: for an ADVERT; otherwise to the ring's account */
#define EXS_MESSAGE_INLINE  0x2u /* DATA: the octets follow; otherwise they have been written */
#define EXS_MESSAGE_WAITALL 0x4u /* ADVERT: the receive takes more than one message */
#define EXS_MESSAGE_TAIL    0x8u /* direct DATA: the last octets follow; the others were written */

/* Chains are numbered from 1; 0 is no chain. */
static inline uint32_t exs_chain_after(uint32_t chain)
{
    return chain == UINT32_MAX ? 1 : chain + 1;
}

/* Memory of the peer. */
struct exs_place {
    uint64_t addr;
    uint64_t length;
    uint32_t stag;
};

struct exs_message {
    uint8_t type;
    uint8_t flags;
    uint32_t posted; /* receives posted so far, modulo 2^32 */
    uint32_t freed;  /* octets of the ring freed so far, modulo 2^32 */
    uint32_t chain;
    uint64_t count;
    struct exs_place place;       /* ADVERT, RING */
    uint32_t more;                /* ADVERT: further receives, each with a place in the payload */
    uint32_t tail;                /* DATA with TAIL: octets that follow, fewer than count */
    const unsigned char *payload; /* inline data, or further places, as received */
};

/* Writes head and place and returns their length; the payload follows them. */
size_t exs_message_put(unsigned char *out, const struct exs_message *message);

/*
 * Writes the EXS_PLACE_OCTETS of a further receive of an ADVERT; flags as in the message for the
 * first.
 */
void exs_message_put_more(unsigned char *out, const struct exs_place *place, uint8_t flags);
/* Replaces the place by that of the next further receive. Returns false if there is none. */
bool exs_message_next_more(struct exs_message *message);

/*
 * Returns false for octets that are no message of this protocol, or of a wrong length. payload
 * points into the octets.
 */
bool exs_message_get(const unsigned char *octets, size_t length, struct exs_message *message);

/* The parameters that each side sends when a connection is made. */
struct exs_setup {
    bool packets; /* SOCK_SEQPACKET */
    uint16_t send_credits;
    uint16_t recv_credits;
    uint32_t packet_copy_max;
    struct exs_place ring; /* STag 0: sent later, after WANT */
};

void exs_setup_put(unsigned char out[EXS_SETUP_OCTETS], const struct exs_setup *setup);

/*
 * Missing octets at the end are 0, since devices strip zeros. Returns false for another protocol.
 */
bool exs_setup_get(const unsigned char *octets, size_t length, struct exs_setup *setup);

/* The 32-bit length before each packet of an inline message. */
#define EXS_PACKET_HEAD 4u
void exs_packet_head_put(unsigned char *out, uint32_t length);
uint32_t exs_packet_head_get(const unsigned char *octets);

#endif /* ITAPI_ULP_EXS_WIRE_EXS_MESSAGE_H */
