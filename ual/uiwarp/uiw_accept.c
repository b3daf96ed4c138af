/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The passive side: half-open connections, requests that wait for the consumer, and its decision.
 * A request belongs to whoever has taken it from the table of ual_request.h; calls bring it to the
 * loop thread, where the connection lives.
 */
#include "ual/uiwarp/uiw_conn_private.h"
#include "ual/uiwarp/uiw_listen.h"
#include "ual/uiwarp/uiw_net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* One call of it_ep_accept, it_reject or it_handoff, on its way through the loop thread. */
struct decision_call {
    struct ual_request *request;
    struct ual_ep *ep;
    const void *private_data;
    size_t length;
    const it_conn_qual_t *qual;
    size_t spigot_id;
    it_status_t status;
};

static struct uiw_conn *accept_conn_of(struct ual_request *request)
{
    return (void *)((char *)request - offsetof(struct uiw_conn, request));
}

/* ---------------------------------------------------------------- half-open */

/* Only counted when it might matter: half_open counts both kinds together. */
static bool accept_is_full(const struct uiw_ia *ia, enum uiw_conn_state state, unsigned limit)
{
    unsigned count = 0;

    if (ia->cm.half_open < limit)
        return false;
    for (const struct uiw_conn *conn = ia->cm.connections; conn; conn = conn->next)
        count += conn->undecided && conn->state == state;
    return count >= limit;
}

static void accept_fill_request(struct uiw_conn *conn, const struct sockaddr_storage *peer)
{
    const struct ual_listen *listen = conn->listener->listen;
    struct ual_request *request = &conn->request;
    uint16_t port = 0;

    request->ia = conn->ia->ual;
    request->connect_evd = listen->connect_evd;
    request->spigot_id = listen->spigot_id;
    request->conn_qual = listen->conn_qual;
    (void)uiw_net_from_sockaddr(peer, &request->source_addr,
                                &port); /* an IP address: cannot fail */
    if (request->conn_qual.type == IT_IANA_LR_PORT)
        request->conn_qual.conn_qual.lr_port.remote = port;
    conn->suppress = (listen->flags & IT_LISTEN_SUPPRESS_IRD_ORD) != 0;
}

void uiw_accept_begin(struct uiw_ia *ia, struct uiw_listener *listener, int fd,
                      const struct sockaddr_storage *peer)
{
    /* Which EP answers is not known yet: all that this provider can do. */
    struct iw_mpa_config config = {
        .revision = 2,
        .crc = true,
        .peer_to_peer = true,
        .rtr = IW_RTR_SEND | IW_RTR_WRITE | IW_RTR_READ,
        .ird = UIW_MAX_DEPTH,
        .ord = UIW_MAX_DEPTH,
    };
    struct uiw_conn *conn;
    int on = 1;

    if (accept_is_full(ia, UIW_CONN_WAIT_REQUEST, ia->cm.half_open_max)) {
        uiw_cm_count(&ia->cm.half_open_refused);
        uiw_reset_fd(fd);
        return;
    }
    conn = uiw_conn_new(ia, fd);
    if (!conn) {
        uiw_reset_fd(fd);
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* costs speed at most */
    conn->undecided = true;
    ia->cm.half_open++;
    conn->state = UIW_CONN_WAIT_REQUEST;
    conn->listener = listener;
    accept_fill_request(conn, peer);
    config.suppress_depths = conn->suppress;
    iw_mpa_init(&conn->mpa, false, &config);
    if (!uiw_conn_limit(conn, UIW_HALF_OPEN_NS)) {
        uiw_conn_fail(conn, IT_CN_REJ_RESOURCES);
        return;
    }
    uiw_conn_run(conn);
}

bool uiw_accept_drop_oldest(struct uiw_ia *ia)
{
    struct uiw_conn *oldest = NULL;

    /* New ones are put in front. */
    for (struct uiw_conn *conn = ia->cm.connections; conn; conn = conn->next)
        if (conn->undecided && conn->state == UIW_CONN_WAIT_REQUEST)
            oldest = conn;
    if (!oldest)
        return false;
    uiw_cm_count(&ia->cm.half_open_refused);
    uiw_conn_abandon(oldest);
    return true;
}

void uiw_accept_abort(struct uiw_ia *ia, const struct uiw_listener *listener)
{
    struct uiw_conn *conn = ia->cm.connections;

    while (conn) {
        struct uiw_conn *next = conn->next;

        if (conn->listener == listener)
            uiw_conn_abandon(conn);
        conn = next;
    }
}

/* ---------------------------------------------------------------- asking the consumer */

/* The peer says nothing until it has our Reply: an octet or an end now means it is out. */
static bool accept_peer_is_quiet(const struct uiw_conn *conn)
{
    unsigned char octet;
    ssize_t got = recv(conn->fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT);

    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

/* Without a Reply: the reject bit is the consumer's, and this one has not been asked. */
static enum uiw_conn_next accept_turn_away(struct uiw_conn *conn)
{
    uiw_conn_fail(conn, IT_CN_REJ_RESOURCES); /* no EP: nothing is reported */
    return UIW_NEXT_GONE;
}

/* Read depths as the peer said them; 3fff says nothing. */
static uint32_t accept_depth(const struct iw_mpa *mpa, unsigned shift)
{
    uint32_t depth = (mpa->peer_word >> shift) & IW_MPA_DEPTH_NONE;

    return mpa->peer_enhanced && depth != IW_MPA_DEPTH_NONE ? depth : 0;
}

enum uiw_conn_next uiw_accept_requested(struct uiw_conn *conn)
{
    struct ual_request *request = &conn->request;

    if (accept_is_full(conn->ia, UIW_CONN_ANNOUNCED, conn->ia->cm.undecided_max)) {
        uiw_cm_count(&conn->ia->cm.half_open_refused);
        return accept_turn_away(conn);
    }
    evd_timer_stop(&conn->timer); /* the consumer may take its time */
    conn->state = UIW_CONN_ANNOUNCED;
    conn->listener = NULL;
    request->peer_ird = accept_depth(&conn->mpa, 16);
    request->peer_ord = accept_depth(&conn->mpa, 0);
    request->private_data = conn->mpa.private_data;
    request->private_length = conn->mpa.private_length;
    ual_request_add(request);
    /* A call that takes it now waits for this thread: the conn is still here afterwards. */
    if (ual_request_announce(request) || !ual_request_withdraw(request))
        return UIW_NEXT_READ;
    return accept_turn_away(conn); /* the EVD is full */
}

void uiw_accept_withdraw(struct uiw_conn *conn)
{
    /* A call that has the request in hand either takes the conn over or puts the request back. */
    if (ual_request_withdraw(&conn->request))
        uiw_conn_fail(conn, IT_CN_REJ_OTHER);
    else
        (void)uiw_conn_limit(conn, UIW_WITHDRAW_NS); /* without memory it stays until the IA ends */
}

enum uiw_conn_next uiw_accept_peer_stirs(struct uiw_conn *conn)
{
    if (conn->peer_gone)
        return UIW_NEXT_NOTHING;
    if (accept_peer_is_quiet(conn))
        return UIW_NEXT_READ;
    conn->peer_gone = true;
    if (!ual_request_withdraw(&conn->request)) {
        (void)uiw_conn_limit(conn, UIW_WITHDRAW_NS);
        return UIW_NEXT_NOTHING;
    }
    uiw_conn_fail(conn, IT_CN_REJ_OTHER);
    return UIW_NEXT_GONE;
}

/* ---------------------------------------------------------------- accept */

static void accept_decided(struct uiw_conn *conn)
{
    conn->undecided = false;
    conn->ia->cm.half_open--;
}

static void accept_answer(struct uiw_conn *conn)
{
    struct iw_mpa_config config;

    uiw_conn_responder_config(conn, &config);
    if (config.revision < conn->mpa.peer_revision) {
        /* A reset makes such initiators come back with revision 1. */
        int fd = conn->fd;

        evd_io_unwatch(&conn->io);
        conn->fd = -1;
        uiw_reset_fd(fd);
        uiw_conn_fail(conn, IT_CN_REJ_BAD_CONN_PARMS);
        return;
    }
    conn->mpa.config = config;
    if (!uiw_conn_limit(conn, UIW_REPLY_NS)) {
        uiw_conn_fail(conn, IT_CN_REJ_RESOURCES);
        return;
    }
    uiw_conn_send_reply(conn);
    uiw_conn_run(conn);
}

static void accept_run(void *argument)
{
    struct decision_call *call = argument;
    struct uiw_conn *conn = accept_conn_of(call->request);
    it_path_t path = {.spigot_id = call->request->spigot_id};

    /* Looked at once more: the loop may not have come to what the peer has done last. */
    if (conn->peer_gone || !accept_peer_is_quiet(conn) || !uiw_net_path_of(conn->fd, &path)) {
        call->status = IT_ERR_INVALID_CN_EST_ID;
        return;
    }
    if (!uiw_conn_attach(conn, call->ep, UAL_EP_ACCEPT, &path)) {
        call->status = IT_ERR_INVALID_EP_STATE;
        return;
    }
    call->status = IT_SUCCESS;
    accept_decided(conn);
    if (call->length > 0)
        memcpy(conn->private_data, call->private_data, call->length);
    conn->private_length = call->length;
    accept_answer(conn);
}

it_status_t uiw_accept(struct ual_ep *ep, struct ual_request *request, const void *private_data,
                       size_t length)
{
    struct decision_call call = {
        .request = request,
        .ep = ep,
        .private_data = private_data,
        .length = length,
    };

    if (length > IT_MAX_PRIV_DATA)
        return IT_ERR_INVALID_PDATA_LENGTH;
    evd_loop_call(request->ia->evd.loop, accept_run, &call);
    return call.status;
}

/* ---------------------------------------------------------------- reject */

static void reject_run(void *argument)
{
    struct decision_call *call = argument;
    struct uiw_conn *conn = accept_conn_of(call->request);
    size_t length;

    if (conn->peer_gone || !accept_peer_is_quiet(conn)) {
        call->status = IT_ERR_INVALID_CN_EST_ID;
        return;
    }
    call->status = IT_SUCCESS;
    length = iw_mpa_encode_reject(&conn->mpa, call->private_data, call->length, conn->frame);
    uiw_conn_finish(conn, NULL, conn->frame, length); /* no EP: nothing is reported */
}

it_status_t uiw_reject(struct ual_request *request, const void *private_data, size_t length)
{
    struct decision_call call = {
        .request = request,
        .private_data = private_data,
        .length = length,
    };

    if (length > IT_MAX_PRIV_DATA)
        return IT_ERR_INVALID_PDATA_LENGTH;
    evd_loop_call(request->ia->evd.loop, reject_run, &call);
    return call.status;
}

/* ---------------------------------------------------------------- handoff */

/* The same request under a new id. False: the new EVD has no room, all is as before. */
static bool handoff_announce(struct uiw_conn *conn, const struct ual_listen *listen)
{
    struct ual_request *request = &conn->request;
    it_cn_est_identifier_t old_id = request->id;
    struct evd *old_evd = request->connect_evd;

    request->connect_evd = listen->connect_evd;
    ual_request_add(request);
    if (ual_request_announce_unless_full(request) || !ual_request_withdraw(request))
        return true;
    request->id = old_id;
    request->connect_evd = old_evd;
    return false;
}

static void handoff_run(void *argument)
{
    struct decision_call *call = argument;
    struct uiw_conn *conn = accept_conn_of(call->request);
    struct ual_listen *listen = uiw_listen_find(conn->ia, call->qual, call->spigot_id);

    if (conn->peer_gone) {
        call->status = IT_ERR_INVALID_CN_EST_ID;
    } else if (!listen) {
        call->status = IT_ERR_INVALID_CONN_QUAL;
    } else if (!handoff_announce(conn, listen)) {
        call->status = IT_ERR_RESOURCES;
    } else {
        conn->suppress = (listen->flags & IT_LISTEN_SUPPRESS_IRD_ORD) != 0;
        call->status = IT_SUCCESS;
    }
}

it_status_t uiw_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    struct decision_call call = {
        .request = request,
        .qual = qual,
        .spigot_id = spigot_id,
    };

    if (spigot_id != 1)
        return IT_ERR_INVALID_SPIGOT;
    evd_loop_call(request->ia->evd.loop, handoff_run, &call);
    return call.status;
}
