/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_link.h"

#include "link/ofa_hand.h"
#include "memory/ofa_adapter.h"
#include "post/ofa_post.h"
#include "queue/ofa_queue.h"
#include "support/ofa_log.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <string.h>

#define CONNECTION_EVENTS 4096 /* that can wait for the IA's thread */

/* ---- Events --------------------------------------------------------------------------------- */

/*
 * Returns false for the end of an earlier connection: its event may be dequeued after the EP was
 * cleared and connects again.
 */
static bool is_of_now(const it_connection_event_t *event)
{
    it_ep_param_t param;

    return it_ep_query(event->ep, IT_EP_PARAM_STATE, &param) == IT_SUCCESS &&
           param.ep_state.rc == IT_EP_STATE_NONOPERATIONAL;
}

static bool is_connected(it_ep_handle_t ep)
{
    it_ep_param_t param;

    return it_ep_query(ep, IT_EP_PARAM_STATE, &param) == IT_SUCCESS &&
           param.ep_state.rc == IT_EP_STATE_CONNECTED;
}

static void on_event_locked(const it_event_t *any)
{
    const it_connection_event_t *event = &any->conn;
    it_context_t context;
    struct ofa_qp *qp;

    if (it_get_consumer_context(event->ep, &context) != IT_SUCCESS)
        return; /* the queue pair was destroyed */
    qp = context.ptr;
    switch ((int)event->event_number) {
    case IT_CM_MSG_CONN_ESTABLISHED_EVENT:
        if (event->ep == qp->send_ep && !qp->link.handler && !ofa_hand_agrees_locked(qp, event))
            return;
        /* The queue pair has moved to ERR since the call began. */
        if (!qp->link.handler && qp->link.state == OFA_LINK_DOWN) {
            (void)it_ep_disconnect(event->ep, NULL, 0);
            return;
        }
        /* A queue pair that is its own peer needs both EPs. */
        if (qp->send_ep != qp->ep && !(is_connected(qp->ep) && is_connected(qp->send_ep)))
            return;
        ofa_link_up_locked(qp);
        break;
    case IT_CM_MSG_CONN_DISCONNECT_EVENT:
    case IT_CM_MSG_CONN_BROKEN_EVENT:
    case IT_CM_MSG_CONN_PEER_REJECT_EVENT:
    case IT_CM_MSG_CONN_NONPEER_REJECT_EVENT:
        if (!is_of_now(event))
            return;
        ofa_link_down_locked(qp, IBV_WC_RETRY_EXC_ERR);
        break;
    default:
        return;
    }
    if (qp->link.handler)
        qp->link.handler(qp->link.owner, any, itx_event_private_data_length(any));
}

void ofa_link_dispatch(struct ofa_context *context)
{
    it_event_t event;

    (void)pthread_mutex_lock(&context->lock);
    while (it_evd_dequeue(context->connection_evd, &event) == IT_SUCCESS)
        on_event_locked(&event);
    (void)pthread_mutex_unlock(&context->lock);
}

void ofa_link_gone(struct ofa_qp *qp)
{
    it_event_t event;

    memset(&event, 0, sizeof(event));
    event.event_number = IT_CM_MSG_CONN_DISCONNECT_EVENT;
    (void)pthread_mutex_lock(&qp->context->lock);
    if (qp->link.state == OFA_LINK_UP && qp->link.handler)
        qp->link.handler(qp->link.owner, &event, 0);
    qp->link.state = OFA_LINK_DOWN;
    (void)pthread_mutex_unlock(&qp->context->lock);
}

void ofa_link_forget(struct ofa_qp *qp)
{
    (void)pthread_mutex_lock(&qp->context->lock);
    if (qp->link.handler)
        qp->link.handler(qp->link.owner, NULL, 0);
    qp->link.handler = NULL;
    qp->link.moves = qp->by_cm = false;
    (void)pthread_mutex_unlock(&qp->context->lock);
}

static void on_connection(it_evd_handle_t evd, void *argument)
{
    (void)evd;
    ofa_link_dispatch(argument);
}

int ofa_link_open(struct ofa_context *context)
{
    int error = ofa_adapter_open(context);

    if (error != 0)
        return error;
    (void)pthread_mutex_lock(&context->open_lock);
    if (!context->connection_evd)
        error = ofa_link_evd(context, IT_CM_MSG_EVENT_STREAM, CONNECTION_EVENTS, on_connection,
                             context, &context->connection_evd);
    (void)pthread_mutex_unlock(&context->open_lock);
    return error;
}

void ofa_link_close(struct ofa_context *context)
{
    if (context->connection_evd)
        (void)it_evd_callback_detach(context->connection_evd);
    if (context->request_evd)
        (void)it_evd_callback_detach(context->request_evd);
    if (context->knock_evd)
        (void)it_evd_callback_detach(context->knock_evd);
}
