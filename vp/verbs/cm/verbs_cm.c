/* SPDX-License-Identifier: BSD-2-Clause */
/* The channel that brings the events of rdma_cm to the IA's thread. */
#include "vp/verbs/convert/verbs_convert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CM_EVENT_BUDGET 64 /* per wake-up: others on this thread want their turn */

struct cm_disconnect_call {
    struct verbs_ep *ep;
    it_status_t status;
};

bool verbs_cm_is_own(const struct verbs_ia *ia, const struct rdma_cm_id *id)
{
    /* librdmacm has opened it by itself: not the same context, perhaps not the same list. */
    return id->verbs && strcmp(ibv_get_device_name(id->verbs->device),
                               ibv_get_device_name(ia->context->device)) == 0;
}

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

/* InfiniBand fills up with zeros what the peer has given: whatever that was, it is told without. */
size_t verbs_cm_strip(const uint8_t *private_data, size_t length)
{
    while (length > 0 && private_data[length - 1] == 0)
        length--;
    return length;
}

static void cm_handle_request(void *listener, struct rdma_cm_id *id,
                              const struct verbs_cm_event *event)
{
    if (id->ps == RDMA_PS_UDP)
        verbs_sidr_asked(listener, id, event);
    else if (*(const enum verbs_cm_target *)listener == VERBS_CM_CONVERT)
        verbs_convert_requested(listener, id, event);
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
        verbs_convert_lost(context);
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
        cm_handle_request(listen_context, id, event);
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
        verbs_device_gone(cm->ia);
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

static void cm_ready(void *argument)
{
    verbs_cm_take_events(argument);
}

/* ---------------------------------------------------------------- an EP and its connection */

void verbs_cm_ep_failed(struct verbs_ep *ep)
{
    /* An attempt goes on until rdma_cm ends it. */
    if (ep->conn && ep->conn->state == VERBS_CONN_LIVE)
        verbs_conn_break(ep->conn);
}

void verbs_cm_ep_heard(struct verbs_ep *ep)
{
    if (ep->conn && ep->conn->state == VERBS_CONN_CONFIRM)
        (void)rdma_notify(ep->conn->id, IBV_EVENT_COMM_EST); /* else the confirmation will come */
}

void verbs_cm_device_gone(struct verbs_ia *ia)
{
    if (!ia->cm)
        return;                /* it is being opened */
    verbs_convert_give_up(ia); /* streams go on without the device */
}

static void cm_leave(void *argument)
{
    struct verbs_ep *ep = argument;

    if (ep->convert)
        verbs_convert_abandon(ep->convert);
    if (ep->conn)
        verbs_conn_abandon(ep->conn);
}

void verbs_cm_ep_end(struct verbs_ep *ep)
{
    /* Also without a connection: the IA's thread may be about to report on the EP. */
    verbs_host->ia_call(ep->ia->ual, cm_leave, ep);
    verbs_thread_wait(ep->ia->cm, ep);
}

void verbs_cm_ep_forget(struct verbs_ep *ep)
{
    it_rc_only_attributes_t *rc = &verbs_host->ep_attributes(ep->ual)->srv.rc;

    verbs_host->ia_call(ep->ia->ual, cm_leave, ep);
    /* From a QP of siw that has failed nothing more comes: it may be left behind. */
    if (!ep->ia->quirks.late_posts_lost)
        verbs_thread_wait(ep->ia->cm, ep);
    verbs_host->ep_lock(ep->ual);
    if (ep->agreed) {
        rc->rdma_read_ird = ep->wanted_ird;
        rc->rdma_read_ord = ep->wanted_ord;
    }
    ep->agreed = false;
    verbs_host->ep_unlock(ep->ual);
}

bool verbs_cm_keeps_qp(struct verbs_ep *ep, struct ibv_qp *qp)
{
    return verbs_thread_take_qp(ep->ia->cm, qp);
}

static void cm_disconnect(void *argument)
{
    static const struct ual_conn_news news = {.number = IT_CM_MSG_CONN_DISCONNECT_EVENT};
    struct cm_disconnect_call *call = argument;
    struct verbs_conn *conn = call->ep->conn;

    if (call->ep->convert)
        call->status = verbs_convert_disconnect(call->ep->convert);
    else if (conn && verbs_conn_end(conn, UAL_EP_DISCONNECT, &news))
        call->status = IT_SUCCESS;
}

it_status_t verbs_disconnect(struct ual_ep *ual)
{
    struct cm_disconnect_call call = {
        .ep = verbs_ep_of(ual),
        .status = IT_ERR_INVALID_EP_STATE,
    };

    verbs_host->ia_call(call.ep->ia->ual, cm_disconnect, &call);
    return call.status;
}

/* ---------------------------------------------------------------- limits, counters */

/* What rdma_cm carries over InfiniBand, behind its own header; MPA as siw has it. */
#define CM_IB_REQUEST 56
#define CM_IB_REPLY   196
#define CM_IB_REJECT  148
#define CM_IB_ASK     180 /* SIDR: what rdma_cm's own header leaves */
#define CM_IWARP      251
#define CM_QUALIFIERS ((it_conn_qual_type_t)(IT_IANA_PORT | IT_IANA_LR_PORT))

static void cm_fill_attributes(const struct verbs_ia *ia, struct vp_attributes *attributes)
{
    attributes->three_way = ia->is_iwarp ? IT_FALSE : IT_TRUE;
    attributes->suppress_depths = IT_FALSE;
    attributes->socket_conversion = IT_TRUE;
    attributes->connect_pdata = ia->is_iwarp ? CM_IWARP : CM_IB_REQUEST;
    attributes->accept_pdata = ia->is_iwarp ? CM_IWARP : CM_IB_REPLY;
    attributes->reject_pdata = ia->is_iwarp ? CM_IWARP : CM_IB_REJECT;
    attributes->disconnect_pdata = 0;
    attributes->ud_request_pdata = attributes->datagrams ? CM_IB_ASK : 0;
    attributes->ud_reply_pdata = attributes->datagrams ? VERBS_SIDR_REPLY : 0;
    attributes->active_quals = CM_QUALIFIERS;
    attributes->passive_quals = CM_QUALIFIERS;
    attributes->default_connect_timeout_us = VERBS_CM_ATTEMPT_US;
}

void verbs_counters(struct ual_ia *ual, struct itx_counters *counters)
{
    const struct verbs_cm *cm = verbs_ia_of(ual)->cm;

    counters->connections_accepted += __atomic_load_n(&cm->accepted, __ATOMIC_RELAXED);
    counters->connections_initiated += __atomic_load_n(&cm->initiated, __ATOMIC_RELAXED);
    counters->half_open_refused += __atomic_load_n(&cm->refused, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- opening and closing */

#define CM_NODE "/dev/infiniband/rdma_cm"

/* librdmacm looks for the node elsewhere too, and tells what came of that. */
static int cm_node_error(int error)
{
    return faccessat(AT_FDCWD, CM_NODE, R_OK | W_OK, AT_EACCESS) == 0 ? error : errno;
}

static it_status_t cm_open_channel(struct verbs_cm *cm)
{
    int error;

    cm->channel = rdma_create_event_channel();
    if (!cm->channel) {
        error = cm_node_error(errno);
        verbs_log(VP_LOG_WARN, "%s: " CM_NODE " cannot be opened: %s", verbs_host->ia_name(cm->ual),
                  strerror(error));
        return error == EACCES || error == EPERM ? IT_ERR_NO_PERMISSION : IT_ERR_RESOURCES;
    }
    /* rdma_get_cm_event may drop the event that made the channel readable. */
    if (fcntl(cm->channel->fd, F_SETFL, O_NONBLOCK) != 0)
        return IT_ERR_RESOURCES;
    cm->watch = verbs_host->watch_start(cm->ual, cm->channel->fd, cm_ready, cm);
    return cm->watch ? IT_SUCCESS : IT_ERR_RESOURCES;
}

static void cm_free(struct verbs_cm *cm)
{
    if (cm->watch)
        verbs_host->watch_stop(cm->watch);
    if (cm->channel)
        rdma_destroy_event_channel(cm->channel);
    verbs_path_forget(cm);
    (void)pthread_cond_destroy(&cm->destroyed);
    (void)pthread_mutex_destroy(&cm->lock);
    free(cm);
}

struct cm_open_call {
    struct verbs_ia *ia;
    struct verbs_cm *cm;
    it_status_t status;
};

/* On the IA's thread: what the device or rdma_cm says meanwhile finds all of it, or nothing. */
static void cm_open(void *argument)
{
    struct cm_open_call *call = argument;

    call->status = cm_open_channel(call->cm);
    if (call->status != IT_SUCCESS)
        return;
    verbs_guard_open(call->cm);
    call->ia->cm = call->cm;
    cm_fill_attributes(call->ia, &call->ia->attributes);
}

it_status_t verbs_cm_open(struct verbs_ia *ia)
{
    struct cm_open_call call = {.ia = ia, .cm = calloc(1, sizeof(*call.cm))};

    if (!call.cm)
        return IT_ERR_RESOURCES;
    call.cm->ual = ia->ual;
    call.cm->ia = ia;
    (void)pthread_mutex_init(&call.cm->lock, NULL); /* neither can fail */
    (void)pthread_cond_init(&call.cm->destroyed, NULL);
    verbs_host->ia_call(ia->ual, cm_open, &call);
    if (call.status != IT_SUCCESS)
        cm_free(call.cm);
    return call.status;
}

struct cm_close_call {
    struct verbs_cm *cm;
    bool left;
};

static void cm_close(void *argument)
{
    struct cm_close_call *call = argument;
    struct verbs_conn *conn = call->cm->connections;

    verbs_guard_close(call->cm);
    verbs_convert_close(call->cm->ia);
    while (conn) {
        struct verbs_conn *next = conn->next;

        if (conn->state == VERBS_CONN_CLOSING)
            verbs_conn_discard(conn);
        else
            verbs_conn_abandon(conn);
        conn = next;
    }
    call->left = !verbs_sidr_close(call->cm) || call->cm->connections != NULL;
}

void verbs_cm_close(struct verbs_ia *ia)
{
    struct cm_close_call call = {.cm = ia->cm};

    if (!call.cm)
        return;
    /* Again for those that live end first, have a thread, or are in the hands of a call. */
    do {
        verbs_host->ia_call(ia->ual, cm_close, &call);
        verbs_thread_wait(call.cm, NULL);
    } while (call.left);
    cm_free(call.cm);
    ia->cm = NULL;
}
