/* SPDX-License-Identifier: BSD-2-Clause */
/* Connecting and accepting. */
#include "cm/ofa_cm.h"
#include "rsocket/ofa_rsocket.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>

#define RESOLVE_MS 2000

static int fail(int error)
{
    errno = error;
    return -1;
}

bool rs_nonblocking(const struct rsock *rs, int flags)
{
    return (rs->flags & O_NONBLOCK) || (flags & MSG_DONTWAIT);
}

/*
 * Fills the parameters. Neither end uses Reads, but an iWARP peer may open the connection with one.
 */
static void fill_parameters(struct rdma_conn_param *param, unsigned char hello[RS_HELLO_BYTES])
{
    memset(param, 0, sizeof(*param));
    param->private_data = hello;
    param->private_data_len = RS_HELLO_BYTES;
    param->responder_resources = 1;
    param->initiator_depth = 1;
    param->flow_control = 1;
    param->retry_count = 7;
    param->rnr_retry_count = 7;
}

/* ---- The active side ------------------------------------------------------------------------ */

/* Gets the event of a step of resolving, which comes at once. Returns its errno or 0. */
static int take_answer(struct rsock *rs)
{
    struct rdma_cm_event *event;
    int error;

    if (rdma_get_cm_event(rs->channel, &event) != 0)
        return errno;
    error = event->status < 0 ? -event->status : 0;
    (void)rdma_ack_cm_event(event);
    return error;
}

static int resolve(struct rsock *rs, struct sockaddr_storage *peer)
{
    int error;

    if (rdma_resolve_addr(rs->id, NULL, (struct sockaddr *)peer, RESOLVE_MS) != 0)
        return errno;
    error = take_answer(rs);
    if (error != 0)
        return error;
    if (rdma_resolve_route(rs->id, RESOLVE_MS) != 0)
        return errno;
    return take_answer(rs);
}

static int start_connecting(struct rsock *rs, struct sockaddr_storage *peer)
{
    unsigned char hello[RS_HELLO_BYTES];
    struct rdma_conn_param param;
    int error = resolve(rs, peer);

    if (error == 0)
        error = rs_create_queue(rs);
    if (error != 0)
        return error;
    rs_describe(rs, hello);
    fill_parameters(&param, hello);
    if (rdma_connect(rs->id, &param) != 0)
        return errno;
    rs->state = RS_CONNECTING;
    return 0;
}

static bool is_settled(const struct rsock *rs)
{
    return rs->state != RS_CONNECTING;
}

static int connect_stream(struct rsock *rs, struct sockaddr_storage *peer)
{
    int error;

    if (rs->state == RS_CONNECTING)
        return EALREADY;
    if (rs->state > RS_CONNECTING)
        return EISCONN;
    if (rs->state == RS_LISTENING)
        return EOPNOTSUPP;
    error = start_connecting(rs, peer);
    if (error != 0) {
        rs_fail(rs, error);
        return error;
    }
    error = rs_await(rs, is_settled, rs_nonblocking(rs, 0));
    if (error == EAGAIN)
        return EINPROGRESS;
    if (error == 0 && rs->state == RS_FAILED) {
        error = rs->error;
        rs->error = 0;
    }
    return error;
}

int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
    struct rsock *rs = rs_find(socket);
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    int error;

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM)
        return connect(socket, addr, addrlen);
    if (!addr || addrlen > sizeof(peer) || addrlen < sizeof(sa_family_t) ||
        ofa_address_length(addr) == 0 || addrlen < ofa_address_length(addr))
        return fail(EINVAL);
    memcpy(&peer, addr, addrlen);
    (void)pthread_mutex_lock(&rs->lock);
    error = connect_stream(rs, &peer);
    (void)pthread_mutex_unlock(&rs->lock);
    return error == 0 ? 0 : fail(error);
}

/* ---- The passive side ----------------------------------------------------------------------- */

/* Sets up a new rsocket for a request: its channel, buffers and the peer's data. 0 or errno. */
static int equip(struct rsock *rs, struct rdma_cm_event *event)
{
    rs->id = event->id;
    rs->channel = rdma_create_event_channel();
    if (!rs->channel || rdma_migrate_id(rs->id, rs->channel) != 0)
        return errno;
    rs->fd = rs->channel->fd;
    if (rs_create_queue(rs) != 0)
        return errno;
    return rs_learn(rs, event->param.conn.private_data, event->param.conn.private_data_len);
}

static int answer(struct rsock *rs)
{
    unsigned char hello[RS_HELLO_BYTES];
    struct rdma_conn_param param;

    rs_describe(rs, hello);
    fill_parameters(&param, hello);
    rs->state = RS_ACCEPTING;
    return rdma_accept(rs->id, &param) == 0 ? 0 : errno;
}

/* Accepts a request. Returns the new rsocket; NULL: the request has failed, or *error is set. */
static struct rsock *take_request(struct rsock *listener, struct rdma_cm_event *event, int *error)
{
    struct rsock *rs = rs_new(SOCK_STREAM, listener->option);

    *error = rs ? equip(rs, event) : ENOMEM;
    if (*error == 0)
        *error = rs_enter(rs);
    if (*error == 0)
        *error = answer(rs);
    if (*error == 0)
        return rs;
    if (rs)
        rs_delete(rs);
    else
        (void)rdma_destroy_id(event->id);
    return NULL;
}

static struct rsock *accept_next(struct rsock *listener, int *error)
{
    struct rsock *rs = NULL;
    struct rdma_cm_event *event;

    do {
        *error = rs_await(listener, rs_has_events, rs_nonblocking(listener, 0));
        if (*error != 0)
            return NULL;
        if (rdma_get_cm_event(listener->channel, &event) != 0)
            continue;
        if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
            rs = take_request(listener, event, error);
        (void)rdma_ack_cm_event(event);
    } while (!rs && *error != ENOMEM && *error != EMFILE);
    return rs;
}

/*
 * Does not wait until the connection is established, since a slow peer would delay others. The
 * first read or write waits.
 */
int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
    struct rsock *listener = rs_find(socket);
    struct rsock *rs;
    int error = EINVAL;

    if (!listener)
        return -1;
    if (listener->type == SOCK_DGRAM)
        return fail(EOPNOTSUPP);
    (void)pthread_mutex_lock(&listener->lock);
    rs = listener->state == RS_LISTENING ? accept_next(listener, &error) : NULL;
    (void)pthread_mutex_unlock(&listener->lock);
    if (!rs)
        return fail(error);
    if (addr && addrlen)
        (void)rgetpeername(rs->fd, addr, addrlen);
    return rs->fd;
}

/* ---- Events --------------------------------------------------------------------------------- */

static void on_event(struct rsock *rs, const struct rdma_cm_event *event)
{
    switch ((int)event->event) {
    case RDMA_CM_EVENT_ESTABLISHED:
        if (rs->state == RS_CONNECTING &&
            rs_learn(rs, event->param.conn.private_data, event->param.conn.private_data_len) != 0) {
            rs_fail(rs, EPROTO);
            (void)rdma_disconnect(rs->id);
            return;
        }
        /* The peer's messages may have arrived before, and ended the connection. */
        if (rs->state == RS_CONNECTING || rs->state == RS_ACCEPTING)
            rs->state = RS_CONNECTED;
        return;
    case RDMA_CM_EVENT_REJECTED:
        rs_fail(rs, ECONNREFUSED);
        return;
    case RDMA_CM_EVENT_UNREACHABLE:
        rs_fail(rs, ETIMEDOUT);
        return;
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_DISCONNECTED:
        /* The peer has not announced the end, or the state would be RS_OVER. */
        if (rs->state != RS_OVER)
            rs_fail(rs, ECONNRESET);
        (void)rdma_disconnect(rs->id); /* its completions wake threads that wait in the CQ */
        return;
    default:
        return;
    }
}

bool rs_has_events(const struct rsock *rs)
{
    return !ofa_fifo_is_empty(&((struct cm_channel *)(void *)rs->channel)->fifo);
}

void rs_take_events(struct rsock *rs)
{
    struct rdma_cm_event *event;

    while (rs->state != RS_LISTENING && rs_has_events(rs)) {
        if (rdma_get_cm_event(rs->channel, &event) != 0)
            return;
        on_event(rs, event);
        (void)rdma_ack_cm_event(event);
    }
}
