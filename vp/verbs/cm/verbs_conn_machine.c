/* SPDX-License-Identifier: BSD-2-Clause */
/* The transition table of a connection; docs/connections.md is printed from it. */
#include "vp/verbs/cm/verbs_conn_machine.h"

#include "vp/verbs/cm/verbs_cm_private.h"

/* The cell that these states have for these events. */
struct machine_row {
    unsigned states, events; /* IN and ON bits */
    struct verbs_conn_cell cell;
};

/* clang-format off */
#define IN(state) (1u << VERBS_CONN_##state)
#define ON(event) (1u << VERBS_ON_##event)
#define ROW(in, on, next, action) {in, on, {VERBS_CONN_##next, VERBS_DO_##action}}

#define RESOLVING (IN(ADDRESS) | IN(ROUTE))
#define CONNECTS  (IN(ROUTE) | IN(CALLING)) /* the request is sent */
#define DECIDED   (IN(ARRIVED) | IN(ANNOUNCED)) /* by the consumer */
#define AWAITS    (IN(REPLY) | IN(CONFIRM)) /* the peer */
#define FAILURES  (ON(NO_PATH) | ON(FAILED) | ON(REFUSED))
/* clang-format on */

/* The first matching row counts. */
static const struct machine_row machine[] = {
    ROW(IN(NEW), ON(LAUNCHED), ADDRESS, NOTHING),
    ROW(IN(REQUESTED), ON(ANNOUNCED), ANNOUNCED, NOTHING),
    ROW(IN(REQUESTED) | IN(ANNOUNCED), ON(ACCEPTED), CONFIRM, NOTHING),
    ROW(IN(ADDRESS), ON(ADDRESS), ROUTE, ROUTE),
    ROW(IN(ROUTE), ON(ROUTE), SAME, REQUEST),
    ROW(RESOLVING, FAILURES | ON(EXPIRED), SAME, FAIL),
    ROW(RESOLVING | AWAITS, ON(REMOVED), OVER, FAIL),
    ROW(RESOLVING, ON(CLOSED), OVER, DISCARD),
    ROW(IN(ROUTE), ON(CALLED), CALLING, NOTHING),
    ROW(CONNECTS, ON(SENT), REPLY, NOTHING),
    ROW(CONNECTS | IN(CONFIRM), ON(NOT_SENT), OVER, NOTHING),
    ROW(CONNECTS, ON(RETRIED), ADDRESS, NOTHING),
    /* An event may arrive before the thread that caused it has returned. */
    ROW(IN(CALLING), FAILURES | ON(RESPONSE) | ON(ESTABLISHED), SAME, JOIN),
    ROW(IN(CALLING), ON(DISCONNECTED) | ON(RETURNED), SAME, JOIN),
    ROW(IN(CALLING), ON(REMOVED), OVER, CUT),
    ROW(IN(CALLING) | IN(REPLY), ON(EXPIRED), SAME, FAIL),
    ROW(IN(CALLING), ON(CLOSED), DYING, DESTROY_CALLING),
    ROW(IN(REPLY), ON(NO_PATH), OVER, FAIL),
    ROW(IN(REPLY), ON(RESPONSE), SAME, AGREE),
    ROW(IN(REPLY), ON(ARRIVAL), SAME, ASK),
    ROW(IN(REPLY), ON(ASKED), ARRIVED, NOTHING),
    ROW(IN(REPLY), ON(AGREED), LIVE, NOTHING),
    ROW(AWAITS, ON(FAILED) | ON(DISCONNECTED), OVER, FAIL),
    ROW(AWAITS, ON(REFUSED), OVER, REFUSE),
    ROW(AWAITS, ON(ESTABLISHED), LIVE, ESTABLISH),
    ROW(AWAITS, ON(CLOSED), DYING, DESTROY),
    ROW(IN(CONFIRM), ON(QP_HEARD), SAME, NOTIFY),
    ROW(IN(ARRIVED), FAILURES | ON(DISCONNECTED) | ON(REMOVED), SAME, FAIL),
    ROW(IN(ARRIVED), ON(CONFIRMED), REPLY, AGREE),
    ROW(IN(ARRIVED), ON(EXPIRED), SAME, ABANDON),
    /* The consumer learns by its decision that the peer has disconnected. */
    ROW(IN(ANNOUNCED), ON(FAILED) | ON(REFUSED) | ON(DISCONNECTED), SAME, ABANDON),
    ROW(IN(ANNOUNCED), ON(REMOVED) | ON(EXPIRED), SAME, ABANDON),
    ROW(DECIDED, ON(DECLINED) | ON(WITHDRAWN), OVER, NOTHING),
    ROW(DECIDED, ON(CLOSED), SAME, WITHDRAW),
    ROW(IN(LIVE), ON(DISCONNECTED), OVER, END),
    ROW(IN(LIVE), ON(REMOVED), OVER, BREAK),
    ROW(IN(LIVE), ON(EXPIRED), SAME, NUDGE),
    ROW(IN(LIVE), ON(QP_FAILED), SAME, BREAK),
    ROW(IN(LIVE), ON(CLOSED), CLOSING, DISCONNECT),
    ROW(IN(OVER), ON(CLOSED), SAME, DISCARD),
    ROW(IN(CLOSING), ON(DISCONNECTED) | ON(REMOVED), OVER, DISCARD),
    ROW(IN(CLOSING), ON(EXPIRED) | ON(CLOSED), OVER, DISCARD),
};

struct verbs_conn_cell verbs_conn_cell(enum verbs_conn_state state, enum verbs_conn_event event)
{
    for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]); i++)
        if ((machine[i].states & 1u << state) && (machine[i].events & 1u << event))
            return machine[i].cell;
    return (struct verbs_conn_cell){VERBS_CONN_SAME, VERBS_DO_NOTHING};
}

enum verbs_conn_action verbs_conn_step(struct verbs_conn *conn, enum verbs_conn_event event)
{
    struct verbs_conn_cell cell = verbs_conn_cell(conn->state, event);

    if (cell.next != VERBS_CONN_SAME)
        conn->state = cell.next;
    return cell.action;
}

const char *verbs_conn_state_name(enum verbs_conn_state state)
{
    static const char *const names[VERBS_CONN_STATES] = {
        [VERBS_CONN_NEW] = "NEW",         [VERBS_CONN_REQUESTED] = "REQUESTED",
        [VERBS_CONN_ADDRESS] = "ADDRESS", [VERBS_CONN_ROUTE] = "ROUTE",
        [VERBS_CONN_CALLING] = "CALLING", [VERBS_CONN_REPLY] = "REPLY",
        [VERBS_CONN_ARRIVED] = "ARRIVED", [VERBS_CONN_ANNOUNCED] = "ANNOUNCED",
        [VERBS_CONN_CONFIRM] = "CONFIRM", [VERBS_CONN_LIVE] = "LIVE",
        [VERBS_CONN_OVER] = "OVER",       [VERBS_CONN_CLOSING] = "CLOSING",
        [VERBS_CONN_DYING] = "DYING",
    };

    return names[state];
}
