/* SPDX-License-Identifier: BSD-2-Clause */
#include "datagram/ofa_flow.h"

#include "support/ofa_timer.h"

#include <string.h>

/* As many datagrams of the maximum size as fit into a socket's default buffer. */
#define WINDOW    32
#define ACK_EVERY 8

/*
 * Time without an acknowledgement after which a sender ignores the limit; shorter for a peer that
 * has never acknowledged.
 */
#define PATIENCE_AT_FIRST_NS UINT64_C(200000000)
#define PATIENCE_NS          UINT64_C(1000000000)

static unsigned int place_of(const struct in6_addr *address, uint16_t port)
{
    uint32_t words[4];

    memcpy(words, address, sizeof(words));
    return (words[0] ^ words[1] ^ words[2] ^ words[3] ^ port ^ port >> 8) * UINT32_C(2654435761) >>
           24;
}

static bool leads_to(const struct ofa_flow *flow, const struct in6_addr *address, uint16_t port)
{
    return flow->port == port && memcmp(&flow->address, address, sizeof(*address)) == 0;
}

struct ofa_flow *ofa_flow_find(struct ofa_flow flows[OFA_FLOWS], const struct in6_addr *address,
                               uint16_t port)
{
    struct ofa_flow *flow = &flows[place_of(address, port)];

    if (!leads_to(flow, address, port))
        *flow = (struct ofa_flow){.address = *address, .port = port};
    return flow;
}

bool ofa_flow_admits(struct ofa_flow *flow)
{
    uint64_t now;

    if (flow->deaf || flow->sent - flow->acked < WINDOW)
        return true;
    now = ofa_clock_ns();
    if (flow->full_since_ns == 0)
        flow->full_since_ns = now;
    flow->deaf = now - flow->full_since_ns >= (flow->heard ? PATIENCE_NS : PATIENCE_AT_FIRST_NS);
    return flow->deaf;
}

uint32_t ofa_flow_next(const struct ofa_flow *flow, bool *wants_ack)
{
    uint32_t next = flow->sent + 1;

    *wants_ack = next % ACK_EVERY == 0;
    return next;
}

void ofa_flow_sent(struct ofa_flow *flow)
{
    flow->sent++;
}

void ofa_flow_acknowledged(struct ofa_flow flows[OFA_FLOWS], const struct in6_addr *address,
                           uint16_t port, uint32_t sequence)
{
    struct ofa_flow *flow = &flows[place_of(address, port)];

    if (!leads_to(flow, address, port) || sequence - flow->acked > flow->sent - flow->acked)
        return;
    flow->acked = sequence;
    flow->full_since_ns = 0;
    flow->deaf = false;
    flow->heard = true;
}
