/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagrams between UDP sockets of queue pairs: 28 octets in network order, and the payload; and
 * the header of 40 octets that a receiver finds in front of it.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_WIRE_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_WIRE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFA_WIRE_HEADER  28
#define OFA_WIRE_PAYLOAD 4096 /* at most: the MTU of the port */
#define OFA_GRH_BYTES    40

enum ofa_wire_kind {
    OFA_WIRE_DATA = 1,
    OFA_WIRE_ACK = 2 /* answers a datagram with "wants_ack", and has no payload */
};

struct ofa_wire {
    enum ofa_wire_kind kind;
    bool has_immediate;
    bool solicited;
    bool wants_ack;
    uint8_t traffic_class;
    uint32_t to_number;
    uint32_t from_number;
    uint32_t qkey;
    uint32_t immediate; /* in host byte order */
    uint32_t sequence;  /* of the datagrams from this socket to that one */
};

void ofa_wire_encode(const struct ofa_wire *wire, unsigned char bytes[OFA_WIRE_HEADER]);

/* False: something else. "length" is that of the whole datagram. */
bool ofa_wire_decode(const unsigned char *bytes, size_t length, struct ofa_wire *wire);

/* ---- Global route header -------------------------------------------------------------------- */

/* Whence a datagram came, and whither. Addresses of IPv4 are mapped ones. */
struct ofa_route {
    struct in6_addr from;
    struct in6_addr to;
    uint8_t traffic_class;
};

/*
 * As RoCE v2 has it: the header of IPv6, or 20 octets of 0 and that of IPv4. "length" is that of
 * the payload.
 */
void ofa_grh_encode(const struct ofa_route *route, size_t length,
                    unsigned char bytes[OFA_GRH_BYTES]);

/* False: of neither kind. */
bool ofa_grh_decode(const unsigned char bytes[OFA_GRH_BYTES], struct ofa_route *route);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_WIRE_H */
