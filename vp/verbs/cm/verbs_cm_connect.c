/* SPDX-License-Identifier: BSD-2-Clause */
/* The active side: address, route, request, and what the peer says to it. */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/cm/verbs_cm_answer.h"
#include "vp/verbs/device/verbs_query.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define CONNECT_NS_PER_US UINT64_C(1000)
#define CONNECT_US_PER_MS UINT64_C(1000)

/* One call of it_ep_connect, on its way through the IA's thread. */
struct connect_call {
    struct verbs_ep *ep;
    const it_path_t *path;
    const it_conn_attributes_t *attributes;
    const it_conn_qual_t *qual;
    it_cn_est_flags_t flags;
    const void *private_data;
    size_t length;
    it_status_t status;
};

/* ---------------------------------------------------------------- asking for the connection */

static int connect_resolve_ms(const struct verbs_conn *conn)
{
    uint64_t ms = conn->path.timeout / CONNECT_US_PER_MS + 1;

    return ms < VERBS_CM_RESOLVE_MS ? (int)ms : VERBS_CM_RESOLVE_MS;
}

/*
 * siw takes the TCP port of the number that rdma_cm has found free in a space of its own: a socket may have
 * it. Another one is looked for while the old id still keeps that. False: not possible.
 */
static bool connect_again(struct verbs_conn *conn)
{
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
    struct rdma_cm_id *old = conn->id;
    struct rdma_cm_id *id;

    if (!conn->any_port || ++conn->tries >= VERBS_PORT_TRIES)
        return false;
    verbs_address_copy(&local, rdma_get_local_addr(old));
    verbs_address_copy(&remote, rdma_get_peer_addr(old));
    verbs_address_set_port(&local, 0);
    if (rdma_create_id(conn->cm->channel, &id, conn, RDMA_PS_TCP) != 0)
        return false;
    if (rdma_bind_addr(id, (struct sockaddr *)&local) != 0 ||
        rdma_resolve_addr(id, NULL, (struct sockaddr *)&remote, connect_resolve_ms(conn)) != 0) {
        (void)rdma_destroy_id(id); /* bound to nothing that could fail */
        return false;
    }
    verbs_conn_own(conn, id);
    conn->state = VERBS_CONN_ADDRESS;
    (void)rdma_destroy_id(old); /* nothing of it is on its way */
    return true;
}

/* The request is out, or has failed with this error. */
static void connect_sent(struct verbs_conn *conn, int error)
{
    conn->state = error == 0 ? VERBS_CONN_REPLY : VERBS_CONN_NEW;
    if (error == 0 || (error == EADDRINUSE && connect_again(conn)))
        return;
    verbs_conn_fail(conn, verbs_reason_of_errno(error));
}

void verbs_connect_called(void *argument)
{
    struct verbs_conn *conn = argument;

    if (conn->state == VERBS_CONN_CALLING)
        connect_sent(conn, verbs_thread_join(conn, false));
}

static void connect_tell_path(struct verbs_conn *conn)
{
    struct ual_ep *ep = conn->ep->ual;

    verbs_path_of_id(conn, &conn->path);
    verbs_host->ep_lock(ep);
    verbs_host->ep_set_path_locked(ep, &conn->path);
    verbs_host->ep_unlock(ep);
}

static void connect_request(struct verbs_conn *conn)
{
    connect_tell_path(conn);
    verbs_qp_fill_param(conn, conn->ep);
    if (!conn->cm->ia->is_iwarp) {
        connect_sent(conn, rdma_connect(conn->id, &conn->param) == 0 ? 0 : errno);
        return;
    }
    conn->state = VERBS_CONN_CALLING;
    if (!verbs_thread_connect(conn, verbs_connect_called)) {
        conn->state = VERBS_CONN_NEW;
        verbs_conn_fail(conn, IT_CN_REJ_RESOURCES);
    }
}

/* ---------------------------------------------------------------- resolving */

static void connect_find_route(struct verbs_conn *conn)
{
    conn->state = VERBS_CONN_ROUTE;
    if (rdma_resolve_route(conn->id, connect_resolve_ms(conn)) != 0)
        verbs_conn_fail(conn, verbs_reason_of_errno(errno));
}

/* ---------------------------------------------------------------- the peer's answer */

static bool connect_agree(struct verbs_conn *conn)
{
    if (!verbs_qp_connect(conn)) {
        (void)verbs_cm_answer_reject(conn->id, NULL, 0); /* without, the peer would wait in vain */
        verbs_conn_fail(conn, IT_CN_REJ_RESOURCES);
        return false;
    }
    if (rdma_establish(conn->id) == 0)
        return true;
    verbs_conn_fail(conn, verbs_reason_of_errno(errno));
    return false;
}

static void connect_ask(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_ACCEPT_ARRIVAL_EVENT,
        .ird = conn->peer_ird,
        .ord = conn->peer_ord,
        .private_data = event->private_data,
        .private_length = event->private_length,
    };
    struct ual_ep *ep = conn->ep->ual;
    bool stepped;

    verbs_host->timer_stop(conn->timer); /* the consumer may take its time */
    verbs_host->ep_lock(ep);
    stepped = verbs_host->ep_step_locked(ep, UAL_EP_ARRIVAL);
    verbs_host->ep_unlock(ep);
    if (!stepped) {
        verbs_conn_abandon(conn);
        return;
    }
    conn->state = VERBS_CONN_ARRIVED;
    conn->request.ia = conn->cm->ual;
    verbs_host->request_add(&conn->request);
    news.cn_est_id = conn->request.id;
    verbs_host->ep_report(ep, &news);
}

static void connect_answered(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    /* Devices of iWARP tell what the two are here, those of InfiniBand what they are there. */
    conn->peer_ird = conn->cm->ia->is_iwarp ? event->responder_resources : event->initiator_depth;
    conn->peer_ord = conn->cm->ia->is_iwarp ? event->initiator_depth : event->responder_resources;
    if (event->type != RDMA_CM_EVENT_ESTABLISHED && conn->three_way)
        connect_ask(conn, event);
    else if (event->type == RDMA_CM_EVENT_ESTABLISHED || connect_agree(conn))
        (void)verbs_conn_establish(conn, event->private_data, event->private_length);
}

it_status_t verbs_connect_confirm(struct verbs_conn *conn)
{
    conn->state = VERBS_CONN_REPLY;
    if (connect_agree(conn))
        (void)verbs_conn_establish(conn, NULL, 0);
    return IT_SUCCESS; /* if not, that is an event */
}

static void connect_failed(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    const struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_PEER_REJECT_EVENT,
        .private_data = event->private_data,
        .private_length = event->private_length,
    };
    bool asked = conn->state == VERBS_CONN_REPLY;

    if (!asked && conn->state != VERBS_CONN_ADDRESS && conn->state != VERBS_CONN_ROUTE &&
        conn->state != VERBS_CONN_ARRIVED)
        return; /* over: nobody is interested */
    if (asked)
        conn->state = VERBS_CONN_NEW; /* nothing is on its way any more */
    if (asked && event->type == RDMA_CM_EVENT_REJECTED && verbs_reason_is_consumer(conn->cm, event))
        (void)verbs_conn_end(conn, UAL_EP_ATTEMPT_FAILED, &news);
    else
        verbs_conn_fail(conn, verbs_reason_of_event(conn->cm, event));
}

/* To a request: of any other event the thread that still asks knows nothing. */
static bool connect_is_answer(enum rdma_cm_event_type type)
{
    switch ((unsigned)type) {
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_ESTABLISHED:
    case RDMA_CM_EVENT_DISCONNECTED:
        return true;
    default:
        return false;
    }
}

void verbs_connect_event(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    /* It may be faster than the thread that has asked. */
    if (conn->state == VERBS_CONN_CALLING && connect_is_answer(event->type)) {
        if (verbs_thread_join(conn, false) != 0) {
            connect_sent(conn, conn->error);
            return;
        }
        conn->state = VERBS_CONN_REPLY;
    }
    switch ((unsigned)event->type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        if (conn->state == VERBS_CONN_ADDRESS)
            connect_find_route(conn);
        break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        if (conn->state == VERBS_CONN_ROUTE)
            connect_request(conn);
        break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_ESTABLISHED:
        if (conn->state == VERBS_CONN_REPLY)
            connect_answered(conn, event);
        break;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
        connect_failed(conn, event);
        break;
    default:
        verbs_conn_event(conn, event);
        break;
    }
}

/* ---------------------------------------------------------------- it_ep_connect */

static it_status_t connect_bind_status(int error)
{
    switch (error) {
    case 0:
        return IT_SUCCESS;
    case EADDRINUSE:
    case EACCES: /* a privileged port: nothing the consumer can have */
        return IT_ERR_CONN_QUAL_BUSY;
    case EADDRNOTAVAIL:
    case ENODEV:
    case EINVAL:
        return IT_ERR_INVALID_SOURCE_PATH;
    default:
        return IT_ERR_RESOURCES;
    }
}

/* An address may belong to another device, or to two of which rdma_cm takes the other. */
static it_status_t connect_bind(struct verbs_conn *conn, struct sockaddr_storage *local)
{
    const struct verbs_ia *ia = conn->cm->ia;
    int error = 0;

    if (rdma_bind_addr(conn->id, (struct sockaddr *)local) != 0)
        error = errno;
    else if (!verbs_device_is_own(ia, conn->id) || conn->id->port_num != conn->path.spigot_id)
        error = ENODEV;
    if (error != 0)
        verbs_log(VP_LOG_WARN, "%s: cannot connect from this address: %s",
                  verbs_host->ia_name(ia->ual), strerror(error));
    return connect_bind_status(error);
}

/* An id that is bound to the local end; *remote is where to go. */
static it_status_t connect_open(struct verbs_conn *conn, const it_conn_qual_t *qual,
                                struct sockaddr_storage *remote)
{
    uint16_t local_port = 0;
    uint16_t remote_port = qual->conn_qual.port;
    struct sockaddr_storage local;
    struct rdma_cm_id *id;
    it_status_t status;

    if (qual->type == IT_IANA_LR_PORT) {
        local_port = qual->conn_qual.lr_port.local;
        remote_port = qual->conn_qual.lr_port.remote;
    }
    if (remote_port == 0)
        return IT_ERR_INVALID_CONN_QUAL;
    status = verbs_path_ends(conn->cm, &conn->path, &local, remote);
    if (status != IT_SUCCESS) {
        verbs_log(VP_LOG_WARN, "%s: the ends of the path are not usable here",
                  verbs_host->ia_name(conn->cm->ual));
        return status;
    }
    verbs_address_set_port(&local, local_port);
    verbs_address_set_port(remote, remote_port);
    if (rdma_create_id(conn->cm->channel, &id, NULL, RDMA_PS_TCP) != 0) {
        verbs_log(VP_LOG_WARN, "%s: cannot connect: rdma_create_id: %s",
                  verbs_host->ia_name(conn->cm->ual), strerror(errno));
        return IT_ERR_RESOURCES;
    }
    verbs_conn_own(conn, id);
    conn->any_port = local_port == 0;
    return connect_bind(conn, &local);
}

/* InfiniBand: what the consumer has asked for; 0 is no time limit for an acknowledgement. */
static void connect_tune(struct verbs_conn *conn, const it_ib_conn_attributes_t *ib)
{
    uint8_t timeout = ib->local_ack_timeout;

    conn->has_retries = true;
    conn->retries = ib->retry_count;
    conn->rnr_retries = ib->rnr_retry_count;
    if (timeout != 0 && rdma_set_option(conn->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
                                        &timeout, sizeof(timeout)) != 0)
        verbs_log(VP_LOG_WARN, "verbs: RDMA_OPTION_ID_ACK_TIMEOUT: %s", strerror(errno));
}

/* The EP is in its pending state: from here on the outcome is an event. */
void verbs_connect_launch(struct verbs_conn *conn, struct sockaddr_storage *remote)
{
    uint64_t limit = conn->path.timeout;

    conn->state = VERBS_CONN_ADDRESS;
    limit = limit > UINT64_MAX / CONNECT_NS_PER_US ? UINT64_MAX : limit * CONNECT_NS_PER_US;
    if (!verbs_conn_limit(conn, limit))
        verbs_conn_fail(conn, IT_CN_REJ_RESOURCES);
    else if (rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)remote,
                               connect_resolve_ms(conn)) != 0)
        verbs_conn_fail(conn, verbs_reason_of_errno(errno));
}

static void connect_prepare(struct verbs_conn *conn, const struct connect_call *call)
{
    conn->active = true;
    conn->three_way = (call->flags & IT_CONNECT_FLAG_THREE_WAY) != 0;
    conn->path = *call->path;
    if (conn->path.timeout == 0)
        conn->path.timeout = VERBS_CM_ATTEMPT_US;
    if (call->length > 0)
        memcpy(conn->private_data, call->private_data, call->length);
    conn->private_length = call->length;
    verbs_qp_wanted(conn, call->ep);
}

static void connect_run(void *argument)
{
    struct connect_call *call = argument;
    struct verbs_conn *conn = verbs_conn_new(call->ep->ia->cm);
    struct sockaddr_storage remote;

    if (!conn) {
        call->status = IT_ERR_RESOURCES;
        return;
    }
    connect_prepare(conn, call);
    /* Again below, for good: a wrong state counts more than a port that is taken. */
    call->status = IT_ERR_INVALID_EP_STATE;
    if (verbs_host->ep_state(call->ep->ual) == IT_EP_STATE_UNCONNECTED)
        call->status = connect_open(conn, call->qual, &remote);
    if (call->status == IT_SUCCESS &&
        !verbs_conn_attach(conn, call->ep, UAL_EP_CONNECT, call->path))
        call->status = IT_ERR_INVALID_EP_STATE;
    if (call->status != IT_SUCCESS) {
        verbs_conn_discard(conn);
        return;
    }
    if (call->attributes && !conn->cm->ia->is_iwarp)
        connect_tune(conn, &call->attributes->ib);
    verbs_connect_launch(conn, &remote);
}

it_status_t verbs_connect(struct ual_ep *ual, const it_path_t *path,
                          const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                          it_cn_est_flags_t flags, const void *private_data, size_t length)
{
    struct connect_call call = {
        .ep = verbs_ep_of(ual),
        .path = path,
        .attributes = attributes,
        .qual = qual,
        .flags = flags,
        .private_data = private_data,
        .length = length,
    };

    /* There from the state change on, so that nothing can come between. */
    verbs_host->ia_call(call.ep->ia->ual, connect_run, &call);
    return call.status;
}
