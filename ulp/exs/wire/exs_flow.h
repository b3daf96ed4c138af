/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Never a message without a receive at the peer. Each message tells how many receives its sender
 * has posted so far. The last one known is kept for CREDIT, so both sides can always tell. A CREDIT
 * is due for two receives at least, so one does not cause another.
 */
#ifndef ITAPI_ULP_EXS_WIRE_EXS_FLOW_H
#define ITAPI_ULP_EXS_WIRE_EXS_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct exs_flow {
    uint32_t slots;  /* receives that each side posts before the connection is made; at least 4 */
    uint32_t due;    /* CREDIT when so many are not told; at least 2, at most slots - 2 */
    uint32_t posted; /* here, so far */
    uint32_t told;   /* of these */
    uint32_t sent;   /* messages, so far */
    uint32_t peer_posted;
};

static inline void exs_flow_start(struct exs_flow *flow, uint32_t slots, uint32_t due)
{
    *flow = (struct exs_flow){
        .slots = slots, .due = due, .posted = slots, .told = slots, .peer_posted = slots};
}

/* Messages that may be sent now, CREDIT not counted. */
static inline uint32_t exs_flow_room(const struct exs_flow *flow)
{
    uint32_t room = flow->peer_posted - flow->sent;

    return room > 0 ? room - 1 : 0;
}

static inline bool exs_flow_credit_due(const struct exs_flow *flow)
{
    return flow->posted - flow->told >= flow->due && flow->peer_posted != flow->sent;
}

/*
 * So many messages have been sent that the peer will answer with CREDIT at the latest: what can
 * wait may, in order to leave together.
 */
static inline bool exs_flow_answer_comes(const struct exs_flow *flow)
{
    return flow->slots - (flow->peer_posted - flow->sent) >= flow->due;
}

/* A message leaves; the return value goes with it. */
static inline uint32_t exs_flow_send(struct exs_flow *flow)
{
    flow->sent++;
    flow->told = flow->posted;
    return flow->posted;
}

/* A message has come. false: it tells of more receives than there can be. */
static inline bool exs_flow_hear(struct exs_flow *flow, uint32_t peer_posted)
{
    uint32_t more = peer_posted - flow->peer_posted;

    if (more > flow->slots || peer_posted - flow->sent > flow->slots)
        return false;
    flow->peer_posted = peer_posted;
    return true;
}

#endif /* ITAPI_ULP_EXS_WIRE_EXS_FLOW_H */
