/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The passive side: requests that wait for the consumer, and its decision; also the decision about a
 * three-way arrival. A request belongs to whoever has taken it from the library's table; calls bring
 * it to the IA's thread, where the connection lives.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/cm/verbs_cm_answer.h"

#include <errno.h>
#include <string.h>

/* One call of it_ep_accept, it_reject or it_handoff, on its way through the IA's thread. */
struct decision_call {
    struct ual_request *request;
    struct verbs_ep *ep;
    const void *private_data;
    size_t length;
    const it_conn_qual_t *qual;
    size_t spigot_id;
    it_status_t status;
};

static struct verbs_conn *accept_conn_of(struct ual_request *request)
{
    return (void *)((char *)request - offsetof(struct verbs_conn, request));
}

/* ---------------------------------------------------------------- asking the consumer */

static void accept_fill_request(struct verbs_conn *conn, const struct verbs_listener *listener)
{
    struct ual_request *request = &conn->request;
    const struct sockaddr *peer = rdma_get_peer_addr(conn->id);

    request->ia = conn->cm->ual;
    request->connect_evd = listener->info.connect_evd;
    request->spigot_id = listener->info.spigot_id;
    request->conn_qual = *listener->info.conn_qual;
    verbs_address_tell(peer, &request->source_addr);
    if (request->conn_qual.type == IT_IANA_LR_PORT)
        request->conn_qual.conn_qual.lr_port.remote = verbs_address_port(peer);
    request->peer_ird = conn->peer_ird;
    request->peer_ord = conn->peer_ord;
    request->private_data = conn->private_data;
    request->private_length = conn->private_length;
}

/* False: it cannot be told; destroying the id tells the peer. */
static bool accept_announce(struct verbs_conn *conn, const struct verbs_listener *listener)
{
    struct verbs_cm *cm = conn->cm;

    if (cm->undecided >= VERBS_CM_UNDECIDED_MAX)
        return false;
    accept_fill_request(conn, listener);
    conn->undecided = true;
    cm->undecided++;
    conn->state = VERBS_CONN_ANNOUNCED;
    verbs_host->request_add(&conn->request);
    /* A call that takes it now waits for this thread: the conn is still here afterwards. */
    if (verbs_host->request_announce(&conn->request) ||
        !verbs_host->request_withdraw(&conn->request))
        return true;
    conn->state = VERBS_CONN_NEW;
    return false;
}

void verbs_accept_request(struct verbs_listener *listener, struct rdma_cm_id *id,
                          const struct verbs_cm_event *event)
{
    struct verbs_cm *cm = listener->cm;
    struct verbs_conn *conn = verbs_conn_new(cm);

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

/* ---------------------------------------------------------------- events */

static void accept_failed(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    const struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_PEER_REJECT_EVENT,
        .private_data = event->private_data,
        .private_length = event->private_length,
    };

    if (conn->state == VERBS_CONN_ANNOUNCED) {
        verbs_conn_abandon(conn); /* the consumer learns it when it decides */
        return;
    }
    if (conn->state != VERBS_CONN_CONFIRM)
        return;
    conn->state = VERBS_CONN_NEW; /* nothing is on its way any more */
    if (event->type == RDMA_CM_EVENT_REJECTED && verbs_reason_is_consumer(conn->cm, event))
        (void)verbs_conn_end(conn, UAL_EP_ATTEMPT_FAILED, &news);
    else
        verbs_conn_fail(conn, verbs_reason_of_event(conn->cm, event));
}

void verbs_accept_event(struct verbs_conn *conn, const struct verbs_cm_event *event)
{
    switch ((unsigned)event->type) {
    case RDMA_CM_EVENT_ESTABLISHED:
        if (conn->state == VERBS_CONN_CONFIRM)
            (void)verbs_conn_establish(conn, NULL, 0);
        break;
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
        accept_failed(conn, event);
        break;
    default:
        if (event->type == RDMA_CM_EVENT_DISCONNECTED && conn->state == VERBS_CONN_ANNOUNCED)
            verbs_conn_abandon(conn);
        else
            verbs_conn_event(conn, event);
        break;
    }
}

/* ---------------------------------------------------------------- accept */

/* The peer is gone, as is only found out now: the request is put back and withdrawn. */
static it_status_t accept_too_late(struct verbs_conn *conn)
{
    conn->peer_gone = true;
    conn->state = VERBS_CONN_ANNOUNCED;
    (void)verbs_conn_limit(conn,
                           VERBS_CM_WITHDRAW_NS); /* without memory it stays until the IA ends */
    return IT_ERR_INVALID_CN_EST_ID;
}

/* The EP is in its pending state: the outcome is an event. */
void verbs_accept_answer(struct verbs_conn *conn)
{
    int error;

    verbs_conn_decided(conn);
    if (!conn->cm->ia->is_iwarp && !verbs_qp_connect(conn)) {
        (void)verbs_cm_answer_reject(conn->id, NULL, 0);
        conn->state = VERBS_CONN_NEW;
        verbs_conn_fail(conn, IT_CN_REJ_RESOURCES);
        return;
    }
    conn->state = VERBS_CONN_CONFIRM;
    if (verbs_cm_answer_accept(conn->id, &conn->param) == 0)
        return;
    error = errno;
    conn->state = VERBS_CONN_NEW;
    verbs_conn_fail(conn, verbs_reason_of_errno(error));
}

/*
 * A device of iWARP does not tell that the peer has given up until it is to answer. Nobody else takes
 * the EP out of UNCONNECTED meanwhile: that is done on this thread.
 */
static it_status_t accept_at_once(struct verbs_conn *conn, struct verbs_ep *ep,
                                  const it_path_t *path)
{
    int error;

    if (verbs_host->ep_state(ep->ual) != IT_EP_STATE_UNCONNECTED)
        return IT_ERR_INVALID_EP_STATE;
    if (verbs_cm_answer_accept(conn->id, &conn->param) != 0) {
        error = errno;
        verbs_log(VP_LOG_WARN, "%s: cannot accept: %s", verbs_host->ia_name(conn->cm->ual),
                  strerror(error));
        (void)accept_too_late(conn);
        return error == ENOMEM ? IT_ERR_RESOURCES : IT_ERR_INVALID_CN_EST_ID;
    }
    verbs_conn_decided(conn);
    conn->state = VERBS_CONN_CONFIRM;
    if (!verbs_conn_attach(conn, ep, UAL_EP_ACCEPT, path))
        verbs_conn_abandon(conn);
    return IT_SUCCESS;
}

static it_status_t accept_passive(struct verbs_conn *conn, const struct decision_call *call)
{
    it_path_t path = {.spigot_id = conn->request.spigot_id};
    it_status_t status = IT_SUCCESS;

    verbs_path_of_id(conn, &path);
    verbs_qp_wanted(conn, call->ep);
    verbs_qp_fill_param(conn, call->ep);
    conn->param.private_data = call->private_data;
    conn->param.private_data_len = (uint8_t)call->length;
    if (conn->cm->ia->is_iwarp)
        return accept_at_once(conn, call->ep, &path);
    if (!verbs_qp_is_wanted(conn))
        status = accept_too_late(conn);
    else if (!verbs_conn_attach(conn, call->ep, UAL_EP_ACCEPT, &path))
        status = IT_ERR_INVALID_EP_STATE;
    else
        verbs_accept_answer(conn);
    return status;
}

static void accept_run(void *argument)
{
    struct decision_call *call = argument;
    struct verbs_conn *conn = accept_conn_of(call->request);

    /* This thread may not have come to what the peer has done last. */
    if (!conn->peer_gone)
        conn->cm->ops->take_events(conn->cm);
    if (conn->peer_gone)
        call->status = IT_ERR_INVALID_CN_EST_ID;
    else if (conn->state == VERBS_CONN_ANNOUNCED)
        call->status = accept_passive(conn, call);
    else if (conn->ep != call->ep)
        call->status = IT_ERR_INVALID_EP_STATE;
    else if (call->length > 0)
        call->status = IT_ERR_INVALID_PDATA_LENGTH; /* a confirmation carries none */
    else
        call->status = verbs_connect_confirm(conn);
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

    verbs_host->ia_call(request->ia, accept_run, &call);
    return call.status;
}

/* ---------------------------------------------------------------- reject */

static void reject_run(void *argument)
{
    struct decision_call *call = argument;
    struct verbs_conn *conn = accept_conn_of(call->request);

    if (!conn->peer_gone)
        conn->cm->ops->take_events(conn->cm);
    if (conn->peer_gone) {
        call->status = IT_ERR_INVALID_CN_EST_ID;
        return;
    }
    if (verbs_cm_answer_reject(conn->id, call->private_data, (uint8_t)call->length) != 0 &&
        !conn->active) {
        verbs_log(VP_LOG_WARN, "%s: cannot reject: %s", verbs_host->ia_name(conn->cm->ual),
                  strerror(errno));
        call->status = accept_too_late(conn);
        return;
    }
    call->status = IT_SUCCESS;
    conn->state = VERBS_CONN_NEW;
    (void)verbs_conn_end(conn, UAL_EP_ATTEMPT_FAILED, NULL); /* the consumer knows */
}

it_status_t verbs_reject(struct ual_request *request, const void *private_data, size_t length)
{
    struct decision_call call = {
        .request = request,
        .private_data = private_data,
        .length = length,
    };

    verbs_host->ia_call(request->ia, reject_run, &call);
    return call.status;
}

/* ---------------------------------------------------------------- handoff */

/* The same request under a new id. False: the new EVD has no room. */
static bool handoff_announce(struct verbs_conn *conn, const struct verbs_listener *listener)
{
    struct ual_request *request = &conn->request;

    request->connect_evd = listener->info.connect_evd; /* nobody looks at the old one any more */
    verbs_host->request_add(request);
    return verbs_host->request_offer(request) || !verbs_host->request_withdraw(request);
}

static void handoff_run(void *argument)
{
    struct decision_call *call = argument;
    struct verbs_conn *conn = accept_conn_of(call->request);
    const struct verbs_listener *listener =
        verbs_listener_find(conn->cm, call->qual, call->spigot_id);

    if (conn->peer_gone || conn->active)
        call->status = IT_ERR_INVALID_CN_EST_ID;
    else if (!listener)
        call->status = IT_ERR_INVALID_CONN_QUAL;
    else if (!handoff_announce(conn, listener))
        call->status = IT_ERR_RESOURCES;
    else
        call->status = IT_SUCCESS;
}

it_status_t verbs_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    struct decision_call call = {
        .request = request,
        .qual = qual,
        .spigot_id = spigot_id,
    };

    verbs_host->ia_call(request->ia, handoff_run, &call);
    return call.status;
}
