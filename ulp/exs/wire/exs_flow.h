/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flow control of messages: no message is sent without a receive at the peer. Each message carries
 * the number of receives that its sender has posted so far. The last receive is kept for CREDIT, so
 * that each side can always send its number. A CREDIT is due after at least two new receives, so
 * one CREDIT does not cause another. A receive that a message has taken is posted again after the
 * next message of this side, which the peer may wait for, or when a CREDIT is due.
 */
#ifndef ITAPI_ULP_EXS_WIRE_EXS_FLOW_H
#define ITAPI_ULP_EXS_WIRE_EXS_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct exs_flow {
    uint32_t slots;  /* receives that each side posts before the connection is made; at least 4 */
    uint32_t due;    /* CREDIT is due when this number is unreported; 2 to slots - 2 */
    uint32_t posted; /* receives posted here so far */
    uint32_t spent;  /* receives taken by messages, and not posted again yet */
    uint32_t told;   /* part of posted that is reported to the peer */
    uint32_t sent;   /* messages sent so far */
    uint32_t peer_posted;
};

static inline void exs_flow_start(struct exs_flow *flow, uint32_t slots, uint32_t due)
{
    *flow = (struct exs_flow){
        .slots = slots, .due = due, .posted = slots, .told = slots, .peer_posted = slots};
}

/* Returns how many messages may be sent now, not counting CREDIT. */
static inline uint32_t exs_flow_room(const struct exs_flow *flow)
{
    uint32_t room = flow->peer_posted - flow->sent;

    return room > 0 ? room - 1 : 0;
}

static inline bool exs_flow_credit_due(const struct exs_flow *flow)
{
    return flow->posted - flow->told >= flow->due && flow->peer_posted != flow->sent;
}

/* Called when a message has arrived. Returns true if the spent receives must be posted now. */
static inline bool exs_flow_spend(struct exs_flow *flow)
{
    flow->spent++;
    return flow->posted + flow->spent - flow->told >= flow->due;
}

/* The spent receives have been posted. */
static inline void exs_flow_restock(struct exs_flow *flow)
{
    flow->posted += flow->spent;
    flow->spent = 0;
}

/*
 * Returns true if enough messages have been sent that the peer will send a CREDIT or another
 * message. Then requests may wait for that message, to be sent together.
 */
static inline bool exs_flow_answer_comes(const struct exs_flow *flow)
{
    return flow->slots - (flow->peer_posted - flow->sent) >= flow->due;
}

/* Called when a message is sent; the return value goes with it. */
static inline uint32_t exs_flow_send(struct exs_flow *flow)
{
    flow->sent++;
    flow->told = flow->posted;
    return flow->posted;
}

/* Called when a message arrives. Returns false if it counts more receives than there can be. */
static inline bool exs_flow_hear(struct exs_flow *flow, uint32_t peer_posted)
{
    uint32_t more = peer_posted - flow->peer_posted;

    if (more > flow->slots || peer_posted - flow->sent > flow->slots)
        return false;
    flow->peer_posted = peer_posted;
    return true;
}

#endif /* ITAPI_ULP_EXS_WIRE_EXS_FLOW_H */
