/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format of datagrams between UDP sockets of queue pairs: 28 octets in network order, then the
 * payload. Also the header of 40 octets (GRH) that a receive has before the payload.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_WIRE_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_WIRE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFA_WIRE_HEADER  28
#define OFA_WIRE_PAYLOAD 4096 /* the maximum: the MTU of the port */
#define OFA_GRH_BYTES    40

enum ofa_wire_kind {
    OFA_WIRE_DATA = 1,
    OFA_WIRE_ACK = 2 /* acknowledges a datagram with .wants_ack; has no payload */
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
    uint32_t sequence;  /* of the datagrams from one socket to the other */
};

void ofa_wire_encode(const struct ofa_wire *wire, unsigned char bytes[OFA_WIRE_HEADER]);

/* Returns false for other octets. length: of the whole datagram. */
bool ofa_wire_decode(const unsigned char *bytes, size_t length, struct ofa_wire *wire);

/* ---- Global route header -------------------------------------------------------------------- */

/* Source and destination of a datagram. IPv4 addresses are IPv4-mapped. */
struct ofa_route {
    struct in6_addr from;
    struct in6_addr to;
    uint8_t traffic_class;
};

/*
 * Encodes the header as RoCE v2 does: an IPv6 header, or 20 octets of 0 and an IPv4 header. length:
 * of the payload.
 */
void ofa_grh_encode(const struct ofa_route *route, size_t length,
                    unsigned char bytes[OFA_GRH_BYTES]);

/* Returns false for a header of neither kind. */
bool ofa_grh_decode(const unsigned char bytes[OFA_GRH_BYTES], struct ofa_route *route);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_WIRE_H */
