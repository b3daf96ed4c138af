/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of a verbs connection. */
#include "machines/machine_page.h"
#include "vp/verbs/cm/verbs_conn_machine.h"

#include <stddef.h>

static const struct machine_word states[VERBS_CONN_STATES] = {
    [VERBS_CONN_SAME] = {"the same", NULL},
    [VERBS_CONN_NEW] = {"new", "initiator: nothing has been asked"},
    [VERBS_CONN_REQUESTED] = {"requested",
                              "responder: the peer has asked, the program does not know"},
    [VERBS_CONN_ADDRESS] = {"address", "initiator: rdma_cm resolves the address"},
    [VERBS_CONN_ROUTE] = {"route", "initiator: rdma_cm resolves the route"},
    [VERBS_CONN_CALLING] = {"calling", "initiator, iWARP: a thread is in `rdma_connect`"},
    [VERBS_CONN_REPLY] = {"reply", "initiator: the request is out"},
    [VERBS_CONN_ARRIVED] = {"arrived", "initiator, three-way: the program decides"},
    [VERBS_CONN_ANNOUNCED] = {"announced", "responder: the program decides"},
    [VERBS_CONN_CONFIRM] = {"confirm", "responder: the answer is out"},
    [VERBS_CONN_LIVE] = {"live", "data flows"},
    [VERBS_CONN_OVER] = {"over", "rdma_cm has nothing under way"},
    [VERBS_CONN_CLOSING] = {"closing", "without EP: the peer has not disconnected yet"},
    [VERBS_CONN_DYING] = {"dying", "without EP, iWARP: a thread is in `rdma_destroy_id`"},
};

static const struct machine_word events[VERBS_CONN_EVENTS] = {
    [VERBS_ON_ADDRESS] = {"address", "rdma_cm: the address is resolved"},
    [VERBS_ON_ROUTE] = {"route", "rdma_cm: the route is resolved"},
    [VERBS_ON_NO_PATH] = {"no path", "rdma_cm: there is no address or route"},
    [VERBS_ON_FAILED] = {"failed", "rdma_cm: no connection"},
    [VERBS_ON_REFUSED] = {"refused", "rdma_cm: the peer's program has rejected"},
    [VERBS_ON_RESPONSE] = {"response", "rdma_cm: the peer accepts a two-way request"},
    [VERBS_ON_ARRIVAL] = {"arrival", "rdma_cm: the peer accepts a three-way request"},
    [VERBS_ON_ESTABLISHED] = {"established", "rdma_cm: data may flow"},
    [VERBS_ON_DISCONNECTED] = {"disconnected", "rdma_cm: the peer has disconnected"},
    [VERBS_ON_REMOVED] = {"removed", "rdma_cm: the device goes away"},
    [VERBS_ON_OTHER] = {"other", "rdma_cm: anything else"},
    [VERBS_ON_EXPIRED] = {"expired", "the timer"},
    [VERBS_ON_RETURNED] = {"returned", "the thread has returned from `rdma_connect`"},
    [VERBS_ON_QP_FAILED] = {"QP failed", "the device: a request or the QP has failed"},
    [VERBS_ON_QP_HEARD] = {"QP heard", "the device: the first receive has arrived"},
    [VERBS_ON_LAUNCHED] = {"launched", "`it_ep_connect` or a conversion"},
    [VERBS_ON_CALLED] = {"called", "a thread calls `rdma_connect`"},
    [VERBS_ON_SENT] = {"sent", "`rdma_connect` has succeeded"},
    [VERBS_ON_NOT_SENT] = {"not sent", "`rdma_connect` or `rdma_accept` has failed"},
    [VERBS_ON_RETRIED] = {"retried", "the port is taken: another one is tried"},
    [VERBS_ON_ASKED] = {"asked", "the arrival is reported to the program"},
    [VERBS_ON_CONFIRMED] = {"confirmed", "`it_ep_accept` of an arrival"},
    [VERBS_ON_AGREED] = {"agreed", "the QP works, and the peer has been told"},
    [VERBS_ON_ANNOUNCED] = {"announced", "the request is reported to the program"},
    [VERBS_ON_ACCEPTED] = {"accepted", "`it_ep_accept` of a request, or a conversion"},
    [VERBS_ON_DECLINED] = {"declined", "`it_reject`"},
    [VERBS_ON_WITHDRAWN] = {"withdrawn", "the program cannot decide any more"},
    [VERBS_ON_CLOSED] = {"closed", "the EP is through with the connection"},
};

static const char *const actions[VERBS_CONN_ACTIONS] = {
    [VERBS_DO_ROUTE] = "resolves the route",
    [VERBS_DO_REQUEST] = "sends the request",
    [VERBS_DO_JOIN] = "joins the thread, then handles the event",
    [VERBS_DO_ASK] = "reports the arrival",
    [VERBS_DO_AGREE] = "moves the QP, confirms",
    [VERBS_DO_ESTABLISH] = "reports the connection",
    [VERBS_DO_FAIL] = "reports the failure, closes",
    [VERBS_DO_REFUSE] = "reports the rejection, closes",
    [VERBS_DO_CUT] = "cancels the thread, reports the failure, closes",
    [VERBS_DO_END] = "disconnects too, reports it, closes",
    [VERBS_DO_BREAK] = "reports a broken connection, closes",
    [VERBS_DO_NUDGE] = "siw: sends a nudge",
    [VERBS_DO_NOTIFY] = "tells rdma_cm",
    [VERBS_DO_ABANDON] = "closes",
    [VERBS_DO_WITHDRAW] = "withdraws the request, or tries again later",
    [VERBS_DO_DISCONNECT] = "disconnects",
    [VERBS_DO_DISCARD] = "destroys the id",
    [VERBS_DO_DESTROY] = "destroys the id, on iWARP in a thread",
    [VERBS_DO_DESTROY_CALLING] = "destroys the id in a thread, behind the one in `rdma_connect`",
};

static unsigned same_cells(enum verbs_conn_state state, struct verbs_conn_cell cell)
{
    unsigned found = 0;

    for (unsigned event = 0; event < VERBS_CONN_EVENTS; event++) {
        struct verbs_conn_cell other = verbs_conn_cell(state, event);

        if (other.next == cell.next && other.action == cell.action)
            found |= 1u << event;
    }
    return found;
}

static void print_state(enum verbs_conn_state state)
{
    unsigned printed =
        same_cells(state, (struct verbs_conn_cell){VERBS_CONN_SAME, VERBS_DO_NOTHING});

    for (unsigned event = 0; event < VERBS_CONN_EVENTS; event++) {
        struct verbs_conn_cell cell = verbs_conn_cell(state, event);
        const struct machine_row row = {
            .states = 1u << state,
            .events = same_cells(state, cell),
            .does = actions[cell.action],
            .next = states[cell.next].name,
        };

        if (!(printed & 1u << event))
            machine_row(&row, states, events);
        printed |= row.events;
    }
}

int main(void)
{
    machine_section("verbs");
    machine_words("state", states + 1, VERBS_CONN_STATES - 1);
    machine_words("event", events, VERBS_CONN_EVENTS);
    machine_table(
        "Both roles",
        "An initiator begins in new, a responder in requested. An event without a row is ignored.");
    for (unsigned state = VERBS_CONN_NEW; state < VERBS_CONN_STATES; state++)
        print_state(state);
    return 0;
}
