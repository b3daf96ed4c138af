/* SPDX-License-Identifier: BSD-2-Clause */
/* Connecting, listening, accepting, rejecting, disconnecting. */
#include "cm/ofa_cm.h"
#include "cm/ofa_cm_datagram.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

static void *owner_of(const struct cm_id *id)
{
    return (void *)id->serial;
}

static uint32_t depth(uint8_t asked)
{
    return asked > CM_READS_MAX ? CM_READS_MAX : asked;
}

/* Returns EINVAL for a depth over the limit that is not the constant for "the maximum". */
static int check_depths(const struct rdma_conn_param *param)
{
    return (param->responder_resources > CM_READS_MAX &&
            param->responder_resources != RDMA_MAX_RESP_RES) ||
                   (param->initiator_depth > CM_READS_MAX &&
                    param->initiator_depth != RDMA_MAX_INIT_DEPTH)
               ? EINVAL
               : 0;
}

static size_t data_length(const struct rdma_conn_param *param)
{
    return param && param->private_data ? param->private_data_len : 0;
}

/* Returns the queue pair of the connection: the id's own, or the one that the program names. */
static struct ibv_qp *find_qp(struct cm_id *id, const struct rdma_conn_param *param)
{
    if (id->base.qp)
        return id->base.qp;
    return param && id->base.verbs ? cm_door()->find(id->base.verbs, param->qp_num) : NULL;
}

static uint8_t retries(uint8_t asked)
{
    return asked < CM_RETRIES_MAX ? asked : CM_RETRIES_MAX;
}

static void fill_call(struct ofa_call *call, const struct cm_id *id,
                      const struct rdma_conn_param *param)
{
    static const struct rdma_conn_param most = {.responder_resources = RDMA_MAX_RESP_RES,
                                                .initiator_depth = RDMA_MAX_INIT_DEPTH,
                                                .retry_count = CM_RETRIES_MAX,
                                                .rnr_retry_count = CM_RETRIES_MAX};

    if (!param)
        param = &most;
    call->data = param->private_data;
    call->length = data_length(param);
    call->ird = depth(param->responder_resources);
    call->ord = depth(param->initiator_depth);
    call->timeout = id->ack_timeout;
    call->retry_cnt = retries(param->retry_count);
    call->rnr_retry = retries(param->rnr_retry_count);
}

/* ---- The active side ------------------------------------------------------------------------ */

/*
 * Connects from the port of the id. If another process has taken a port that the program has not
 * chosen, it connects from any other. Returns 0 or errno.
 */
static int call_peer(struct cm_id *id, struct ibv_qp *qp, struct ofa_call *call)
{
    struct sockaddr_storage local = id->base.route.addr.src_storage;
    int error;

    call->peer = &id->base.route.addr.dst_addr;
    call->local = (const struct sockaddr *)&local;
    cm_release_port(id);
    error = cm_door()->connect(qp, call);
    if (error != EADDRINUSE || id->chosen_port)
        return error;
    ofa_port_set((struct sockaddr *)&local, 0);
    return cm_door()->connect(qp, call);
}

int rdma_connect(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
    struct cm_id *id = cm_id_of(base);
    struct ofa_call call = {.peer = NULL};
    struct ibv_qp *qp;
    int error;

    if (cm_id_state(id) != CM_ROUTE_RESOLVED)
        return cm_result(EINVAL);
    if (param && check_depths(param) != 0)
        return cm_result(EINVAL);
    if (base->qp_type == IBV_QPT_UD) {
        error = cm_datagram_connect(id, param);
        return error != 0 ? cm_result(error) : cm_complete(id);
    }
    qp = find_qp(id, param);
    if (!qp || cm_check_data(data_length(param), CM_REQUEST_DATA) != 0)
        return cm_result(EINVAL);
    error = cm_event_reserve(id);
    if (error != 0)
        return cm_result(error);
    fill_call(&call, id, param);
    cm_id_set_qp(id, qp);
    cm_door()->watch(qp, cm_on_connection, owner_of(id), base->qp != NULL);
    cm_id_set_state(id, CM_CONNECTING);
    error = call_peer(id, qp, &call);
    if (error != 0) {
        cm_id_set_state(id, CM_ROUTE_RESOLVED);
        return cm_result(error);
    }
    return cm_complete(id);
}

/* Takes the answer that waits for the program's decision. Returns false without one. */
static bool take_answer(struct cm_id *id, enum cm_state next)
{
    bool answered;

    (void)pthread_mutex_lock(&cm_lock);
    answered = id->answered && id->state == CM_CONNECTED;
    if (answered)
        id->state = next;
    id->answered = false;
    (void)pthread_mutex_unlock(&cm_lock);
    return answered;
}

int rdma_establish(struct rdma_cm_id *base)
{
    return cm_result(base->qp || !take_answer(cm_id_of(base), CM_CONNECTED) ? EINVAL : 0);
}

/* Ends the connection of a queue pair that the program moves itself, if it still exists. */
static void leave(struct cm_id *id)
{
    uint32_t number;
    bool exists;

    (void)pthread_mutex_lock(&cm_lock);
    exists = id->qp != NULL;
    number = id->qp_num;
    (void)pthread_mutex_unlock(&cm_lock);
    if (exists)
        cm_door()->leave(id->base.verbs, number);
}

/* ---- The passive side ----------------------------------------------------------------------- */

int rdma_listen(struct rdma_cm_id *base, int backlog)
{
    struct cm_id *id = cm_id_of(base);
    const struct sockaddr *address = &base->route.addr.src_addr;
    struct sockaddr_storage any;
    struct ofa_listener *listener = NULL;
    bool both;
    int error;

    if (cm_id_state(id) == CM_IDLE) {
        ofa_port_any(&any, 0);
        if (rdma_bind_addr(base, (struct sockaddr *)&any) != 0)
            return -1;
    }
    if (cm_id_state(id) != CM_BOUND)
        return cm_result(EINVAL);
    if (base->qp_type != IBV_QPT_UD)
        ofa_port_share(id->port_socket);
    id->backlog = backlog > 0 && backlog < CM_BACKLOG_MAX ? backlog : CM_BACKLOG_MAX;
    cm_id_set_state(id, CM_LISTENING); /* requests may arrive before the call returns */
    both = address->sa_family == AF_INET6 && cm_is_any(address) && !id->family_only;
    error = base->qp_type == IBV_QPT_UD ? cm_datagram_listen(id)
                                        : cm_door()->listen(cm_context(), address, both,
                                                            cm_on_request, owner_of(id), &listener);
    if (error != 0) {
        cm_id_set_state(id, CM_BOUND);
        return cm_result(error);
    }
    (void)pthread_mutex_lock(&cm_lock);
    id->listener = listener;
    (void)pthread_mutex_unlock(&cm_lock);
    return 0;
}

static it_cn_est_identifier_t take_request(struct cm_id *id, enum cm_state next)
{
    it_cn_est_identifier_t request;

    (void)pthread_mutex_lock(&cm_lock);
    request = id->state == CM_REQUESTED ? id->request : 0;
    if (request) {
        id->request = 0;
        id->state = next;
    }
    (void)pthread_mutex_unlock(&cm_lock);
    return request;
}

/* Fills in the parameters for rdma_accept without any: the depths that the peer requested. */
static void fill_answer(const struct cm_id *id, struct rdma_conn_param *param)
{
    memset(param, 0, sizeof(*param));
    param->responder_resources = id->responder_resources;
    param->initiator_depth = id->initiator_depth;
    param->retry_count = param->rnr_retry_count = CM_RETRIES_MAX;
}

/* A request whose answer has too much private data is rejected, and the queue pair is of no use. */
static int refuse_to_accept(struct cm_id *id)
{
    it_cn_est_identifier_t request = take_request(id, CM_OVER);

    if (request) {
        (void)cm_door()->reject(request, NULL, 0);
        if (id->base.qp)
            cm_disconnect(id->base.qp);
    }
    return cm_result(EINVAL);
}

int rdma_accept(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
    struct cm_id *id = cm_id_of(base);
    struct rdma_conn_param asked;
    struct ofa_call call = {.peer = NULL};
    it_cn_est_identifier_t request;
    struct ibv_qp *qp;
    int error;

    if (base->qp_type == IBV_QPT_UD)
        return cm_result(cm_datagram_accept(id, param));
    fill_answer(id, &asked);
    if (!param)
        param = &asked;
    if (check_depths(param) != 0)
        return cm_result(EINVAL);
    qp = find_qp(id, param);
    if (!qp)
        return cm_result(EINVAL);
    if (cm_check_data(data_length(param), CM_REPLY_DATA) != 0)
        return refuse_to_accept(id);
    error = cm_event_reserve(id);
    if (error != 0)
        return cm_result(error);
    fill_call(&call, id, param);
    cm_id_set_qp(id, qp);
    cm_door()->watch(qp, cm_on_connection, owner_of(id), base->qp != NULL);
    request = take_request(id, CM_ACCEPTING);
    if (!request)
        return cm_result(EINVAL);
    if (base->qp)
        (void)cm_door()->set_state(qp, IBV_QPS_RTS);
    error = cm_door()->accept(qp, request, &call);
    if (error != 0) {
        cm_id_set_state(id, CM_OVER);
        return cm_result(error);
    }
    return cm_complete(id);
}

int rdma_reject(struct rdma_cm_id *base, const void *private_data, uint8_t length)
{
    struct cm_id *id = cm_id_of(base);
    it_cn_est_identifier_t request;

    if (base->qp_type == IBV_QPT_UD)
        return cm_result(cm_datagram_reject(id, private_data, private_data ? length : 0));
    if (private_data && cm_check_data(length, CM_REJECT_DATA) != 0)
        return cm_result(EINVAL);
    request = take_request(id, CM_OVER);
    if (request)
        return cm_result(cm_door()->reject(request, private_data, private_data ? length : 0));
    if (!take_answer(id, CM_OVER))
        return cm_result(EINVAL);
    leave(id);
    return 0;
}

/* ---- The end -------------------------------------------------------------------------------- */

/* Returns true if the program has not got all events of the id. */
static bool has_event(const struct cm_id *id)
{
    struct pollfd channel = {.fd = id->base.channel->fd, .events = POLLIN};

    return poll(&channel, 1, 0) == 1;
}

/* On a synchronous id, waits for the event only if the id has a connection that has not ended. */
int rdma_disconnect(struct rdma_cm_id *base)
{
    struct cm_id *id = cm_id_of(base);
    enum cm_state state = cm_id_state(id);

    if (state < CM_CONNECTING)
        return cm_result(EINVAL);
    if (base->qp)
        cm_disconnect(base->qp);
    else
        leave(id);
    if (base->qp_type == IBV_QPT_UD || (id->sync && state == CM_OVER && !has_event(id)))
        return 0;
    return cm_complete(id);
}

/* Data may arrive before the event of the connection; there is nothing to do but wait for it. */
int rdma_notify(struct rdma_cm_id *base, enum ibv_event_type event)
{
    enum cm_state state = cm_id_state(cm_id_of(base));

    if (event == IBV_EVENT_COMM_EST && state == CM_CONNECTED)
        return cm_result(EISCONN);
    return cm_result(event == IBV_EVENT_COMM_EST && state == CM_ACCEPTING ? 0 : EINVAL);
}
