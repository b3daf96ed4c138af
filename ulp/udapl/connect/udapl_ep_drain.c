/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_ep_drain.h"

#include "object/udapl_ia.h"

#include "itx_api.h"

#define DRAIN_STEP_US   1000 /* between two checks */
#define DRAIN_STILL_FOR 2000 /* checks without progress: the peer has stopped reading */

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

/* still: an EVD to which no thread posts. Returns false if the IA has failed or is being closed. */
static bool pause_on(it_evd_handle_t still)
{
    it_event_t event;
    it_status_t status = it_evd_wait(still, DRAIN_STEP_US, &event, NULL);

    return status == IT_ERR_TIMEOUT_EXPIRED || status == IT_ERR_INTERRUPT;
}

/* IT-API works while a thread waits in it: so the requests end on the IA's own thread, too. */
static void drain(const struct udapl_ep *ep, it_evd_handle_t still)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};
    uint64_t moved = 0;

    for (unsigned checks = 0; checks < DRAIN_STILL_FOR && is_connected(ep); checks++) {
        if (itx_ep_stats(ep->it, &counters) != IT_SUCCESS ||
            counters.requests_ended == counters.requests_posted)
            break;
        if (movement(&counters) != moved)
            checks = 0;
        moved = movement(&counters);
        if (!pause_on(still))
            break;
    }
}

void udapl_ep_drain(struct udapl_ep *ep)
{
    it_evd_handle_t still;

    /* If this fails, the requests are not waited for. */
    if (it_evd_create(ep->object.ia->it, IT_SOFTWARE_EVENT_STREAM, (it_evd_flags_t)0, 1,
                      IT_THRESHOLD_DISABLE, NULL, &still, NULL) != IT_SUCCESS)
        return;
    atomic_store(&ep->connection.draining, true);
    drain(ep, still);
    atomic_store(&ep->connection.draining, false);
    (void)it_evd_free(still); /* nobody else knows it */
}
