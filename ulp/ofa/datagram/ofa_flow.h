/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flow control: limits the datagrams on their way to another socket. Programs that send datagrams
 * as fast as they can rely on a receiver that is as fast. A receiver on a busy processor is not,
 * and the kernel drops datagrams for which its buffer has no room. So the receiving socket
 * acknowledges some datagrams, and a sender waits while too many are not acknowledged. A sender
 * without any acknowledgement for a while goes on without flow control.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_FLOW_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_FLOW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define OFA_FLOWS 256

struct ofa_flow {
    struct in6_addr address;
    uint16_t port; /* 0: a free place */
    uint32_t sent; /* last sequence number */
    uint32_t acked;
    uint64_t full_since_ns; /* 0: not full */
    bool heard;             /* the peer has acknowledged a datagram */
    bool deaf;              /* the peer does not acknowledge, or no more */
};

/* Returns the flow to a socket. Two flows with the same hash replace each other and start anew. */
struct ofa_flow *ofa_flow_find(struct ofa_flow flows[OFA_FLOWS], const struct in6_addr *address,
                               uint16_t port);

/* Returns true if the next datagram may be sent now. */
bool ofa_flow_admits(struct ofa_flow *flow);

/* Returns the next datagram's sequence number; *wants_ack: the peer shall acknowledge it. */
uint32_t ofa_flow_next(const struct ofa_flow *flow, bool *wants_ack);

void ofa_flow_sent(struct ofa_flow *flow);

/* Handles an acknowledgement of a datagram and all before it. */
void ofa_flow_acknowledged(struct ofa_flow flows[OFA_FLOWS], const struct in6_addr *address,
                           uint16_t port, uint32_t sequence);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_FLOW_H */
