/* SPDX-License-Identifier: BSD-2-Clause */
/* The channel that brings the events of rdma_cm to the IA's thread. */
#include "vp/verbs/cm/verbs_cm_private.h"

#include <errno.h>
#include <string.h>

#define CM_EVENT_BUDGET 64 /* per wake-up: others on this thread want their turn */

/* ---------------------------------------------------------------- events */

static bool cm_has_parameters(enum rdma_cm_event_type type)
{
    return type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_CONNECT_RESPONSE ||
           type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_REJECTED;
}

static void cm_copy_datagram_event(const struct rdma_ud_param *param, struct verbs_cm_event *copy)
{
    copy->qp_num = param->qp_num;
    copy->qkey = param->qkey;
    if (!param->private_data)
        return;
    memcpy(copy->private_data, param->private_data, param->private_data_len);
    copy->private_length = param->private_data_len;
}

static void cm_copy_event(const struct rdma_cm_event *event, struct verbs_cm_event *copy)
{
    const struct rdma_conn_param *param = &event->param.conn;

    *copy = (struct verbs_cm_event){.type = event->event, .status = event->status};
    /* With datagrams, a refusal is "unreachable". */
    if (event->id->ps == RDMA_PS_UDP &&
        (cm_has_parameters(event->event) || event->event == RDMA_CM_EVENT_UNREACHABLE)) {
        cm_copy_datagram_event(&event->param.ud, copy);
        return;
    }
    if (!cm_has_parameters(event->event))
        return;
    copy->responder_resources = param->responder_resources;
    copy->initiator_depth = param->initiator_depth;
    if (!param->private_data)
        return;
    memcpy(copy->private_data, param->private_data, param->private_data_len);
    copy->private_length = param->private_data_len;
}

static void cm_handle_request(const struct verbs_cm *cm, void *listener, struct rdma_cm_id *id,
                              const struct verbs_cm_event *event)
{
    if (id->ps == RDMA_PS_UDP)
        verbs_sidr_asked(listener, id, event);
    else if (*(const enum verbs_cm_target *)listener == VERBS_CM_CONVERT)
        cm->ops->convert_requested(listener, id, event);
    else
        verbs_accept_request(listener, id, event);
}

/* The kernel waits for each id: it is destroyed. */
static void cm_lose(struct verbs_cm *cm, struct rdma_cm_id *id, void *context)
{
    switch ((unsigned)*(const enum verbs_cm_target *)context) {
    case VERBS_CM_LISTENER:
        verbs_listener_lost(context, id);
        break;
    case VERBS_CM_CONVERT:
        cm->ops->convert_lost(context);
        break;
    default:
        verbs_guard_close(cm);
        break;
    }
}

static void cm_dispatch(struct verbs_cm *cm, struct rdma_cm_id *id, void *context,
                        void *listen_context, struct verbs_cm_event *event)
{
    struct verbs_conn *conn = context;

    if (!cm->ia->is_iwarp && id->ps != RDMA_PS_UDP)
        event->private_length = verbs_cm_strip(event->private_data, event->private_length);
    if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
        cm_handle_request(cm, listen_context, id, event);
        return;
    }
    switch (*(const enum verbs_cm_target *)context) {
    case VERBS_CM_LISTENER:
    case VERBS_CM_CONVERT:
    case VERBS_CM_GUARD:
        if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL)
            cm_lose(cm, id, context);
        return;
    case VERBS_CM_SERVICE:
    case VERBS_CM_ASKED:
        verbs_sidr_event(context, event);
        return;
    case VERBS_CM_CONN:
        break;
    }
    conn->status = event->status;
    verbs_log(VP_LOG_DEBUG, "verbs: conn %p in %s: %s, status %d", context,
              verbs_conn_state_name(conn->state), rdma_event_str(event->type), event->status);
    cm->current = conn;
    if (conn->active)
        verbs_connect_event(conn, event);
    else
        verbs_accept_event(conn, event);
    cm->current = NULL;
}

static void cm_handle(struct verbs_cm *cm, struct rdma_cm_id *id, void *context,
                      void *listen_context, struct verbs_cm_event *event)
{
    cm_dispatch(cm, id, context, listen_context, event);
    if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL)
        cm->ops->device_gone(cm->ia);
}

/* False: there was none. */
static bool cm_take(struct verbs_cm *cm)
{
    struct rdma_cm_event *event;
    struct verbs_cm_event copy;
    struct rdma_cm_id *id;
    void *context;
    void *listen_context = NULL;

    if (rdma_get_cm_event(cm->channel, &event) != 0)
        return errno == EINTR;
    id = event->id;
    context = id->context;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
        listen_context = event->listen_id->context;
    cm_copy_event(event, &copy);
    /* First of all: to destroy an id waits for its events. Cannot fail. */
    (void)rdma_ack_cm_event(event);
    cm_handle(cm, id, context, listen_context, &copy);
    return true;
}

void verbs_cm_take_events(struct verbs_cm *cm)
{
    for (int i = 0; i < CM_EVENT_BUDGET; i++)
        if (!cm_take(cm))
            return;
}
