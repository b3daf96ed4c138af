/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The passive side: half-open connections, requests that wait for the consumer, and its decision.
 * A request belongs to whoever has taken it from the table of ual_request.h, and its conn stays
 * ANNOUNCED meanwhile; calls bring it to the loop thread, where the connection lives.
 */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include "base/base_log.h"
#include "vp/uiwarp/connect/uiw_listen.h"
#include "vp/uiwarp/net/uiw_net.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct uiw_conn *uiw_accept_conn_of(struct ual_request *request)
{
    return (void *)((char *)request - offsetof(struct uiw_conn, request));
}

/* ---------------------------------------------------------------- half-open */

static void accept_evict(struct uiw_ia *ia, struct uiw_half_open *entry)
{
    struct uiw_conn *conn = (void *)((char *)entry - offsetof(struct uiw_conn, half_open));

    base_log_limited(BASE_LOG_WARN, "%s dropped: too many streams (%u) wait for an MPA Request",
                     uiw_net_text(&conn->remote).chars, ia->cm.half_open.all.count);
    uiw_cm_count(&ia->cm.half_open_refused);
    uiw_conn_abandon(conn);
}

static unsigned accept_share(const struct uiw_ia *ia)
{
    size_t share = atomic_load_explicit(&ia->ual->half_open_share, memory_order_relaxed);

    if (share == 0)
        share = (ia->cm.half_open_max + 1) / 2;
    return share < ia->cm.half_open_max ? (unsigned)share : ia->cm.half_open_max;
}

static void accept_make_room(struct uiw_ia *ia, const it_net_addr_t *source)
{
    unsigned share = accept_share(ia);
    struct uiw_half_open *excess;

    while ((excess = uiw_half_open_excess(&ia->cm.half_open, source, share,
                                          ia->cm.half_open_max)) != NULL)
        accept_evict(ia, excess);
}

/*
 * The kernel hands out the lowest free number, so a high one means that all below are in use. Then
 * the new stream takes the number of the oldest that waits, until few do.
 */
static int accept_spare(struct uiw_ia *ia, int fd)
{
    struct uiw_cm *cm = &ia->cm;
    int lower;

    if (fd < cm->scarce_fd || cm->half_open.all.count <= cm->half_open_max / UIW_HALF_OPEN_FLOOR)
        return fd;
    (void)uiw_accept_drop_oldest(ia);
    lower = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (lower < 0)
        return fd;
    (void)close(fd);
    return lower;
}

bool uiw_accept_is_crowded(const struct uiw_ia *ia, bool already)
{
    unsigned floor = ia->cm.half_open_max / UIW_HALF_OPEN_FLOOR;

    return ia->cm.half_open.all.count >= (already ? floor / 2 : floor);
}

bool uiw_accept_drop_oldest(struct uiw_ia *ia)
{
    if (!ia->cm.half_open.all.oldest)
        return false;
    accept_evict(ia, ia->cm.half_open.all.oldest);
    return true;
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
    /* IP addresses: cannot fail. */
    (void)uiw_net_from_sockaddr(peer, &request->source_addr, &port);
    if (request->conn_qual.type == IT_IANA_LR_PORT)
        request->conn_qual.conn_qual.lr_port.remote = port;
    conn->suppress = (listen->flags & IT_LISTEN_SUPPRESS_IRD_ORD) != 0;
    conn->remote = *peer;
}

/* NULL without memory. */
static struct uiw_conn *accept_conn(struct uiw_ia *ia, struct uiw_listener *listener, int fd,
                                    const struct sockaddr_storage *peer)
{
    struct uiw_conn *conn = uiw_conn_new(ia, fd, &uiw_accept_role);

    if (!conn)
        return NULL;
    conn->state = UIW_CONN_WAIT_REQUEST;
    conn->listener = listener;
    accept_fill_request(conn, peer);
    if (!uiw_half_open_add(&ia->cm.half_open, &conn->half_open, &conn->request.source_addr)) {
        uiw_conn_discard(conn);
        return NULL;
    }
    conn->undecided = true;
    return conn;
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
    it_net_addr_t source;
    struct uiw_conn *conn;

    fd = accept_spare(ia, fd);
    conn = accept_conn(ia, listener, fd, peer);
    if (!conn) {
        uiw_reset_fd(fd);
        return;
    }
    source = conn->request.source_addr;
    config.suppress_depths = conn->suppress;
    iw_mpa_init(&conn->mpa, false, &config);
    if (!uiw_conn_limit(conn, UIW_HALF_OPEN_NS)) {
        uiw_conn_fail(conn, IT_CN_REJ_RESOURCES);
        return;
    }
    uiw_conn_run(conn);
    accept_make_room(ia, &source); /* nobody goes for one whose Request is here */
}

/* Time is up for its Request. */
static void accept_expired(struct uiw_conn *conn)
{
    base_log_limited(BASE_LOG_WARN, "%s dropped: no MPA Request in %u s",
                     uiw_net_text(&conn->remote).chars,
                     (unsigned)(UIW_HALF_OPEN_NS / BASE_NS_PER_S));
    uiw_cm_count(&conn->ia->cm.half_open_timeouts);
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

/* Looked at once more: the loop may not have come to what the peer has done last. */
bool uiw_accept_peer_is_there(const struct uiw_conn *conn)
{
    return !conn->peer_gone && accept_peer_is_quiet(conn);
}

/* Without a Reply: the reject bit is the consumer's, and this one has not been asked. */
static enum uiw_conn_next accept_turn_away(struct uiw_conn *conn, const char *why)
{
    base_log_limited(BASE_LOG_WARN, "request of %s reset: %s", uiw_net_text(&conn->remote).chars,
                     why);
    uiw_conn_fail(conn, IT_CN_REJ_RESOURCES); /* no EP: nothing is reported */
    return UIW_NEXT_GONE;
}

/* Read depths as the peer said them; 3fff says nothing. */
static uint32_t accept_depth(const struct iw_mpa *mpa, unsigned shift)
{
    uint32_t depth = (mpa->peer_word >> shift) & IW_MPA_DEPTH_NONE;

    return mpa->peer_enhanced && depth != IW_MPA_DEPTH_NONE ? depth : 0;
}

/* Passive and undecided: the Request has been judged; watches the peer while the consumer decides. */
static enum uiw_conn_next accept_requested(struct uiw_conn *conn)
{
    struct ual_request *request = &conn->request;
    struct uiw_cm *cm = &conn->ia->cm;

    if (cm->undecided >= cm->undecided_max) {
        uiw_cm_count(&cm->half_open_refused);
        return accept_turn_away(conn, "too many are undecided");
    }
    /* The consumer may take its time. Only if it does, the peer is watched meanwhile. */
    if (!uiw_conn_limit(conn, UIW_DECISION_NS))
        return accept_turn_away(conn, "no memory");
    uiw_half_open_remove(&cm->half_open, &conn->half_open);
    cm->undecided++;
    conn->state = UIW_CONN_ANNOUNCED;
    conn->listener = NULL;
    request->peer_ird = accept_depth(&conn->mpa, 16);
    request->peer_ord = accept_depth(&conn->mpa, 0);
    request->private_data = conn->mpa.private_data;
    request->private_length = conn->mpa.private_length;
    ual_request_add(request);
    /* A call that takes it now waits for this thread: the conn is still here afterwards. */
    if (ual_request_announce(request) || !ual_request_withdraw(request))
        return UIW_NEXT_NOTHING;
    return accept_turn_away(conn, "the event dispatcher of the listen point is full");
}

static void accept_withdraw(struct uiw_conn *conn)
{
    /* A call that has the request in hand either takes the conn over or puts the request back. */
    if (ual_request_withdraw(&conn->request))
        uiw_conn_fail(conn, IT_CN_REJ_OTHER);
    else
        (void)uiw_conn_limit(conn, UIW_WITHDRAW_NS); /* without memory it stays until the IA ends */
}

static enum uiw_conn_next accept_peer_stirs(struct uiw_conn *conn)
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

static void accept_answer(struct uiw_conn *conn)
{
    struct iw_mpa_config config;

    uiw_conn_responder_config(conn, &config);
    if (config.revision < conn->mpa.peer_revision) {
        /* The reset makes such initiators come back with revision 1. */
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

static void accept_go(struct evd_task *task)
{
    struct uiw_conn *conn = uiw_conn_arrive(task);

    if (!conn)
        return;
    uiw_conn_forget(conn);
    if (conn->peer_gone)
        uiw_conn_fail(conn, IT_CN_REJ_OTHER);
    else
        accept_answer(conn);
}

static bool accept_tell_path(const struct uiw_conn *conn, it_path_t *path)
{
    struct sockaddr_storage local = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(local);

    return getsockname(conn->fd, (struct sockaddr *)&local, &length) == 0 &&
           uiw_net_path_between(&local, &conn->remote, path);
}

/* In the caller's thread up to the step, so that nobody waits for the loop. */
it_status_t uiw_accept(struct ual_ep *ep, struct ual_request *request, const void *private_data,
                       size_t length)
{
    struct uiw_conn *conn = uiw_accept_conn_of(request);
    it_path_t path = {.spigot_id = request->spigot_id};

    if (length > IT_MAX_PRIV_DATA)
        return IT_ERR_INVALID_PDATA_LENGTH;
    if (!uiw_accept_peer_is_there(conn) || !accept_tell_path(conn, &path))
        return IT_ERR_INVALID_CN_EST_ID;
    if (length > 0)
        memcpy(conn->private_data, private_data, length);
    conn->private_length = length;
    return uiw_conn_hand_over(conn, ep, UAL_EP_ACCEPT, &path, accept_go) ? IT_SUCCESS
                                                                         : IT_ERR_INVALID_EP_STATE;
}

/* ---------------------------------------------------------------- reject */

static void reject_run(void *argument)
{
    struct uiw_decision *call = argument;
    struct uiw_conn *conn = uiw_accept_conn_of(call->request);
    size_t length;

    if (!uiw_accept_peer_is_there(conn)) {
        call->status = IT_ERR_INVALID_CN_EST_ID;
        return;
    }
    call->status = IT_SUCCESS;
    if (atomic_load_explicit(&conn->ia->ual->evd.closing, memory_order_relaxed)) {
        uiw_conn_abandon(conn); /* by it_ia_free: no program has decided, so there is no Reply */
        return;
    }
    length = iw_mpa_encode_reject(&conn->mpa, call->private_data, call->length, conn->frame);
    uiw_conn_finish(conn, NULL, conn->frame, length); /* no EP: nothing is reported */
}

it_status_t uiw_reject(struct ual_request *request, const void *private_data, size_t length)
{
    struct uiw_decision call = {
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

const struct uiw_conn_role uiw_accept_role = {
    .requested = accept_requested,
    .peer_stirs = accept_peer_stirs,
    .withdraw = accept_withdraw,
    .expired = accept_expired,
};
