/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_ep_drain.h"

#include "itx_api.h"

#include <time.h>

#define DRAIN_STEP_NS   1000000 /* between two checks */
#define DRAIN_STILL_FOR 2000    /* checks without progress: the peer has stopped reading */

/* Returns a number that changes while requests make progress. */
static uint64_t movement(const struct itx_ep_counters *counters)
{
    return counters->requests_ended + counters->bytes_sent + counters->bytes_received;
}

static bool is_connected(const struct udapl_ep *ep)
{
    it_ep_param_t param = {.service_type = IT_RC_SERVICE};

    return it_ep_query(ep->it, IT_EP_PARAM_STATE, &param) == IT_SUCCESS &&
           param.ep_state.rc == IT_EP_STATE_CONNECTED;
}

void udapl_ep_drain(struct udapl_ep *ep)
{
    const struct timespec step = {.tv_nsec = DRAIN_STEP_NS};
    struct itx_ep_counters counters = {.size = sizeof(counters)};
    uint64_t moved = 0;

    atomic_store(&ep->connection.draining, true);
    for (unsigned still = 0; still < DRAIN_STILL_FOR && is_connected(ep); still++) {
        if (itx_ep_stats(ep->it, &counters) != IT_SUCCESS ||
            counters.requests_ended == counters.requests_posted)
            break;
        if (movement(&counters) != moved)
            still = 0;
        moved = movement(&counters);
        (void)nanosleep(&step, NULL);
    }
    atomic_store(&ep->connection.draining, false);
}
