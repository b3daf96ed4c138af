/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The passive side: requests that wait for the consumer, and its decision; also the decision about a
 * three-way arrival. A request belongs to whoever has taken it from the library's table; calls bring
 * it to the IA's thread, where the connection lives.
 */
#include "ual/verbs/verbs_cm_private.h"

#include <errno.h>
#include <string.h>

/* One call of it_ep_accept, it_reject or it_handoff, on its way through the IA's thread. */
struct decision_call {
    struct ual_request *request;
    struct vrb_ep *ep;
    const void *private_data;
    size_t length;
    const it_conn_qual_t *qual;
    size_t spigot_id;
    it_status_t status;
};

static struct vrb_conn *accept_conn_of(struct ual_request *request)
{
    return (void *)((char *)request - offsetof(struct vrb_conn, request));
}

/* ---------------------------------------------------------------- asking the consumer */

static void accept_fill_request(struct vrb_conn *conn, const struct vrb_listener *listener)
{
    struct ual_request *request = &conn->request;
    const struct sockaddr *peer = rdma_get_peer_addr(conn->id);

    request->ia = conn->cm->ual;
    request->connect_evd = listener->info.connect_evd;
    request->spigot_id = listener->info.spigot_id;
    request->conn_qual = *listener->info.conn_qual;
    vrb_address_tell(peer, &request->source_addr);
    if (request->conn_qual.type == IT_IANA_LR_PORT)
        request->conn_qual.conn_qual.lr_port.remote = vrb_address_port(peer);
    request->peer_ird = conn->peer_ird;
    request->peer_ord = conn->peer_ord;
    request->private_data = conn->private_data;
    request->private_length = conn->private_length;
}

/* False: it cannot be told; destroying the id tells the peer. */
static bool accept_announce(struct vrb_conn *conn, const struct vrb_listener *listener)
{
    struct vrb_cm *cm = conn->cm;

    if (cm->undecided >= VRB_CM_UNDECIDED_MAX)
        return false;
    accept_fill_request(conn, listener);
    conn->undecided = true;
    cm->undecided++;
    conn->state = VRB_CONN_ANNOUNCED;
    vrb_host->request_add(&conn->request);
    /* A call that takes it now waits for this thread: the conn is still here afterwards. */
    if (vrb_host->request_announce(&conn->request) || !vrb_host->request_withdraw(&conn->request))
        return true;
    conn->state = VRB_CONN_NEW;
    return false;
}

void vrb_accept_request(struct vrb_listener *listener, struct rdma_cm_id *id,
                        const struct vrb_cm_event *event)
{
    struct vrb_cm *cm = listener->cm;
    struct vrb_conn *conn = vrb_conn_new(cm);

    if (!conn) {
        (void)rdma_destroy_id(id);
        return;
    }
    vrb_conn_own(conn, id);
    conn->peer_ird = event->initiator_depth;
    conn->peer_ord = event->responder_resources;
    memcpy(conn->private_data, event->private_data, event->private_length);
    conn->private_length = event->private_length;
    if (accept_announce(conn, listener))
        return;
    vrb_cm_count(&cm->refused);
    vrb_conn_discard(conn);
}

/* ---------------------------------------------------------------- events */

static void accept_failed(struct vrb_conn *conn, const struct vrb_cm_event *event)
{
    const struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_PEER_REJECT_EVENT,
        .private_data = event->private_data,
        .private_length = event->private_length,
    };

    if (conn->state == VRB_CONN_ANNOUNCED) {
        vrb_conn_abandon(conn); /* the consumer learns it when it decides */
        return;
    }
    if (conn->state != VRB_CONN_CONFIRM)
        return;
    conn->state = VRB_CONN_NEW; /* nothing is on its way any more */
    if (event->type == RDMA_CM_EVENT_REJECTED && vrb_reason_is_consumer(conn->cm, event))
        (void)vrb_conn_end(conn, UAL_EP_ATTEMPT_FAILED, &news);
    else
        vrb_conn_fail(conn, vrb_reason_of_event(conn->cm, event));
}

void vrb_accept_event(struct vrb_conn *conn, const struct vrb_cm_event *event)
{
    switch ((unsigned)event->type) {
    case RDMA_CM_EVENT_ESTABLISHED:
        if (conn->state == VRB_CONN_CONFIRM)
            (void)vrb_conn_establish(conn, NULL, 0);
        break;
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
        accept_failed(conn, event);
        break;
    default:
        if (event->type == RDMA_CM_EVENT_DISCONNECTED && conn->state == VRB_CONN_ANNOUNCED)
            vrb_conn_abandon(conn);
        else
            vrb_conn_event(conn, event);
        break;
    }
}

/* ---------------------------------------------------------------- accept */

/* The peer is gone, as is only found out now: the request is put back and withdrawn. */
static it_status_t accept_too_late(struct vrb_conn *conn)
{
    conn->peer_gone = true;
    conn->state = VRB_CONN_ANNOUNCED;
    (void)vrb_conn_limit(conn, VRB_CM_WITHDRAW_NS); /* without memory it stays until the IA ends */
    return IT_ERR_INVALID_CN_EST_ID;
}

/* The EP is in its pending state: the outcome is an event. */
void vrb_accept_answer(struct vrb_conn *conn)
{
    int error;

    vrb_conn_decided(conn);
    if (!conn->cm->ia->is_iwarp && !vrb_qp_connect(conn)) {
        (void)rdma_reject(conn->id, NULL, 0);
        conn->state = VRB_CONN_NEW;
        vrb_conn_fail(conn, IT_CN_REJ_RESOURCES);
        return;
    }
    conn->state = VRB_CONN_CONFIRM;
    if (rdma_accept(conn->id, &conn->param) == 0)
        return;
    error = errno;
    conn->state = VRB_CONN_NEW;
    vrb_conn_fail(conn, vrb_reason_of_errno(error));
}

/*
 * A device of iWARP does not tell that the peer has given up until it is to answer. Nobody else takes
 * the EP out of UNCONNECTED meanwhile: that is done on this thread.
 */
static it_status_t accept_at_once(struct vrb_conn *conn, struct vrb_ep *ep, const it_path_t *path)
{
    int error;

    if (vrb_host->ep_state(ep->ual) != IT_EP_STATE_UNCONNECTED)
        return IT_ERR_INVALID_EP_STATE;
    if (rdma_accept(conn->id, &conn->param) != 0) {
        error = errno;
        (void)accept_too_late(conn);
        return error == ENOMEM ? IT_ERR_RESOURCES : IT_ERR_INVALID_CN_EST_ID;
    }
    vrb_conn_decided(conn);
    conn->state = VRB_CONN_CONFIRM;
    if (!vrb_conn_attach(conn, ep, UAL_EP_ACCEPT, path))
        vrb_conn_abandon(conn);
    return IT_SUCCESS;
}

static it_status_t accept_passive(struct vrb_conn *conn, const struct decision_call *call)
{
    it_path_t path = {.spigot_id = conn->request.spigot_id};
    it_status_t status = IT_SUCCESS;

    vrb_path_of_id(conn, &path);
    vrb_qp_wanted(conn, call->ep);
    vrb_qp_fill_param(conn, call->ep);
    conn->param.private_data = call->private_data;
    conn->param.private_data_len = (uint8_t)call->length;
    if (conn->cm->ia->is_iwarp)
        return accept_at_once(conn, call->ep, &path);
    if (!vrb_qp_is_wanted(conn))
        status = accept_too_late(conn);
    else if (!vrb_conn_attach(conn, call->ep, UAL_EP_ACCEPT, &path))
        status = IT_ERR_INVALID_EP_STATE;
    else
        vrb_accept_answer(conn);
    return status;
}

static void accept_run(void *argument)
{
    struct decision_call *call = argument;
    struct vrb_conn *conn = accept_conn_of(call->request);

    /* This thread may not have come to what the peer has done last. */
    if (!conn->peer_gone)
        vrb_cm_take_events(conn->cm);
    if (conn->peer_gone)
        call->status = IT_ERR_INVALID_CN_EST_ID;
    else if (conn->state == VRB_CONN_ANNOUNCED)
        call->status = accept_passive(conn, call);
    else if (conn->ep != call->ep)
        call->status = IT_ERR_INVALID_EP_STATE;
    else if (call->length > 0)
        call->status = IT_ERR_INVALID_PDATA_LENGTH; /* a confirmation carries none */
    else
        call->status = vrb_connect_confirm(conn);
}

it_status_t vrb_accept(struct ual_ep *ual, struct ual_request *request, const void *private_data,
                       size_t length)
{
    struct decision_call call = {
        .request = request,
        .ep = vrb_ep_of(ual),
        .private_data = private_data,
        .length = length,
    };

    vrb_host->ia_call(request->ia, accept_run, &call);
    return call.status;
}

/* ---------------------------------------------------------------- reject */

static void reject_run(void *argument)
{
    struct decision_call *call = argument;
    struct vrb_conn *conn = accept_conn_of(call->request);

    if (!conn->peer_gone)
        vrb_cm_take_events(conn->cm);
    if (conn->peer_gone) {
        call->status = IT_ERR_INVALID_CN_EST_ID;
        return;
    }
    if (rdma_reject(conn->id, call->private_data, (uint8_t)call->length) != 0 && !conn->active) {
        call->status = accept_too_late(conn);
        return;
    }
    call->status = IT_SUCCESS;
    conn->state = VRB_CONN_NEW;
    (void)vrb_conn_end(conn, UAL_EP_ATTEMPT_FAILED, NULL); /* the consumer knows */
}

it_status_t vrb_reject(struct ual_request *request, const void *private_data, size_t length)
{
    struct decision_call call = {
        .request = request,
        .private_data = private_data,
        .length = length,
    };

    vrb_host->ia_call(request->ia, reject_run, &call);
    return call.status;
}

/* ---------------------------------------------------------------- handoff */

/* The same request under a new id. False: the new EVD has no room, all is as before. */
static bool handoff_announce(struct vrb_conn *conn, const struct vrb_listener *listener)
{
    struct ual_request *request = &conn->request;
    struct ual_request before = *request;

    request->connect_evd = listener->info.connect_evd;
    vrb_host->request_add(request);
    if (vrb_host->request_offer(request) || !vrb_host->request_withdraw(request))
        return true;
    *request = before;
    return false;
}

static void handoff_run(void *argument)
{
    struct decision_call *call = argument;
    struct vrb_conn *conn = accept_conn_of(call->request);
    const struct vrb_listener *listener = vrb_listener_find(conn->cm, call->qual, call->spigot_id);

    if (conn->peer_gone || conn->active)
        call->status = IT_ERR_INVALID_CN_EST_ID;
    else if (!listener)
        call->status = IT_ERR_INVALID_CONN_QUAL;
    else if (!handoff_announce(conn, listener))
        call->status = IT_ERR_RESOURCES;
    else
        call->status = IT_SUCCESS;
}

it_status_t vrb_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    struct decision_call call = {
        .request = request,
        .qual = qual,
        .spigot_id = spigot_id,
    };

    vrb_host->ia_call(request->ia, handoff_run, &call);
    return call.status;
}
