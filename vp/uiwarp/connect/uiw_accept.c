/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The passive side: half-open connections, requests that wait for the consumer, and its decision. A
 * request belongs to the call that has taken it from the table of ual_request.h; the call hands it
 * to the loop's thread, to which the connection belongs.
 */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include "base/base_log.h"
#include "vp/uiwarp/net/uiw_net.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct uiw_conn *uiw_accept_conn_of(struct ual_request *request)
{
    return BASE_ITEM(request, struct uiw_conn, request);
}

/* ---------------------------------------------------------------- half-open */

static void accept_evict(struct uiw_ia *ia, struct uiw_half_open *entry)
{
    struct uiw_conn *conn = BASE_ITEM(entry, struct uiw_conn, half_open);

    base_log_limited(BASE_LOG_WARN, "%s dropped: too many streams (%u) wait for an MPA Request",
                     uiw_net_text(&conn->remote).chars, ia->cm.half_open.all.count);
    uiw_cm_count(&ia->cm.half_open_refused);
    uiw_conn_step(conn, UIW_ON_CLOSE);
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
 * Returns a low descriptor for the stream. The kernel assigns the lowest free number, so a high one
 * means that descriptors are scarce. Then the oldest half-open stream is dropped and the new one
 * takes its number, as long as enough are half-open.
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
    struct uiw_half_open *oldest = uiw_half_open_oldest(&ia->cm.half_open);

    if (oldest)
        accept_evict(ia, oldest);
    return oldest != NULL;
}

/* A request in the table has its stream: the conn gives it up only after the withdrawal. */
void uiw_request_addresses_locked(struct ual_request *request, struct itx_ep_addresses *addresses)
{
    const struct uiw_conn *conn = uiw_accept_conn_of(request);
    struct sockaddr_storage local;

    (void)base_net_local(conn->fd, &local); /* cannot fail: connected */
    uiw_tell_address(&local, &addresses->local);
    uiw_tell_address(&conn->remote, &addresses->remote);
}

static void accept_fill_request(struct uiw_conn *conn, const struct sockaddr_storage *peer)
{
    const struct ual_listen *listen = conn->listener->listen;
    struct ual_request *request = &conn->request;
    struct sockaddr_storage local;
    uint16_t *port;

    request->ia = conn->ia->ual;
    request->connect_evd = listen->connect_evd;
    request->spigot_id = listen->spigot_id;
    request->conn_qual = listen->conn_qual;
    port = base_net_listen_port(&request->conn_qual);
    if (*port == 0) {                           /* a stream that the program has handed over */
        (void)base_net_local(conn->fd, &local); /* cannot fail: connected */
        *port = base_net_port(&local);
    }
    /* Cannot fail: an IP address. */
    (void)base_net_from_sockaddr(peer, &request->source_addr);
    if (request->conn_qual.type == IT_IANA_LR_PORT)
        request->conn_qual.conn_qual.lr_port.remote = base_net_port(peer);
    conn->mpa.config.suppress_depths = (listen->flags & IT_LISTEN_SUPPRESS_IRD_ORD) != 0;
    conn->remote = *peer;
}

/* Returns a half-open conn. NULL: no memory. */
static struct uiw_conn *accept_conn(struct uiw_ia *ia, struct uiw_listener *listener, int fd,
                                    const struct sockaddr_storage *peer)
{
    struct uiw_conn *conn = uiw_conn_new(ia, fd, &uiw_accept_role);

    if (!conn)
        return NULL;
    conn->listener = listener;
    accept_fill_request(conn, peer);
    if (!uiw_half_open_add(&ia->cm.half_open, &conn->half_open, &conn->request.source_addr)) {
        uiw_conn_end(conn);
        return NULL;
    }
    return conn;
}

void uiw_accept_begin(struct uiw_ia *ia, struct uiw_listener *listener, int fd,
                      const struct sockaddr_storage *peer)
{
    /* No EP is chosen yet, so this offers all that the provider supports. */
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
    config.suppress_depths = conn->mpa.config.suppress_depths;
    iw_mpa_init(&conn->mpa, false, &config);
    uiw_conn_step(conn, uiw_conn_limit(conn, UIW_HALF_OPEN_NS) ? UIW_ON_NOTHING : UIW_ON_NO_MEMORY);
    accept_make_room(ia, &source); /* a stream with its Request has left the table */
}

/* No Request came in time. */
static bool accept_expired(struct uiw_conn *conn)
{
    base_log_limited(BASE_LOG_WARN, "%s dropped: no MPA Request in %u s",
                     uiw_net_text(&conn->remote).chars,
                     (unsigned)(UIW_HALF_OPEN_NS / BASE_NS_PER_S));
    uiw_cm_count(&conn->ia->cm.half_open_timeouts);
    return uiw_act_fail.run(conn);
}

void uiw_accept_abort(struct uiw_ia *ia, const struct uiw_listener *listener)
{
    BASE_LIST_EACH_REMOVABLE(struct uiw_conn, conn, &ia->cm.connections, link) {
        if (conn->listener == listener)
            uiw_conn_step(conn, UIW_ON_CLOSE);
    }
}

/* ---------------------------------------------------------------- asking the consumer */

/* Also looks at the socket: the loop may not have handled the peer's last octets yet. */
bool uiw_accept_peer_is_there(const struct uiw_conn *conn)
{
    return conn->state != UIW_CONN_GONE && uiw_conn_peer_is_quiet(conn);
}

/* Resets the stream without a Reply: only the consumer may reject, and it was not asked. */
static bool accept_turn_away(struct uiw_conn *conn, const char *why)
{
    base_log_limited(BASE_LOG_WARN, "request of %s reset: %s", uiw_net_text(&conn->remote).chars,
                     why);
    uiw_conn_fail(conn, IT_CN_REJ_RESOURCES); /* reports nothing: there is no EP */
    return false;
}

/* Returns a read depth from the peer's Request; 0x3fff means none. */
static uint32_t accept_depth(const struct iw_mpa *mpa, unsigned shift)
{
    uint32_t depth = (mpa->peer_word >> shift) & IW_MPA_DEPTH_NONE;

    return mpa->peer_enhanced && depth != IW_MPA_DEPTH_NONE ? depth : 0;
}

/* Announces an acceptable Request to the consumer, which decides. */
static bool accept_announce(struct uiw_conn *conn)
{
    struct ual_request *request = &conn->request;
    struct uiw_cm *cm = &conn->ia->cm;

    if (cm->undecided >= cm->undecided_max) {
        uiw_cm_count(&cm->half_open_refused);
        return accept_turn_away(conn, "too many are undecided");
    }
    /* The peer is watched only if the consumer takes longer than this. */
    if (!uiw_conn_limit(conn, UIW_DECISION_NS))
        return accept_turn_away(conn, "no memory");
    uiw_half_open_remove(&cm->half_open, &conn->half_open);
    conn->listener = NULL;
    request->peer_ird = accept_depth(&conn->mpa, 16);
    request->peer_ord = accept_depth(&conn->mpa, 0);
    request->private_data = conn->mpa.private_data;
    request->private_length = conn->mpa.private_length;
    ual_request_add(request);
    /* A call that takes the request now waits for this thread, so the conn stays valid. */
    if (ual_request_announce(request) || !ual_request_withdraw(request))
        return true;
    return accept_turn_away(conn, "the event dispatcher of the listen point is full");
}

/*
 * Withdraws the request. If a call of the program has it, that call takes over the conn or puts the
 * request back, so this tries again later.
 */
static bool accept_withdraw(struct uiw_conn *conn)
{
    if (!ual_request_withdraw(&conn->request)) {
        (void)uiw_conn_limit(conn, UIW_WITHDRAW_NS); /* or the conn stays until the IA closes */
        return false;
    }
    uiw_conn_fail(conn, IT_CN_REJ_OTHER);
    return true;
}

/* ---------------------------------------------------------------- the decision */

static bool accept_answer(struct uiw_conn *conn)
{
    struct iw_mpa_config config;

    uiw_conn_responder_config(conn, &config);
    if (config.revision < conn->mpa.peer_revision) {
        /* After a reset such Initiators connect again with revision 1. */
        uiw_conn_fail(conn, IT_CN_REJ_BAD_CONN_PARMS);
        return false;
    }
    conn->mpa.config = config;
    if (!uiw_conn_limit(conn, UIW_REPLY_NS)) {
        uiw_conn_fail(conn, IT_CN_REJ_RESOURCES);
        return false;
    }
    return uiw_act_reply.run(conn);
}

/* Sends a rejecting Reply. Reports nothing: there is no EP. */
static bool accept_reject(struct uiw_conn *conn)
{
    size_t length;

    /* it_ia_free: the program has not decided, so no Reply is sent. */
    if (atomic_load_explicit(&conn->ia->ual->evd.closing, memory_order_relaxed))
        return uiw_act_drop.run(conn);
    length =
        iw_mpa_encode_reject(&conn->mpa, conn->private_data, conn->private_length, conn->frame);
    uiw_conn_finish(conn, NULL, conn->frame, length);
    return true;
}

/* The event of the established connection has no private data: the request event had it. */
static bool accept_establish(struct uiw_conn *conn)
{
    uiw_conn_establish(conn, &conn->mpa.result, NULL, 0);
    return true;
}

static const struct uiw_conn_act accept_expired_act = {"counts it, resets the stream",
                                                       accept_expired};
static const struct uiw_conn_act accept_announce_act = {
    "announces the request; no room: resets the stream", accept_announce};
static const struct uiw_conn_act accept_withdraw_act = {
    "takes the request back, resets the stream; a call has it in hand: starts the timer",
    accept_withdraw};
static const struct uiw_conn_act accept_answer_act = {
    "makes the Reply; revision too high: resets the stream, reports the failure", accept_answer};
static const struct uiw_conn_act accept_reject_act = {"sends a rejecting Reply, closes",
                                                      accept_reject};
static const struct uiw_conn_act accept_establish_act = {
    "hands the stream to the engine, without private data", accept_establish};

#define ACCEPT_HALF_OPEN (UIW_IN(WAIT_REQUEST) | UIW_IN(READ_REQUEST))
#define ACCEPT_ANNOUNCED (UIW_IN(ANNOUNCED) | UIW_IN(WATCHED))

static const struct uiw_conn_row accept_rows[] = {
    UIW_ROW(ACCEPT_HALF_OPEN, UIW_ON(MOVED), NULL, READ_REQUEST),
    UIW_ROW_OR(UIW_IN(READ_REQUEST), UIW_ON(DONE), &accept_announce_act, ANNOUNCED, OVER),
    UIW_ROW(UIW_IN(READ_REQUEST), UIW_ON(REFUSE), &uiw_act_refuse, OVER),
    UIW_ROW(UIW_IN(READ_REQUEST), UIW_ON(BAD), &uiw_act_fail, OVER),
    UIW_ROW(ACCEPT_HALF_OPEN, UIW_ON(LOST), &uiw_act_close, OVER),
    UIW_ROW(ACCEPT_HALF_OPEN, UIW_ON(EXPIRED), &accept_expired_act, OVER),
    UIW_ROW(ACCEPT_HALF_OPEN, UIW_ON(NO_MEMORY), &uiw_act_fail, OVER),
    UIW_ROW(ACCEPT_HALF_OPEN, UIW_ON(CLOSE), &uiw_act_drop, OVER),
    UIW_ROW(UIW_IN(ANNOUNCED), UIW_ON(EXPIRED), NULL, WATCHED),
    UIW_ROW_OR(UIW_IN(WATCHED), UIW_ON(LOST) | UIW_ON(NO_MEMORY), &accept_withdraw_act, OVER, GONE),
    UIW_ROW_OR(UIW_IN(GONE), UIW_ON(EXPIRED), &accept_withdraw_act, OVER, SAME),
    UIW_ROW_OR(ACCEPT_ANNOUNCED, UIW_ON(ACCEPT), &accept_answer_act, REPLY, OVER),
    UIW_ROW(UIW_IN(GONE), UIW_ON(ACCEPT), &uiw_act_fail, OVER),
    UIW_ROW(ACCEPT_ANNOUNCED, UIW_ON(REJECT), &accept_reject_act, OVER),
    UIW_ROW(UIW_CONN_UNDECIDED, UIW_GIVEN_UP, &uiw_act_drop, OVER),
    UIW_ROW(UIW_IN(REPLY), UIW_ON(MOVED), NULL, SAME),
    UIW_ROW(UIW_IN(REPLY), UIW_ON(SENT), &accept_establish_act, OVER),
    UIW_ROW(UIW_IN(REPLY), UIW_ON(LOST) | UIW_FAILURES, &uiw_act_fail, OVER),
    UIW_ROW(UIW_IN(REPLY), UIW_GIVEN_UP, &uiw_act_leave, OVER),
};

const struct uiw_conn_role uiw_accept_role = {
    .first = UIW_CONN_WAIT_REQUEST,
    UIW_ROWS(accept_rows),
};

/* ---------------------------------------------------------------- it_ep_accept */

static void accept_go(struct evd_task *task)
{
    struct uiw_conn *conn = uiw_conn_arrive(task);

    if (conn)
        uiw_conn_step(conn, UIW_ON_ACCEPT);
}

static bool accept_tell_path(const struct uiw_conn *conn, it_path_t *path)
{
    struct sockaddr_storage local;

    return base_net_local(conn->fd, &local) && uiw_net_path_between(&local, &conn->remote, path);
}

/* Runs in the caller's thread up to the EP's step: the caller need not wait for the loop. */
it_status_t uiw_accept(struct ual_ep *ep, struct ual_request *request, const void *private_data,
                       size_t length)
{
    struct uiw_conn *conn = uiw_accept_conn_of(request);
    it_path_t path = {.spigot_id = request->spigot_id};

    if (!uiw_accept_peer_is_there(conn) || !accept_tell_path(conn, &path))
        return IT_ERR_INVALID_CN_EST_ID;
    if (length > 0)
        memcpy(conn->private_data, private_data, length);
    conn->private_length = length;
    return uiw_conn_hand_over(conn, ep, UAL_EP_ACCEPT, &path, accept_go) ? IT_SUCCESS
                                                                         : IT_ERR_INVALID_EP_STATE;
}

/* ---------------------------------------------------------------- it_reject */

struct reject_call {
    struct ual_request *request;
    const void *private_data;
    size_t length;
};

static it_status_t reject_run(void *argument)
{
    const struct reject_call *call = argument;
    struct uiw_conn *conn = uiw_accept_conn_of(call->request);

    if (!uiw_accept_peer_is_there(conn))
        return IT_ERR_INVALID_CN_EST_ID;
    if (call->length > 0)
        memcpy(conn->private_data, call->private_data, call->length);
    conn->private_length = call->length;
    uiw_conn_step(conn, UIW_ON_REJECT);
    return IT_SUCCESS;
}

it_status_t uiw_reject(struct ual_request *request, const void *private_data, size_t length)
{
    struct reject_call call = {
        .request = request,
        .private_data = private_data,
        .length = length,
    };

    return evd_loop_run(request->ia->evd.loop, reject_run, &call);
}
