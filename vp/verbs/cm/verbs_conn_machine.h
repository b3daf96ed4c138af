/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The states of a connection over rdma_cm as a table. verbs_conn_step looks up the cell of a state
 * and an event, enters the next state and returns the action, which the file of the role carries
 * out.
 */
#ifndef ITAPI_VP_VERBS_CM_VERBS_CONN_MACHINE_H
#define ITAPI_VP_VERBS_CM_VERBS_CONN_MACHINE_H

enum verbs_conn_state {
    VERBS_CONN_SAME,      /* in a cell only: the state does not change */
    VERBS_CONN_NEW,       /* initiator: nothing has been asked for */
    VERBS_CONN_REQUESTED, /* responder: a request has arrived, the consumer does not know it yet */
    VERBS_CONN_ADDRESS,   /* initiator: the address is being resolved */
    VERBS_CONN_ROUTE,     /* initiator: the route is being resolved */
    VERBS_CONN_CALLING,   /* initiator, iWARP: a thread is in rdma_connect */
    VERBS_CONN_REPLY,     /* initiator: the request has been sent */
    VERBS_CONN_ARRIVED,   /* initiator, three-way: the consumer has been asked */
    VERBS_CONN_ANNOUNCED, /* responder: the consumer has been asked */
    VERBS_CONN_CONFIRM,   /* responder: the answer has been sent */
    VERBS_CONN_LIVE,
    VERBS_CONN_OVER,    /* rdma_cm is idle: the id can be destroyed at once */
    VERBS_CONN_CLOSING, /* without EP: the peer has not disconnected yet */
    VERBS_CONN_DYING,   /* without EP, iWARP: a thread is in rdma_destroy_id */
    VERBS_CONN_STATES
};

enum verbs_conn_event {
    /* from rdma_cm */
    VERBS_ON_ADDRESS,
    VERBS_ON_ROUTE,
    VERBS_ON_NO_PATH,
    VERBS_ON_FAILED,
    VERBS_ON_REFUSED,  /* by the peer's consumer */
    VERBS_ON_RESPONSE, /* two-way; a three-way answer is VERBS_ON_ARRIVAL */
    VERBS_ON_ARRIVAL,
    VERBS_ON_ESTABLISHED,
    VERBS_ON_DISCONNECTED,
    VERBS_ON_REMOVED, /* the device */
    VERBS_ON_OTHER,   /* an event of no importance here */
    /* from the timer, the thread in rdma_connect, the device */
    VERBS_ON_EXPIRED,
    VERBS_ON_RETURNED,
    VERBS_ON_QP_FAILED,
    VERBS_ON_QP_HEARD, /* the first receive has arrived */
    /* from the consumer, and from calls of rdma_cm that have returned */
    VERBS_ON_LAUNCHED,
    VERBS_ON_CALLED, /* a thread is in rdma_connect */
    VERBS_ON_SENT,
    VERBS_ON_NOT_SENT,
    VERBS_ON_RETRIED, /* with another port */
    VERBS_ON_ASKED,
    VERBS_ON_CONFIRMED,
    VERBS_ON_AGREED,
    VERBS_ON_ANNOUNCED,
    VERBS_ON_ACCEPTED,
    VERBS_ON_DECLINED,
    VERBS_ON_WITHDRAWN,
    VERBS_ON_CLOSED, /* the EP has ended the connection */
    VERBS_CONN_EVENTS
};

enum verbs_conn_action {
    VERBS_DO_NOTHING,
    VERBS_DO_ROUTE,           /* resolve the route */
    VERBS_DO_REQUEST,         /* send the request */
    VERBS_DO_JOIN,            /* join the thread in rdma_connect, then handle the event */
    VERBS_DO_ASK,             /* report the arrival to the consumer */
    VERBS_DO_AGREE,           /* move the QP, confirm */
    VERBS_DO_ESTABLISH,       /* report the connection */
    VERBS_DO_FAIL,            /* report that the attempt has failed */
    VERBS_DO_REFUSE,          /* report that the peer's consumer has rejected */
    VERBS_DO_CUT,             /* cancel the thread in rdma_connect, then as VERBS_DO_FAIL */
    VERBS_DO_END,             /* disconnect as well, report the peer's disconnect */
    VERBS_DO_BREAK,           /* report a broken connection */
    VERBS_DO_NUDGE,           /* send a nudge */
    VERBS_DO_NOTIFY,          /* pass the receive's arrival to rdma_cm */
    VERBS_DO_ABANDON,         /* close without a report */
    VERBS_DO_WITHDRAW,        /* take the request back from the consumer, then close */
    VERBS_DO_DISCONNECT,      /* disconnect, then wait for the peer's disconnect */
    VERBS_DO_DISCARD,         /* destroy the id */
    VERBS_DO_DESTROY,         /* iWARP: destroy the id in a thread, which waits for the peer */
    VERBS_DO_DESTROY_CALLING, /* the same, after the thread in rdma_connect */
    VERBS_CONN_ACTIONS
};

struct verbs_conn_cell {
    enum verbs_conn_state next;
    enum verbs_conn_action action;
};

struct verbs_conn;

/* For a pair that the table does not have: {VERBS_CONN_SAME, VERBS_DO_NOTHING}. */
struct verbs_conn_cell verbs_conn_cell(enum verbs_conn_state state, enum verbs_conn_event event);
/* The only place that changes the state of a connection. */
enum verbs_conn_action verbs_conn_step(struct verbs_conn *conn, enum verbs_conn_event event);

const char *verbs_conn_state_name(enum verbs_conn_state state);

#endif
