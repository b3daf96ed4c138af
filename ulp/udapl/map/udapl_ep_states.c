/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/udapl_ep_states.h"

/* States without a connection: by holder, without and with an EP of IT-API. */
static const DAT_EP_STATE idle[UDAPL_EP_HOLDS][2] = {
    [UDAPL_EP_FREE] = {DAT_EP_STATE_UNCONFIGURED_UNCONNECTED, DAT_EP_STATE_UNCONNECTED},
    [UDAPL_EP_RESERVED] = {DAT_EP_STATE_UNCONFIGURED_RESERVED, DAT_EP_STATE_RESERVED},
    [UDAPL_EP_PASSIVE] = {DAT_EP_STATE_UNCONFIGURED_PASSIVE,
                          DAT_EP_STATE_PASSIVE_CONNECTION_PENDING},
    [UDAPL_EP_TENTATIVE] = {DAT_EP_STATE_UNCONFIGURED_TENTATIVE,
                            DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING},
};

DAT_EP_STATE udapl_ep_state_of(const struct udapl_ep_condition *condition)
{
    if (!condition->configured)
        return idle[condition->hold][0];
    switch (condition->it) {
    case IT_EP_STATE_UNCONNECTED:
        break;
    case IT_EP_STATE_ACTIVE1_CONNECTION_PENDING:
    case IT_EP_STATE_ACTIVE2_CONNECTION_PENDING:
        return DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
    case IT_EP_STATE_PASSIVE_CONNECTION_PENDING:
    case IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ: /* for a socket service point */
        return DAT_EP_STATE_COMPLETION_PENDING;
    case IT_EP_STATE_CONNECTED:
        return condition->draining ? DAT_EP_STATE_DISCONNECT_PENDING : DAT_EP_STATE_CONNECTED;
    case IT_EP_STATE_NONOPERATIONAL:
        return DAT_EP_STATE_DISCONNECTED;
    }
    return idle[condition->hold][1];
}

#define AT(state) (1u << (unsigned)DAT_EP_STATE_##state)

#define CONNECTED (AT(CONNECTED) | AT(CONNECTED_SINGLE_PATH) | AT(CONNECTED_MULTI_PATH))
#define ENDS      (AT(ACTIVE_CONNECTION_PENDING) | AT(COMPLETION_PENDING) | CONNECTED)

static const struct {
    unsigned legal, no_op;
} calls[UDAPL_CALLS] = {
    [UDAPL_CALL_CONNECT] = {.legal = AT(UNCONNECTED)},
    [UDAPL_CALL_RESERVE] = {.legal = AT(UNCONNECTED) | AT(UNCONFIGURED_UNCONNECTED)},
    [UDAPL_CALL_ACCEPT_HELD] = {.legal = AT(PASSIVE_CONNECTION_PENDING) |
                                         AT(TENTATIVE_CONNECTION_PENDING)},
    [UDAPL_CALL_DUPLICATE] = {.legal = CONNECTED},
    [UDAPL_CALL_DISCONNECT] = {.legal = ENDS | AT(DISCONNECT_PENDING), .no_op = AT(DISCONNECTED)},
    [UDAPL_CALL_DISCONNECT_GRACEFULLY] = {.legal = ENDS,
                                          .no_op = AT(DISCONNECT_PENDING) | AT(DISCONNECTED)},
    [UDAPL_CALL_RESET] = {.legal = AT(DISCONNECTED),
                          .no_op = AT(UNCONNECTED) | AT(UNCONFIGURED_UNCONNECTED)},
};

enum udapl_ep_verdict udapl_ep_judge(DAT_EP_STATE state, enum udapl_ep_call call)
{
    unsigned bit = (unsigned)state < UDAPL_EP_STATES ? 1u << (unsigned)state : 0;

    if (calls[call].legal & bit)
        return UDAPL_LEGAL;
    return calls[call].no_op & bit ? UDAPL_NO_OP : UDAPL_REFUSED;
}
