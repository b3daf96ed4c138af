/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns events of IT-API into events of rdma_cm. Runs on the IA's thread. */
#include "cm/ofa_cm.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define IB_REJECTED_BY_PROGRAM 28 /* statuses of InfiniBand */
#define IB_NO_SUCH_SERVICE     8

/* ---- Connections ---------------------------------------------------------------------------- */

static int reject_status(bool by_program)
{
    if (cm_is_iwarp())
        return -ECONNREFUSED;
    return by_program ? IB_REJECTED_BY_PROGRAM : IB_NO_SUCH_SERVICE;
}

static void tell(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
    struct cm_event *event = cm_event_take(id, type, status);

    if (event)
        cm_event_post(event);
}

static void tell_established(struct cm_id *id, const it_connection_event_t *conn, size_t length)
{
    bool response = id->state == CM_CONNECTING && !id->base.qp;
    struct cm_event *event =
        cm_event_take(id, response ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_ESTABLISHED, 0);

    if (event) {
        if (id->state == CM_CONNECTING)
            cm_event_set_data(event, conn->private_data, length, CM_REPLY_DATA);
        event->base.param.conn.responder_resources = (uint8_t)conn->rdma_read_ird;
        event->base.param.conn.initiator_depth = (uint8_t)conn->rdma_read_ord;
        (void)cm_door()->addresses(id->qp, &event->local, &event->peer);
        cm_event_post(event);
    }
    id->state = CM_CONNECTED;
    id->answered = response;
}

static void tell_refused(struct cm_id *id, const it_connection_event_t *conn, size_t length)
{
    bool by_program = conn->event_number == IT_CM_MSG_CONN_PEER_REJECT_EVENT;
    struct cm_event *event;

    if (!by_program && (conn->reject_reason_code == IT_CN_REJ_TIMEOUT ||
                        conn->reject_reason_code == IT_CN_REJ_BAD_PATH)) {
        tell(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
    } else if (id->state == CM_ACCEPTING) {
        tell(id, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNRESET);
    } else {
        event = cm_event_take(id, RDMA_CM_EVENT_REJECTED, reject_status(by_program));
        if (event) {
            cm_event_set_data(event, conn->private_data, length, CM_REJECT_DATA);
            cm_event_post(event);
        }
    }
    id->state = CM_OVER;
}

static void tell_over(struct cm_id *id)
{
    if (id->state == CM_CONNECTED) {
        tell(id, RDMA_CM_EVENT_DISCONNECTED, 0);
        tell(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    } else if (id->state == CM_CONNECTING || id->state == CM_ACCEPTING) {
        tell(id, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNRESET);
    }
    id->state = CM_OVER;
}

/* An id that is being destroyed, or whose connection has ended, has no more events. */
static void on_connection_locked(struct cm_id *id, const it_connection_event_t *conn, size_t length)
{
    if (id->state == CM_OVER)
        return;
    switch ((int)conn->event_number) {
    case IT_CM_MSG_CONN_ESTABLISHED_EVENT:
        tell_established(id, conn, length);
        break;
    case IT_CM_MSG_CONN_PEER_REJECT_EVENT:
    case IT_CM_MSG_CONN_NONPEER_REJECT_EVENT:
        tell_refused(id, conn, length);
        break;
    default:
        tell_over(id);
        break;
    }
}

void cm_on_connection(void *owner, const it_event_t *event, size_t data_length)
{
    struct cm_id *id;

    (void)pthread_mutex_lock(&cm_lock);
    id = cm_id_find_locked((uintptr_t)owner);
    if (id && event)
        on_connection_locked(id, &event->conn, data_length);
    else if (id)
        cm_id_set_qp_locked(id, NULL); /* the program has destroyed it */
    (void)pthread_mutex_unlock(&cm_lock);
}

/* ---- Requests ------------------------------------------------------------------------------- */

bool cm_announce(struct cm_id *id, uintptr_t listener_serial, const struct cm_request *request)
{
    struct cm_event *event = NULL;
    struct cm_id *listener;

    (void)pthread_mutex_lock(&cm_lock);
    listener = cm_id_find_locked(listener_serial);
    if (listener && listener->state == CM_LISTENING && listener->base.channel &&
        listener->waiting < listener->backlog)
        event = cm_event_new(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    if (event) {
        listener->waiting++;
        id->base.channel = listener->base.channel;
        if (!cm_is_any(&listener->base.route.addr.src_addr))
            id->base.route.addr.src_storage = listener->base.route.addr.src_storage;
        event->base.id = &id->base;
        event->base.listen_id = &listener->base;
        cm_event_set_data(event, request->data, request->length, request->least);
        event->base.param.conn.responder_resources = id->responder_resources;
        event->base.param.conn.initiator_depth = id->initiator_depth;
        id->state = CM_REQUESTED;
        id->request = request->request;
        cm_event_post(event);
    }
    (void)pthread_mutex_unlock(&cm_lock);
    return event != NULL;
}

static uint8_t least(uint32_t depth)
{
    return (uint8_t)(depth < CM_READS_MAX ? depth : CM_READS_MAX);
}

void cm_on_request(void *owner, const it_event_t *any, size_t data_length)
{
    const it_conn_request_event_t *event = &any->conn_req;
    struct cm_request request = {event->cn_est_id, event->private_data, data_length,
                                 CM_REQUEST_DATA};
    struct cm_id *id = cm_id_new(NULL, NULL, RDMA_PS_TCP, IBV_QPT_RC);

    if (id) {
        id->responder_resources = least(event->rdma_read_ord);
        id->initiator_depth = least(event->rdma_read_ird);
        if (cm_door()->request_addresses(event->cn_est_id, &id->base.route.addr.src_storage,
                                         &id->base.route.addr.dst_storage) == 0 &&
            cm_attach_device(id) == 0 && cm_announce(id, (uintptr_t)owner, &request))
            return;
        cm_id_delete(id);
    }
    (void)cm_door()->reject(event->cn_est_id, NULL, 0);
}
