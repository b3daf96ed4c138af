/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The passive side: requests that wait for the consumer, and its decision; also the decision about
 * a three-way arrival. A request belongs to the call that took it from the library's table. The
 * call hands it to the IA's thread, where the connection lives.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/device/verbs_sigpipe.h"

#include <errno.h>
#include <string.h>

/* The arguments of it_ep_accept, it_reject or it_handoff, for the IA's thread. */
struct decision_call {
    struct ual_request *request;
    struct verbs_ep *ep;
    const void *private_data;
    size_t length;
    const it_conn_qual_t *qual;
    size_t spigot_id;
};

static struct verbs_conn *accept_conn_of(struct ual_request *request)
{
    return BASE_ITEM(request, struct verbs_conn, request);
}

/* ---------------------------------------------------------------- asking the consumer */

static void accept_fill_request(struct verbs_conn *conn, const struct verbs_listener *listener)
{
    struct ual_request *request = &conn->request;

    verbs_listener_fill(listener, conn->id, request);
    request->peer_ird = conn->peer_ird;
    request->peer_ord = conn->peer_ord;
    request->private_data = conn->private_data;
    request->private_length = conn->private_length;
}

/*
 * Returns false if the request cannot be announced; the caller destroys the id, which tells the
 * peer.
 */
static bool accept_announce(struct verbs_conn *conn, const struct verbs_listener *listener)
{
    struct verbs_cm *cm = conn->cm;

    if (cm->undecided >= VERBS_CM_UNDECIDED_MAX)
        return false;
    accept_fill_request(conn, listener);
    conn->undecided = true;
    cm->undecided++;
    (void)verbs_conn_step(conn, VERBS_ON_ANNOUNCED);
    verbs_host->request_add(&conn->request);
    /* A call that takes the request now waits for this thread: the conn is here afterwards. */
    if (verbs_host->request_announce(&conn->request) ||
        !verbs_host->request_withdraw(&conn->request))
        return true;
    (void)verbs_conn_step(conn, VERBS_ON_WITHDRAWN);
    return false;
}

void verbs_accept_request(struct verbs_listener *listener, struct rdma_cm_id *id,
                          const struct verbs_cm_event *event)
{
    struct verbs_cm *cm = listener->cm;
    struct verbs_conn *conn = verbs_conn_new(cm, &verbs_responder);

    if (!conn) {
        (void)rdma_destroy_id(id);
        return;
    }
    verbs_conn_own(conn, id);
    conn->peer_ird = event->initiator_depth;
    conn->peer_ord = event->responder_resources;
    memcpy(conn->private_data, event->private_data, event->private_length);
    conn->private_length = event->private_length;
    if (accept_announce(conn, listener))
        return;
    verbs_cm_count(&cm->refused);
    verbs_conn_discard(conn);
}

/* ---------------------------------------------------------------- accept */

/*
 * The peer had already left when the consumer decided. The request is put back, and the timer
 * withdraws it. If there is no memory for the timer, the conn stays until the IA closes.
 */
static it_status_t accept_too_late(struct verbs_conn *conn)
{
    conn->peer_gone = true;
    (void)verbs_conn_limit(conn, VERBS_CM_WITHDRAW_NS);
    return IT_ERR_INVALID_CN_EST_ID;
}

/* The EP is in its pending state: the outcome is reported by an event. */
void verbs_accept_answer(struct verbs_conn *conn)
{
    it_conn_reject_code_t code = IT_CN_REJ_RESOURCES;

    verbs_conn_decided(conn);
    (void)verbs_conn_step(conn, VERBS_ON_ACCEPTED);
    if (!conn->cm->ia->is_iwarp && !verbs_qp_connect(conn))
        (void)verbs_sigpipe_reject(conn->id, NULL, 0);
    else if (verbs_sigpipe_accept(conn->id, &conn->param) == 0)
        return;
    else
        code = verbs_reason_of_errno(errno);
    (void)verbs_conn_step(conn, VERBS_ON_NOT_SENT);
    verbs_conn_fail(conn, code);
}

/*
 * An iWARP device does not report that the peer has given up until it is told to answer. Only this
 * thread takes the EP out of UNCONNECTED.
 */
static it_status_t accept_at_once(struct verbs_conn *conn, struct verbs_ep *ep,
                                  const it_path_t *path)
{
    int error;

    if (verbs_host->ep_state(ep->ual) != IT_EP_STATE_UNCONNECTED)
        return IT_ERR_INVALID_EP_STATE;
    if (verbs_sigpipe_accept(conn->id, &conn->param) != 0) {
        error = errno;
        verbs_warn(conn->cm->ia, "cannot accept", error);
        (void)accept_too_late(conn);
        return error == ENOMEM ? IT_ERR_RESOURCES : IT_ERR_INVALID_CN_EST_ID;
    }
    verbs_conn_decided(conn);
    (void)verbs_conn_step(conn, VERBS_ON_ACCEPTED);
    if (!verbs_conn_attach(conn, ep, UAL_EP_ACCEPT, path))
        verbs_conn_abandon(conn);
    return IT_SUCCESS;
}

static it_status_t accept_passive(struct verbs_conn *conn, const struct decision_call *call)
{
    it_path_t path = {.spigot_id = conn->request.spigot_id};

    verbs_path_of_id(conn, &path);
    verbs_qp_wanted(conn, call->ep);
    verbs_qp_fill_param(conn, call->ep);
    conn->param.private_data = call->private_data;
    conn->param.private_data_len = (uint8_t)call->length;
    if (conn->cm->ia->is_iwarp)
        return accept_at_once(conn, call->ep, &path);
    if (!verbs_qp_is_wanted(conn))
        return accept_too_late(conn);
    if (!verbs_conn_attach(conn, call->ep, UAL_EP_ACCEPT, &path))
        return IT_ERR_INVALID_EP_STATE;
    verbs_accept_answer(conn);
    return IT_SUCCESS;
}

/*
 * Returns false if the peer has disconnected. First reads the events that this thread has not read
 * yet.
 */
static bool accept_is_timely(struct verbs_conn *conn)
{
    if (!conn->peer_gone)
        verbs_cm_take_events(conn->cm);
    return !conn->peer_gone;
}

static it_status_t accept_run(void *argument)
{
    struct decision_call *call = argument;
    struct verbs_conn *conn = accept_conn_of(call->request);

    if (!accept_is_timely(conn))
        return IT_ERR_INVALID_CN_EST_ID;
    if (conn->state == VERBS_CONN_ANNOUNCED)
        return accept_passive(conn, call);
    if (conn->ep != call->ep)
        return IT_ERR_INVALID_EP_STATE;
    if (call->length > 0)
        return IT_ERR_INVALID_PDATA_LENGTH; /* a confirmation carries no private data */
    verbs_connect_confirm(conn);
    return IT_SUCCESS; /* a failure is reported by an event */
}

it_status_t verbs_accept(struct ual_ep *ual, struct ual_request *request, const void *private_data,
                         size_t length)
{
    struct decision_call call = {
        .request = request,
        .ep = verbs_ep_of(ual),
        .private_data = private_data,
        .length = length,
    };

    return verbs_run(request->ia, accept_run, &call);
}

/* ---------------------------------------------------------------- reject */

static it_status_t reject_run(void *argument)
{
    struct decision_call *call = argument;
    struct verbs_conn *conn = accept_conn_of(call->request);

    if (!accept_is_timely(conn))
        return IT_ERR_INVALID_CN_EST_ID;
    if (verbs_sigpipe_reject(conn->id, call->private_data, (uint8_t)call->length) != 0 &&
        !conn->role->active) {
        verbs_warn(conn->cm->ia, "cannot reject", errno);
        return accept_too_late(conn);
    }
    (void)verbs_conn_step(conn, VERBS_ON_DECLINED);
    (void)verbs_conn_end(conn, UAL_EP_ATTEMPT_FAILED, NULL); /* the consumer knows */
    return IT_SUCCESS;
}

it_status_t verbs_reject(struct ual_request *request, const void *private_data, size_t length)
{
    struct decision_call call = {
        .request = request,
        .private_data = private_data,
        .length = length,
    };

    return verbs_run(request->ia, reject_run, &call);
}

void verbs_request_addresses_locked(struct ual_request *request, struct itx_ep_addresses *addresses)
{
    const struct rdma_addr *ends = &accept_conn_of(request)->id->route.addr;

    addresses->local = ends->src_storage;
    addresses->remote = ends->dst_storage;
}

/* ---------------------------------------------------------------- handoff */

static struct verbs_listener *handoff_find(struct verbs_cm *cm, const it_conn_qual_t *qual,
                                           size_t spigot_id)
{
    it_conn_qual_t wanted = *qual;
    const uint16_t *port = base_net_listen_port(&wanted);

    BASE_LIST_EACH(struct verbs_listener, listener, &cm->listeners, link)
        if (port && listener->info.spigot_id == spigot_id &&
            *base_net_listen_port(listener->info.conn_qual) == *port)
            return listener;
    return NULL;
}

/* Announces the same request under a new id. Returns false if the new EVD has no room. */
static bool handoff_announce(struct verbs_conn *conn, const struct verbs_listener *listener)
{
    struct ual_request *request = &conn->request;

    request->connect_evd = listener->info.connect_evd; /* no thread uses the old one any more */
    verbs_host->request_add(request);
    return verbs_host->request_offer(request) || !verbs_host->request_withdraw(request);
}

static it_status_t handoff_run(void *argument)
{
    const struct decision_call *call = argument;
    struct verbs_conn *conn = accept_conn_of(call->request);
    const struct verbs_listener *listener = handoff_find(conn->cm, call->qual, call->spigot_id);

    if (conn->peer_gone || conn->role->active)
        return IT_ERR_INVALID_CN_EST_ID;
    if (!listener)
        return IT_ERR_INVALID_CONN_QUAL;
    return handoff_announce(conn, listener) ? IT_SUCCESS : IT_ERR_RESOURCES;
}

it_status_t verbs_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    struct decision_call call = {
        .request = request,
        .qual = qual,
        .spigot_id = spigot_id,
    };

    return verbs_run(request->ia, handoff_run, &call);
}
