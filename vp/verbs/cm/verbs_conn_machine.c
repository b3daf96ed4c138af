/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of a connection's states; docs/connections.md is printed from it. */
#include "vp/verbs/cm/verbs_conn_machine.h"

#include "vp/verbs/cm/verbs_cm_private.h"

#define STATE(name) VERBS_CONN_##name
#define ON(name)    [VERBS_ON_##name]
#define DO(name)                                                                                   \
    {                                                                                              \
        VERBS_CONN_SAME, VERBS_DO_##name                                                           \
    }
#define GO(next)                                                                                   \
    {                                                                                              \
        VERBS_CONN_##next, VERBS_DO_NOTHING                                                        \
    }
#define TO(next, name)                                                                             \
    {                                                                                              \
        VERBS_CONN_##next, VERBS_DO_##name                                                         \
    }

static const struct verbs_conn_cell machine[VERBS_CONN_STATES][VERBS_CONN_EVENTS] =
    {
        [STATE(NEW)] =
            {
                ON(LAUNCHED) = GO(ADDRESS),
            },
        [STATE(REQUESTED)] =
            {
                ON(ANNOUNCED) = GO(ANNOUNCED),
                ON(ACCEPTED) = GO(CONFIRM),
            },
        [STATE(ADDRESS)] =
            {
                ON(ADDRESS) = TO(ROUTE, ROUTE),
                ON(NO_PATH) = DO(FAIL),
                ON(FAILED) = DO(FAIL),
                ON(REFUSED) = DO(FAIL),
                ON(REMOVED) = TO(OVER, FAIL),
                ON(EXPIRED) = DO(FAIL),
                ON(CLOSED) = TO(OVER, DISCARD),
            },
        [STATE(ROUTE)] =
            {
                ON(ROUTE) = DO(REQUEST),
                ON(NO_PATH) = DO(FAIL),
                ON(FAILED) = DO(FAIL),
                ON(REFUSED) = DO(FAIL),
                ON(REMOVED) = TO(OVER, FAIL),
                ON(EXPIRED) = DO(FAIL),
                ON(CALLED) = GO(CALLING),
                ON(SENT) = GO(REPLY),
                ON(NOT_SENT) = GO(OVER),
                ON(RETRIED) = GO(ADDRESS),
                ON(CLOSED) = TO(OVER, DISCARD),
            },
        /* An event may be faster than the thread that has asked for it. */
        [STATE(CALLING)] =
            {
                ON(NO_PATH) = DO(JOIN),
                ON(FAILED) = DO(JOIN),
                ON(REFUSED) = DO(JOIN),
                ON(RESPONSE) = DO(JOIN),
                ON(ESTABLISHED) = DO(JOIN),
                ON(DISCONNECTED) = DO(JOIN),
                ON(REMOVED) = TO(OVER, CUT),
                ON(EXPIRED) = DO(FAIL),
                ON(RETURNED) = DO(JOIN),
                ON(SENT) = GO(REPLY),
                ON(NOT_SENT) = GO(OVER),
                ON(RETRIED) = GO(ADDRESS),
                ON(CLOSED) = TO(DYING, DESTROY_CALLING),
            },
        [STATE(REPLY)] =
            {
                ON(NO_PATH) = TO(OVER, FAIL),
                ON(FAILED) = TO(OVER, FAIL),
                ON(REFUSED) = TO(OVER, REFUSE),
                ON(RESPONSE) = DO(AGREE),
                ON(ARRIVAL) = DO(ASK),
                ON(ESTABLISHED) = TO(LIVE, ESTABLISH),
                ON(DISCONNECTED) = TO(OVER, FAIL),
                ON(REMOVED) = TO(OVER, FAIL),
                ON(EXPIRED) = DO(FAIL),
                ON(ASKED) = GO(ARRIVED),
                ON(AGREED) = GO(LIVE),
                ON(CLOSED) = TO(DYING, DESTROY),
            },
        [STATE(ARRIVED)] =
            {
                ON(NO_PATH) = DO(FAIL),
                ON(FAILED) = DO(FAIL),
                ON(REFUSED) = DO(FAIL),
                ON(DISCONNECTED) = DO(FAIL),
                ON(REMOVED) = DO(FAIL),
                ON(EXPIRED) = DO(ABANDON),
                ON(CONFIRMED) = TO(REPLY, AGREE),
                ON(DECLINED) = GO(OVER),
                ON(WITHDRAWN) = GO(OVER),
                ON(CLOSED) = DO(WITHDRAW),
            },
        /* The consumer learns that the peer has gone when it decides. */
        [STATE(ANNOUNCED)] =
            {
                ON(FAILED) = DO(ABANDON),
                ON(REFUSED) = DO(ABANDON),
                ON(DISCONNECTED) = DO(ABANDON),
                ON(REMOVED) = DO(ABANDON),
                ON(EXPIRED) = DO(ABANDON),
                ON(ACCEPTED) = GO(CONFIRM),
                ON(DECLINED) = GO(OVER),
                ON(WITHDRAWN) = GO(OVER),
                ON(CLOSED) = DO(WITHDRAW),
            },
        [STATE(CONFIRM)] =
            {
                ON(FAILED) = TO(OVER, FAIL),
                ON(REFUSED) = TO(OVER, REFUSE),
                ON(ESTABLISHED) = TO(LIVE, ESTABLISH),
                ON(DISCONNECTED) = TO(OVER, FAIL),
                ON(REMOVED) = TO(OVER, FAIL),
                ON(QP_HEARD) = DO(NOTIFY),
                ON(NOT_SENT) = GO(OVER),
                ON(CLOSED) = TO(DYING, DESTROY),
            },
        [STATE(LIVE)] =
            {
                ON(DISCONNECTED) = TO(OVER, END),
                ON(REMOVED) = TO(OVER, BREAK),
                ON(EXPIRED) = DO(NUDGE),
                ON(QP_FAILED) = DO(BREAK),
                ON(CLOSED) = TO(CLOSING, DISCONNECT),
            },
        [STATE(OVER)] =
            {
                ON(CLOSED) = DO(DISCARD),
            },
        [STATE(CLOSING)] =
            {
                ON(DISCONNECTED) = TO(OVER, DISCARD),
                ON(REMOVED) = TO(OVER, DISCARD),
                ON(EXPIRED) = TO(OVER, DISCARD),
                ON(CLOSED) = TO(OVER, DISCARD),
            },
};

struct verbs_conn_cell verbs_conn_cell(enum verbs_conn_state state, enum verbs_conn_event event)
{
    return machine[state][event];
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
        [STATE(NEW)] = "NEW",         [STATE(REQUESTED)] = "REQUESTED",
        [STATE(ADDRESS)] = "ADDRESS", [STATE(ROUTE)] = "ROUTE",
        [STATE(CALLING)] = "CALLING", [STATE(REPLY)] = "REPLY",
        [STATE(ARRIVED)] = "ARRIVED", [STATE(ANNOUNCED)] = "ANNOUNCED",
        [STATE(CONFIRM)] = "CONFIRM", [STATE(LIVE)] = "LIVE",
        [STATE(OVER)] = "OVER",       [STATE(CLOSING)] = "CLOSING",
        [STATE(DYING)] = "DYING",
    };

    return names[state];
}
