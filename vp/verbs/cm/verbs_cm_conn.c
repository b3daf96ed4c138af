/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a connection and how it ends: first the state changes, then the id goes, then posted
 * work is flushed, then the event is reported.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/qp/verbs_qp.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- life */

static const struct verbs_cm_target conn_target;

static void conn_expired(void *argument)
{
    verbs_conn_on(argument, VERBS_ON_EXPIRED);
}

struct verbs_conn *verbs_conn_new(struct verbs_cm *cm, const struct verbs_conn_role *role)
{
    struct verbs_conn *conn = calloc(1, sizeof(*conn));

    if (!conn)
        return NULL;
    conn->timer = verbs_host->timer_new(cm->ual, conn_expired, conn);
    if (!conn->timer) {
        free(conn);
        return NULL;
    }
    conn->target = &conn_target;
    conn->role = role;
    conn->state = role->first;
    conn->cm = cm;
    base_list_prepend(&cm->connections, &conn->link);
    return conn;
}

void verbs_conn_own(struct verbs_conn *conn, struct rdma_cm_id *id)
{
    conn->id = id;
    id->context = conn;
}

void verbs_conn_decided(struct verbs_conn *conn)
{
    if (conn->undecided)
        conn->cm->undecided--;
    conn->undecided = false;
}

/* Frees the conn. Its id has been destroyed, or never existed. */
static void conn_free(struct verbs_conn *conn)
{
    verbs_conn_decided(conn);
    if (conn->cm->current == conn)
        conn->cm->current = NULL;
    base_list_remove(&conn->cm->connections, &conn->link);
    verbs_host->timer_free(conn->timer);
    free(conn);
}

void verbs_conn_discard(struct verbs_conn *conn)
{
    if (conn->id)
        (void)rdma_destroy_id(conn->id); /* fails if the device is gone, but frees the id */
    conn_free(conn);
}

bool verbs_conn_attach(struct verbs_conn *conn, struct verbs_ep *ep, enum ual_ep_step step,
                       const it_path_t *path)
{
    bool stepped;

    verbs_host->ep_lock(ep->ual);
    stepped = verbs_host->ep_step_locked(ep->ual, step);
    if (stepped)
        verbs_host->ep_set_path_locked(ep->ual, path);
    verbs_host->ep_unlock(ep->ual);
    if (!stepped)
        return false;
    conn->ep = ep;
    ep->conn = conn;
    return true;
}

static struct verbs_ep *conn_detach(struct verbs_conn *conn)
{
    struct verbs_ep *ep = conn->ep;

    if (ep)
        ep->conn = NULL;
    conn->ep = NULL;
    return ep;
}

bool verbs_conn_limit(struct verbs_conn *conn, uint64_t delay_ns)
{
    return verbs_host->timer_start(conn->timer, delay_ns);
}

/* ---------------------------------------------------------------- letting go of the id */

/*
 * Disconnects and waits for rdma_cm's event, which comes when the peer answers or rdma_cm gives up.
 */
static void conn_disconnect(struct verbs_conn *conn)
{
    if (rdma_disconnect(conn->id) != 0 || !verbs_conn_limit(conn, VERBS_CM_CLOSE_NS))
        verbs_conn_discard(conn);
}

/*
 * Takes the request back from the consumer. If a call holds the request, it either takes over the
 * conn or puts the request back, so the timer tries again. If memory runs out, the conn stays until
 * the IA closes.
 */
static void conn_withdraw(struct verbs_conn *conn)
{
    if (verbs_host->request_withdraw(&conn->request)) {
        (void)verbs_conn_step(conn, VERBS_ON_WITHDRAWN);
        verbs_conn_discard(conn);
        return;
    }
    conn->peer_gone = true;
    (void)verbs_conn_limit(conn, VERBS_CM_WITHDRAW_NS);
}

/* ep: the EP whose QP the id may use. */
static void conn_close(struct verbs_conn *conn, const struct verbs_ep *ep)
{
    enum verbs_conn_action action = verbs_conn_step(conn, VERBS_ON_CLOSED);

    if (action == VERBS_DO_NOTHING)
        return; /* a thread is already destroying it */
    verbs_host->timer_stop(conn->timer);
    if (action == VERBS_DO_WITHDRAW)
        conn_withdraw(conn);
    else if (action == VERBS_DO_DISCONNECT)
        conn_disconnect(conn);
    else if (action != VERBS_DO_DISCARD && conn->cm->ia->is_iwarp)
        verbs_thread_destroy(conn, ep, action == VERBS_DO_DESTROY_CALLING, verbs_conn_discard);
    else
        verbs_conn_discard(conn);
}

void verbs_conn_abandon(struct verbs_conn *conn)
{
    const struct verbs_ep *ep = conn_detach(conn);

    conn_close(conn, ep);
}

/* ---------------------------------------------------------------- ends */

static bool conn_step(struct verbs_ep *ep, enum ual_ep_step step)
{
    bool stepped;

    verbs_host->ep_lock(ep->ual);
    stepped = verbs_host->ep_step_locked(ep->ual, step);
    if (stepped && (step == UAL_EP_DISCONNECT || step == UAL_EP_CLOSED))
        atomic_store_explicit(&ep->parted, true, memory_order_release);
    verbs_host->ep_unlock(ep->ual);
    return stepped;
}

bool verbs_conn_end(struct verbs_conn *conn, enum ual_ep_step step,
                    const struct ual_conn_news *news)
{
    struct verbs_convert *convert = conn->convert;
    const struct verbs_cm *cm = conn->cm;
    struct verbs_ep *ep = conn->ep;

    if (ep && !convert && !conn_step(ep, step))
        return false;
    conn->convert = NULL;
    (void)conn_detach(conn);
    conn_close(conn, ep);
    if (convert)
        cm->ops->convert_unconnected(convert, news ? news->reject_code : IT_CN_REJ_OTHER);
    if (convert || !ep)
        return true;
    verbs_ep_break(ep);
    if (news)
        verbs_ep_report_end(ep, news);
    return true;
}

/* The status of rdma_cm's last event is an errno on iWARP, and a reason code elsewhere. */
static void conn_log(const struct verbs_conn *conn, const char *what, const char *why)
{
    const struct sockaddr *peer = conn->id ? rdma_get_peer_addr(conn->id) : NULL;
    int error = conn->error ? conn->error : -conn->status;
    char host[INET6_ADDRSTRLEN] = "an unknown address";
    char cause[24] = "";

    if (peer && peer->sa_family == AF_INET)
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)peer)->sin_addr, host,
                        sizeof(host));
    else if (peer && peer->sa_family == AF_INET6)
        (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr,
                        host, sizeof(host));
    if (error < 0)
        (void)snprintf(cause, sizeof(cause), ": reason %d", -error);
    verbs_log(VP_LOG_WARN, "%s: %s with %s, port %u: %s in %s%s%s",
              verbs_host->ia_name(conn->cm->ual), what, host,
              peer ? ntohs(base_net_port(peer)) : 0u, why, verbs_conn_state_name(conn->state),
              error > 0 ? ": " : cause, error > 0 ? strerror(error) : "");
}

void verbs_conn_fail(struct verbs_conn *conn, it_conn_reject_code_t code)
{
    const struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
        .reject_code = code,
    };

    conn_log(conn, "no connection", itx_reject_string(code));
    (void)verbs_conn_end(conn, UAL_EP_ATTEMPT_FAILED, &news);
}

/* ---------------------------------------------------------------- established */

static void conn_keep_address(const struct sockaddr *address, struct sockaddr_in6 *kept)
{
    memset(kept, 0, sizeof(*kept));
    memcpy(kept, address,
           address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(*kept));
}

void verbs_conn_establish(struct verbs_conn *conn, const void *private_data, size_t length)
{
    struct verbs_ep *ep = conn->ep;
    struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_ESTABLISHED_EVENT,
        .ird = conn->ird,
        .ord = verbs_qp_ord(conn),
        .private_data = private_data,
        .private_length = length,
    };
    it_rc_only_attributes_t *rc = &verbs_host->ep_attributes(ep->ual)->srv.rc;
    bool stepped;

    verbs_host->timer_stop(conn->timer);
    if (conn->convert) {
        conn->cm->ops->convert_connected(conn->convert, private_data, length);
        return;
    }
    verbs_host->ep_lock(ep->ual);
    ep->agreed = true;
    conn_keep_address(rdma_get_local_addr(conn->id), &ep->local);
    conn_keep_address(rdma_get_peer_addr(conn->id), &ep->remote);
    ep->wanted_ird = rc->rdma_read_ird;
    ep->wanted_ord = rc->rdma_read_ord;
    rc->rdma_read_ird = news.ird;
    rc->rdma_read_ord = news.ord;
    verbs_ep_open_locked(ep);
    stepped = verbs_host->ep_step_locked(ep->ual, UAL_EP_ESTABLISHED);
    verbs_host->ep_unlock(ep->ual);
    if (!stepped) {
        verbs_conn_abandon(conn);
        return;
    }
    verbs_cm_count(conn->role->active ? &conn->cm->initiated : &conn->cm->accepted);
    verbs_nudge_begin(conn);
    verbs_ep_report_established(ep, &news);
}

/* ---------------------------------------------------------------- actions of both roles */

/*
 * InfiniBand: returns true if the QP has failed by itself, so that the end is no disconnect by the
 * peer.
 */
static bool conn_is_broken(const struct verbs_conn *conn)
{
    struct ibv_qp_attr attributes;
    struct ibv_qp_init_attr init_attributes;

    if (conn->cm->ia->is_iwarp)
        return false; /* the QP's state follows the stream */
    attributes.qp_state = IBV_QPS_RTS;
    return ibv_query_qp(conn->ep->qp, &attributes, IBV_QP_STATE, &init_attributes) == 0 &&
           attributes.qp_state != IBV_QPS_RTS;
}

static void conn_break(struct verbs_conn *conn)
{
    static const struct ual_conn_news news = {.number = IT_CM_MSG_CONN_BROKEN_EVENT};

    conn_log(conn, "connection", "broken");
    if (!verbs_conn_end(conn, UAL_EP_BROKEN, &news))
        verbs_conn_abandon(conn);
}

/* The peer has ended the connection and waits for the answer. */
static void conn_end_live(struct verbs_conn *conn)
{
    static const struct ual_conn_news news = {.number = IT_CM_MSG_CONN_DISCONNECT_EVENT};
    bool broken = conn_is_broken(conn);

    (void)rdma_disconnect(conn->id);
    if (broken)
        conn_break(conn);
    else if (!verbs_conn_end(conn, UAL_EP_CLOSED, &news))
        verbs_conn_abandon(conn);
}

static void conn_fail(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    if (conn->ep)
        verbs_conn_fail(conn, event ? verbs_reason_of_event(conn->cm, event) : IT_CN_REJ_TIMEOUT);
    else
        verbs_conn_abandon(conn);
}

static void conn_refuse(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    const struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_PEER_REJECT_EVENT,
        .private_data = event->private_data,
        .private_length = event->private_length,
    };

    (void)verbs_conn_end(conn, UAL_EP_ATTEMPT_FAILED, &news);
}

void verbs_conn_act(struct verbs_conn *conn, enum verbs_conn_action action,
                    const struct verbs_cm_event *event)
{
    switch ((unsigned)action) {
    case VERBS_DO_ESTABLISH:
        verbs_conn_establish(conn, NULL, 0);
        break;
    case VERBS_DO_CUT:
        (void)verbs_thread_join(conn, true);
        conn_fail(conn, event);
        break;
    case VERBS_DO_FAIL:
        conn_fail(conn, event);
        break;
    case VERBS_DO_REFUSE:
        conn_refuse(conn, event);
        break;
    case VERBS_DO_END:
        conn_end_live(conn);
        break;
    case VERBS_DO_BREAK:
        conn_break(conn);
        break;
    case VERBS_DO_NUDGE:
        verbs_nudge_go_on(conn);
        break;
    case VERBS_DO_NOTIFY:
        /* If this fails, the peer's confirmation will establish the connection. */
        (void)rdma_notify(conn->id, IBV_EVENT_COMM_EST);
        break;
    case VERBS_DO_ABANDON:
        verbs_conn_abandon(conn);
        break;
    case VERBS_DO_DISCARD:
        verbs_conn_discard(conn);
        break;
    default:
        break;
    }
}

const struct verbs_conn_role verbs_responder = {
    .first = VERBS_CONN_REQUESTED,
    .act = verbs_conn_act,
};

/* ---------------------------------------------------------------- events */

void verbs_conn_on(struct verbs_conn *conn, enum verbs_conn_event event)
{
    conn->role->act(conn, verbs_conn_step(conn, event), NULL);
}

static enum verbs_conn_event conn_event(const struct verbs_conn *conn,
                                        const struct verbs_cm_event *event)
{
    switch ((unsigned)event->type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        return VERBS_ON_ADDRESS;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        return VERBS_ON_ROUTE;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
        return VERBS_ON_NO_PATH;
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
        return VERBS_ON_FAILED;
    case RDMA_CM_EVENT_REJECTED:
        return verbs_reason_is_consumer(conn->cm, event) ? VERBS_ON_REFUSED : VERBS_ON_FAILED;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        return conn->three_way ? VERBS_ON_ARRIVAL : VERBS_ON_RESPONSE;
    case RDMA_CM_EVENT_ESTABLISHED:
        return VERBS_ON_ESTABLISHED;
    case RDMA_CM_EVENT_DISCONNECTED:
        return VERBS_ON_DISCONNECTED;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        return VERBS_ON_REMOVED;
    default:
        return VERBS_ON_OTHER;
    }
}

/*
 * When a QP of siw fails, siw closes the stream and reports that before it reports the failure of
 * the QP. So this function first moves the QP to ERROR, which waits for the requests concerned, and
 * then handles the device's reports. Returns false if the conn is gone.
 */
static bool conn_take_async(struct verbs_conn *conn)
{
    struct verbs_cm *cm = conn->cm;
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_ERR};

    if (cm->ia->quirks.is_siw && conn->state == VERBS_CONN_LIVE && conn->ep)
        (void)ibv_modify_qp(conn->ep->qp, &attributes, IBV_QP_STATE); /* may be in ERROR */
    cm->ops->take_async(cm->ia);
    return cm->current == conn;
}

void verbs_conn_handle(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    conn->role->act(conn, verbs_conn_step(conn, conn_event(conn, event)), event);
}

static void conn_told(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event)
{
    struct verbs_conn *conn = context;
    struct verbs_cm *cm = conn->cm;

    (void)id;
    conn->status = event->status;
    verbs_log(VP_LOG_DEBUG, "verbs: conn %p in %s: %s, status %d", context,
              verbs_conn_state_name(conn->state), rdma_event_str(event->type), event->status);
    cm->current = conn;
    /* The device's reports of a failure are handled before a disconnect. */
    if (event->type != RDMA_CM_EVENT_DISCONNECTED || conn_take_async(conn))
        verbs_conn_handle(conn, event);
    cm->current = NULL;
}

static const struct verbs_cm_target conn_target = {.told = conn_told};
