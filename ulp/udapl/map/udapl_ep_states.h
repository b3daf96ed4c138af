/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of an Endpoint, and the calls legal in them: docs/udapl.md has the tables. */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_EP_STATES_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_EP_STATES_H

#include "it_api.h"

#include <dat2/udat.h>

#include <stdbool.h>

/* Holders of an EP other than its consumer. */
enum udapl_ep_hold {
    UDAPL_EP_FREE,      /* none */
    UDAPL_EP_RESERVED,  /* a service point, which waits for a request */
    UDAPL_EP_PASSIVE,   /* a request of that service point */
    UDAPL_EP_TENTATIVE, /* a request for which the provider has made the EP */
    UDAPL_EP_HOLDS
};

/* The values from which the state follows. */
struct udapl_ep_condition {
    bool configured; /* there is an EP of IT-API, in this state */
    it_ep_state_rc_t it;
    enum udapl_ep_hold hold;
    bool draining; /* a graceful disconnect waits for the last requests */
};

/* Calls that depend on the state. */
enum udapl_ep_call {
    UDAPL_CALL_CONNECT, /* and accepting a request that names no EP */
    UDAPL_CALL_RESERVE,
    UDAPL_CALL_ACCEPT_HELD, /* accepting a request that names the EP */
    UDAPL_CALL_DUPLICATE,   /* connecting another EP to the same peer */
    UDAPL_CALL_DISCONNECT,
    UDAPL_CALL_DISCONNECT_GRACEFULLY,
    UDAPL_CALL_RESET,
    UDAPL_CALLS
};

enum udapl_ep_verdict {
    UDAPL_REFUSED, /* DAT_INVALID_STATE */
    UDAPL_NO_OP,   /* DAT_SUCCESS without effect */
    UDAPL_LEGAL
};

#define UDAPL_EP_STATES ((unsigned)DAT_EP_STATE_CONNECTED_MULTI_PATH + 1)

DAT_EP_STATE udapl_ep_state_of(const struct udapl_ep_condition *condition);
enum udapl_ep_verdict udapl_ep_judge(DAT_EP_STATE state, enum udapl_ep_call call);

#endif
