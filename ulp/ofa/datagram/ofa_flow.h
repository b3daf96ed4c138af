/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many datagrams are on their way to another socket. Programs that send datagrams as fast as
 * they can rely on a receiver that takes them as fast; a receiver on a busy processor does not, and
 * the kernel drops what it has no room for. So the receiver's socket acknowledges some of them, and
 * a sender waits while too many are not. One that hears nothing for a while goes on without.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_FLOW_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_FLOW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define OFA_FLOWS 256

struct ofa_flow {
    struct in6_addr address;
    uint16_t port; /* 0: the place is free */
    uint32_t sent; /* sequence number of the last */
    uint32_t acked;
    uint64_t full_since_ns; /* 0: it is not full */
    bool heard;             /* the peer has acknowledged something */
    bool deaf;              /* it does not, or not any more */
};

/* The flow to a socket. Two that have the same place displace each other: they lose their count. */
struct ofa_flow *ofa_flow_find(struct ofa_flow flows[OFA_FLOWS], const struct in6_addr *address,
                               uint16_t port);

/* Whether the next datagram may go out now. */
bool ofa_flow_admits(struct ofa_flow *flow);

/* The sequence number of the next datagram; *wants_ack: it is to be acknowledged. */
uint32_t ofa_flow_next(const struct ofa_flow *flow, bool *wants_ack);

void ofa_flow_sent(struct ofa_flow *flow);

/* A socket says that it has a datagram, and so all before it. */
void ofa_flow_acknowledged(struct ofa_flow flows[OFA_FLOWS], const struct in6_addr *address,
                           uint16_t port, uint32_t sequence);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_FLOW_H */
