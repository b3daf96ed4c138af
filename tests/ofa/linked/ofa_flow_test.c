/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits the datagrams in transit. The clock stands still until the test moves it. */
#include "datagram/ofa_flow.h"

#include "support/check.h"
#include "support/ofa_timer.h"

#include <string.h>

enum {
    WINDOW = 32,
    PORT = 4711,
    MS = 1000000
};

static uint64_t now_ns = 1;
static struct ofa_flow flows[OFA_FLOWS];

uint64_t ofa_clock_ns(void)
{
    return now_ns;
}

static struct in6_addr peer(unsigned char last)
{
    struct in6_addr address = {{{0}}};

    address.s6_addr[15] = last;
    return address;
}

/*
 * Sends until the flow is full or this many are sent. Returns the last number that asks for an
 * answer.
 */
static uint32_t fill(struct ofa_flow *flow, unsigned int most, unsigned int *count)
{
    uint32_t last = 0;

    for (*count = 0; *count < most && ofa_flow_admits(flow); ++*count) {
        bool wants_ack;
        uint32_t sequence = ofa_flow_next(flow, &wants_ack);

        ofa_flow_sent(flow);
        if (wants_ack)
            last = sequence;
    }
    return last;
}

static void window(void)
{
    const struct in6_addr address = peer(1);
    const struct in6_addr other = peer(2);
    struct ofa_flow *flow = ofa_flow_find(flows, &address, PORT);
    unsigned int count;
    uint32_t last = fill(flow, 1000, &count);

    CHECK_EQ(WINDOW, count);
    CHECK_EQ(WINDOW, last);
    /* Answers from other peers, from earlier, and to numbers that were never sent are ignored. */
    ofa_flow_acknowledged(flows, &other, PORT, last);
    ofa_flow_acknowledged(flows, &address, PORT + 1, last);
    ofa_flow_acknowledged(flows, &address, PORT, last + 1);
    CHECK(!ofa_flow_admits(flow));
    ofa_flow_acknowledged(flows, &address, PORT, 8);
    ofa_flow_acknowledged(flows, &address, PORT, 7);
    (void)fill(flow, 1000, &count);
    CHECK_EQ(8, count);
    CHECK(ofa_flow_find(flows, &address, PORT) == flow && flow->sent == WINDOW + 8);
}

/*
 * A flow whose peer stays silent continues without answers, later if the peer has answered before.
 */
static void silence(void)
{
    const struct in6_addr address = peer(3);
    struct ofa_flow *flow = ofa_flow_find(flows, &address, PORT);
    unsigned int count;
    uint32_t last;

    (void)fill(flow, 1000, &count);
    CHECK_EQ(WINDOW, count);
    now_ns += 150 * MS;
    CHECK(!ofa_flow_admits(flow));
    now_ns += 100 * MS;
    last = fill(flow, 1000, &count);
    CHECK_EQ(1000, count);
    ofa_flow_acknowledged(flows, &address, PORT, last);
    (void)fill(flow, 1000, &count);
    CHECK_EQ(WINDOW, count);
    CHECK(!ofa_flow_admits(flow));
    now_ns += 800 * MS;
    CHECK(!ofa_flow_admits(flow));
    now_ns += 300 * MS;
    CHECK(ofa_flow_admits(flow));
}

/* Sequence numbers wrap around. */
static void wrap(void)
{
    const struct in6_addr address = peer(4);
    struct ofa_flow *flow = ofa_flow_find(flows, &address, PORT);
    unsigned int count;
    uint32_t last;

    flow->sent = flow->acked = UINT32_MAX - 10;
    last = fill(flow, 1000, &count);
    CHECK_EQ(WINDOW, count);
    CHECK(last < WINDOW);
    ofa_flow_acknowledged(flows, &address, PORT, last);
    (void)fill(flow, 1000, &count);
    CHECK(count > 0 && count <= WINDOW);
}

int main(void)
{
    window();
    silence();
    wrap();
    check_done();
    return 0;
}
