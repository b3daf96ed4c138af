/* SPDX-License-Identifier: BSD-2-Clause */
/* The active side: address, route, request, and the peer's answer. */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/device/verbs_query.h"
#include "vp/verbs/device/verbs_sigpipe.h"

#include <errno.h>
#include <string.h>

#define CONNECT_US_PER_MS UINT64_C(1000)

/* The arguments of it_ep_connect, for the IA's thread. */
struct connect_call {
    struct verbs_ep *ep;
    const it_path_t *path;
    const it_conn_attributes_t *attributes;
    const it_conn_qual_t *qual;
    it_cn_est_flags_t flags;
    const void *private_data;
    size_t length;
};

/* ---------------------------------------------------------------- asking for the connection */

static int connect_resolve_ms(const struct verbs_conn *conn)
{
    uint64_t ms = conn->path.timeout / CONNECT_US_PER_MS + 1;

    return ms < VERBS_CM_RESOLVE_MS ? (int)ms : VERBS_CM_RESOLVE_MS;
}

/*
 * rdma_cm finds free port numbers in a space of its own, but siw uses the number as a TCP port,
 * which a socket may hold. This function tries another port, while the old id still reserves the
 * first one. Returns false if that is impossible.
 */
static bool connect_again(struct verbs_conn *conn)
{
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
    struct rdma_cm_id *old = conn->id;
    struct rdma_cm_id *id;

    if (!conn->any_port || ++conn->tries >= VERBS_PORT_TRIES)
        return false;
    base_net_copy(&local, rdma_get_local_addr(old));
    base_net_copy(&remote, rdma_get_peer_addr(old));
    base_net_set_port(&local, 0);
    if (rdma_create_id(conn->cm->channel, &id, conn, RDMA_PS_TCP) != 0)
        return false;
    if (rdma_bind_addr(id, (struct sockaddr *)&local) != 0 ||
        rdma_resolve_addr(id, NULL, (struct sockaddr *)&remote, connect_resolve_ms(conn)) != 0) {
        (void)rdma_destroy_id(id); /* only bound: no event is pending */
        return false;
    }
    verbs_conn_own(conn, id);
    (void)rdma_destroy_id(old); /* it has no pending event */
    return true;
}

/*
 * The request has been sent, or has failed with this error. Returns false if the conn may be gone.
 */
static bool connect_sent(struct verbs_conn *conn, int error)
{
    if (error == 0) {
        (void)verbs_conn_step(conn, VERBS_ON_SENT);
        return true;
    }
    if (error == EADDRINUSE && connect_again(conn)) {
        (void)verbs_conn_step(conn, VERBS_ON_RETRIED);
        return false;
    }
    (void)verbs_conn_step(conn, VERBS_ON_NOT_SENT);
    verbs_conn_fail(conn, verbs_reason_of_errno(error));
    return false;
}

static void connect_returned(void *argument)
{
    verbs_conn_on(argument, VERBS_ON_RETURNED);
}

static void connect_request(struct verbs_conn *conn)
{
    verbs_path_of_id(conn, &conn->path);
    verbs_ep_set_path(conn->ep, &conn->path);
    verbs_qp_fill_param(conn, conn->ep);
    if (!conn->cm->ia->is_iwarp)
        (void)connect_sent(conn, rdma_connect(conn->id, &conn->param) == 0 ? 0 : errno);
    else if (verbs_thread_connect(conn, connect_returned))
        (void)verbs_conn_step(conn, VERBS_ON_CALLED);
    else
        verbs_conn_fail(conn, IT_CN_REJ_RESOURCES);
}

static void connect_find_route(struct verbs_conn *conn)
{
    if (rdma_resolve_route(conn->id, connect_resolve_ms(conn)) != 0)
        verbs_conn_fail(conn, verbs_reason_of_errno(errno));
}

/* ---------------------------------------------------------------- the peer's answer */

static void connect_agree(struct verbs_conn *conn, const void *private_data, size_t length)
{
    if (!verbs_qp_connect(conn)) {
        (void)verbs_sigpipe_reject(conn->id, NULL,
                                   0); /* otherwise the peer would wait until its timeout */
        verbs_conn_fail(conn, IT_CN_REJ_RESOURCES);
    } else if (rdma_establish(conn->id) != 0) {
        verbs_conn_fail(conn, verbs_reason_of_errno(errno));
    } else {
        (void)verbs_conn_step(conn, VERBS_ON_AGREED);
        verbs_conn_establish(conn, private_data, length);
    }
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

    verbs_host->timer_stop(conn->timer); /* the consumer's decision has no time limit */
    if (!verbs_ep_step(conn->ep, UAL_EP_ARRIVAL)) {
        verbs_conn_abandon(conn);
        return;
    }
    (void)verbs_conn_step(conn, VERBS_ON_ASKED);
    conn->request.ia = conn->cm->ual;
    verbs_host->request_add(&conn->request);
    news.cn_est_id = conn->request.id;
    verbs_host->ep_report(ep, &news);
}

/* An event of an iWARP device has the depths of this side, one of InfiniBand those of the peer. */
static void connect_take_depths(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    bool own = conn->cm->ia->is_iwarp;

    conn->peer_ird = own ? event->responder_resources : event->initiator_depth;
    conn->peer_ord = own ? event->initiator_depth : event->responder_resources;
}

void verbs_connect_confirm(struct verbs_conn *conn)
{
    if (verbs_conn_step(conn, VERBS_ON_CONFIRMED) == VERBS_DO_AGREE)
        connect_agree(conn, NULL, 0);
}

static void connect_act(struct verbs_conn *conn, enum verbs_conn_action action,
                        const struct verbs_cm_event *event)
{
    switch ((unsigned)action) {
    case VERBS_DO_ROUTE:
        connect_find_route(conn);
        break;
    case VERBS_DO_REQUEST:
        connect_request(conn);
        break;
    case VERBS_DO_JOIN:
        if (connect_sent(conn, verbs_thread_join(conn, false)) && event)
            verbs_conn_handle(conn, event);
        break;
    case VERBS_DO_ASK:
        connect_take_depths(conn, event);
        connect_ask(conn, event);
        break;
    case VERBS_DO_AGREE:
        connect_take_depths(conn, event);
        connect_agree(conn, event->private_data, event->private_length);
        break;
    case VERBS_DO_ESTABLISH:
        connect_take_depths(conn, event);
        verbs_conn_establish(conn, event->private_data, event->private_length);
        break;
    default:
        verbs_conn_act(conn, action, event);
        break;
    }
}

const struct verbs_conn_role verbs_initiator = {
    .active = true,
    .first = VERBS_CONN_NEW,
    .act = connect_act,
};

/* ---------------------------------------------------------------- it_ep_connect */

/* Two devices may share the address, or it is another one's: rdma_cm may pick that device. */
static it_status_t connect_bind(struct verbs_conn *conn, struct sockaddr_storage *local)
{
    const struct verbs_ia *ia = conn->cm->ia;
    int error = 0;

    if (rdma_bind_addr(conn->id, (struct sockaddr *)local) != 0)
        error = errno;
    else if (!verbs_device_is_own(ia, conn->id) || conn->id->port_num != conn->path.spigot_id)
        error = ENODEV;
    if (error != 0)
        verbs_warn(ia, "cannot connect from this address", error);
    return base_net_bind_status(error);
}

/* Creates an id that is bound to the local end; *remote gets the peer's address. */
static it_status_t connect_open(struct verbs_conn *conn, const it_conn_qual_t *qual,
                                struct sockaddr_storage *remote)
{
    struct verbs_ports ports = verbs_ports_of(qual);
    struct sockaddr_storage local;
    struct rdma_cm_id *id;
    it_status_t status;

    status = verbs_path_ends(conn->cm, &conn->path, &local, remote);
    if (status != IT_SUCCESS) {
        verbs_log(VP_LOG_WARN, "%s: the ends of the path are not usable here",
                  verbs_host->ia_name(conn->cm->ual));
        return status;
    }
    base_net_set_port(&local, ports.local);
    base_net_set_port(remote, ports.remote);
    if (rdma_create_id(conn->cm->channel, &id, NULL, RDMA_PS_TCP) != 0) {
        verbs_warn(conn->cm->ia, "cannot connect: rdma_create_id", errno);
        return IT_ERR_RESOURCES;
    }
    verbs_conn_own(conn, id);
    conn->any_port = ports.local == 0;
    return connect_bind(conn, &local);
}

/* InfiniBand: sets what the consumer asked for. A local_ack_timeout of 0 means no limit. */
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

/* The EP is in its pending state: from here on an event reports the outcome. */
void verbs_connect_launch(struct verbs_conn *conn, struct sockaddr_storage *remote)
{
    (void)verbs_conn_step(conn, VERBS_ON_LAUNCHED);
    if (!verbs_conn_limit(conn, base_ns_of_us(conn->path.timeout)))
        verbs_conn_fail(conn, IT_CN_REJ_RESOURCES);
    else if (rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)remote,
                               connect_resolve_ms(conn)) != 0)
        verbs_conn_fail(conn, verbs_reason_of_errno(errno));
}

static void connect_prepare(struct verbs_conn *conn, const struct connect_call *call)
{
    conn->three_way = (call->flags & IT_CONNECT_FLAG_THREE_WAY) != 0;
    conn->path = *call->path;
    if (conn->path.timeout == 0)
        conn->path.timeout = VERBS_CM_ATTEMPT_US;
    if (call->length > 0)
        memcpy(conn->private_data, call->private_data, call->length);
    conn->private_length = call->length;
    verbs_qp_wanted(conn, call->ep);
}

static it_status_t connect_begin(struct verbs_conn *conn, const struct connect_call *call,
                                 struct sockaddr_storage *remote)
{
    it_status_t status;

    connect_prepare(conn, call);
    /*
     * The attach below checks this again, under the lock. Here a wrong state must take precedence
     * over a port in use.
     */
    if (verbs_host->ep_state(call->ep->ual) != IT_EP_STATE_UNCONNECTED)
        return IT_ERR_INVALID_EP_STATE;
    status = connect_open(conn, call->qual, remote);
    if (status != IT_SUCCESS)
        return status;
    return verbs_conn_attach(conn, call->ep, UAL_EP_CONNECT, call->path) ? IT_SUCCESS
                                                                         : IT_ERR_INVALID_EP_STATE;
}

static it_status_t connect_run(void *argument)
{
    struct connect_call *call = argument;
    struct verbs_conn *conn = verbs_conn_new(call->ep->ia->cm, &verbs_initiator);
    struct sockaddr_storage remote;
    it_status_t status;

    if (!conn)
        return IT_ERR_RESOURCES;
    status = connect_begin(conn, call, &remote);
    if (status != IT_SUCCESS) {
        verbs_conn_discard(conn);
        return status;
    }
    if (call->attributes && !conn->cm->ia->is_iwarp)
        connect_tune(conn, &call->attributes->ib);
    verbs_connect_launch(conn, &remote);
    return IT_SUCCESS;
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

    /* Runs on the IA's thread from the state change on, so that no event can come in between. */
    return verbs_run(call.ep->ia->ual, connect_run, &call);
}
