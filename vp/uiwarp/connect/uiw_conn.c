/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include "tdi/iwarp/iw_marker.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/connect/uiw_options.h"
#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/stream/uiw_end.h"
#include "vp/uiwarp/stream/uiw_modify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONN_MARKER 4u /* the one at the start of a stream: a Terminate does not reach the next */

static struct uiw_conn *conn_of_task(struct evd_task *task)
{
    return (void *)((char *)task - offsetof(struct uiw_conn, cancel));
}

static struct evd_loop *conn_loop(const struct uiw_conn *conn)
{
    return conn->ia->ual->evd.loop;
}

/* ---------------------------------------------------------------- life */

static void conn_cancel_run(struct evd_task *task);

struct uiw_conn *uiw_conn_alloc(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role)
{
    struct uiw_conn *conn = calloc(1, sizeof(*conn));

    if (!conn)
        return NULL;
    conn->ia = ia;
    conn->role = role;
    conn->fd = fd;
    conn->cancel.run = conn_cancel_run;
    return conn;
}

static void conn_link(struct uiw_conn *conn)
{
    conn->linked = true;
    conn->next = conn->ia->cm.connections;
    if (conn->next)
        conn->next->prev = conn;
    conn->ia->cm.connections = conn;
}

struct uiw_conn *uiw_conn_new(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role)
{
    struct uiw_conn *conn = uiw_conn_alloc(ia, fd, role);

    if (conn)
        conn_link(conn);
    return conn;
}

void uiw_conn_forget(struct uiw_conn *conn)
{
    if (conn->half_open.source)
        uiw_half_open_remove(&conn->ia->cm.half_open, &conn->half_open);
    else if (conn->undecided)
        conn->ia->cm.undecided--;
    conn->undecided = false;
}

static void conn_unlink(struct uiw_conn *conn)
{
    if (conn->prev)
        conn->prev->next = conn->next;
    else if (conn->linked)
        conn->ia->cm.connections = conn->next;
    if (conn->next)
        conn->next->prev = conn->prev;
    uiw_conn_forget(conn);
    conn->state = UIW_CONN_OVER;
}

static void conn_free_memory(struct uiw_conn *conn)
{
    free(conn->buffer);
    free(conn);
}

/* Tasks on their way refer to the conn: then the last of them frees the memory. */
static void conn_free(struct uiw_conn *conn)
{
    conn_unlink(conn);
    if (!conn->cancelling && !conn->going)
        conn_free_memory(conn);
}

void uiw_conn_discard(struct uiw_conn *conn)
{
    conn->fd = -1;
    conn_free(conn);
}

bool uiw_conn_attach(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                     const it_path_t *path)
{
    struct uiw_conn **slot = uiw_ep_conn_slot(ep);
    bool stepped;

    base_lock_take(&ep->lock);
    /* The slot is empty whenever the EP is UNCONNECTED: a reset waits until the loop has left it. */
    stepped = *slot == NULL && ual_ep_step_locked(ep, step, NULL);
    if (stepped) {
        *slot = conn;
        conn->ep = ep;
        ep->dst_path = *path;
    }
    base_lock_drop(&ep->lock);
    return stepped;
}

bool uiw_conn_hand_over(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                        const it_path_t *path, void (*go)(struct evd_task *task))
{
    struct evd_loop *loop = conn_loop(conn);

    conn->go.run = go;
    conn->going = true; /* from the step on a cancel may come before it */
    if (!uiw_conn_attach(conn, ep, step, path)) {
        conn->going = false;
        return false;
    }
    (void)evd_loop_submit(loop, &conn->go); /* once */
    return true;
}

struct uiw_conn *uiw_conn_arrive(struct evd_task *task)
{
    struct uiw_conn *conn = (void *)((char *)task - offsetof(struct uiw_conn, go));

    conn->going = false;
    if (conn->state == UIW_CONN_OVER) {
        if (!conn->cancelling)
            conn_free_memory(conn);
        return NULL;
    }
    if (!conn->linked)
        conn_link(conn);
    return conn;
}

/* From here on the EP knows of no attempt. The caller is the last to use what is returned. */
static struct ual_ep *conn_detach(struct uiw_conn *conn)
{
    struct ual_ep *ep = conn->ep;
    struct uiw_conn **slot;

    if (!ep)
        return NULL;
    slot = uiw_ep_conn_slot(ep);
    base_lock_take(&ep->lock);
    if (*slot == conn)
        *slot = NULL;
    base_lock_drop(&ep->lock);
    conn->ep = NULL;
    return ep;
}

/* ---------------------------------------------------------------- ends */

static void conn_quiet(struct uiw_conn *conn)
{
    evd_io_unwatch(&conn->io);
    evd_timer_stop(&conn->timer);
    conn->watched = 0;
}

/* MPA has not begun: the stream is its owner's again, and only our descriptor is closed. */
static bool conn_is_handed_back(const struct uiw_conn *conn)
{
    return conn->borrowed && !conn->ours;
}

/* Nothing is to be delivered any more: nobody waits for the peer, which may stay for good. */
static void conn_cut_stream(struct uiw_conn *conn)
{
    conn_quiet(conn);
    if (conn->fd < 0)
        return;
    if (conn_is_handed_back(conn)) {
        uiw_options_restore(conn);
        (void)close(conn->fd);
    } else {
        uiw_reset_fd(conn->fd);
    }
    conn->fd = -1;
}

/* What we have said so far, and the tail, still reaches the peer, which then sees an orderly end. */
static void conn_linger(struct uiw_conn *conn, const void *tail, size_t tail_length)
{
    conn_quiet(conn);
    if (conn->fd < 0)
        return;
    if (conn->borrowed)
        uiw_options_change(conn); /* the caller's may make close(2) wait */
    uiw_linger(&conn->ia->cm.lingering, conn->fd, tail, tail_length);
    conn->fd = -1;
}

/* The consumer wants no stream back. A peer that has got nothing from us yet misses nothing. */
static void conn_abandon_stream(struct uiw_conn *conn)
{
    if (conn->undecided || (!conn->borrowed && !conn->ours))
        conn_cut_stream(conn);
    else
        conn_linger(conn, NULL, 0);
}

/* The stream has ended before: who reads the event may use a socket that was handed back. */
static void conn_report(struct uiw_conn *conn, const struct ual_conn_news *news)
{
    struct ual_ep *ep = conn_detach(conn);

    if (ep) /* false when it was disconnected meanwhile: that has been reported */
        (void)uiw_ep_end_attempt(ep, UAL_EP_ATTEMPT_FAILED, news);
    conn_free(conn);
}

void uiw_conn_finish(struct uiw_conn *conn, const struct ual_conn_news *news, const void *tail,
                     size_t tail_length)
{
    conn_linger(conn, tail, tail_length);
    conn_report(conn, news);
}

static void conn_fail(struct uiw_conn *conn, it_conn_reject_code_t code, bool peer_closed)
{
    struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
        .reject_code = code,
    };

    uiw_log_attempt(conn, code);
    if (peer_closed && !conn_is_handed_back(conn))
        conn_linger(conn, NULL, 0); /* for a moment: an orderly end is answered by one */
    else
        conn_cut_stream(conn);
    conn_report(conn, &news);
}

void uiw_conn_fail(struct uiw_conn *conn, it_conn_reject_code_t code)
{
    conn_fail(conn, code, false);
}

void uiw_conn_abandon(struct uiw_conn *conn)
{
    conn_abandon_stream(conn);
    (void)conn_detach(conn);
    conn_free(conn);
}

static void conn_cancel_run(struct evd_task *task)
{
    struct uiw_conn *conn = conn_of_task(task);

    if (conn->state != UIW_CONN_OVER) {
        conn_abandon_stream(conn);
        (void)conn_detach(conn);
        conn_unlink(conn);
    }
    conn->cancelling = false;
    if (!conn->going)
        conn_free_memory(conn);
}

static bool conn_is_pending(const struct ual_ep *ep)
{
    it_ep_state_rc_t state = ual_ep_state(ep);

    return state == IT_EP_STATE_ACTIVE1_CONNECTION_PENDING ||
           state == IT_EP_STATE_PASSIVE_CONNECTION_PENDING ||
           state == IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ;
}

static void conn_cancel_now(void *argument)
{
    struct ual_ep *ep = argument;
    struct uiw_conn *conn;

    base_lock_take(&ep->lock);
    conn = *uiw_ep_conn_slot(ep);
    base_lock_drop(&ep->lock);
    if (conn)
        uiw_conn_abandon(conn);
}

void uiw_conn_cancel(struct ual_ep *ep, bool wait)
{
    struct evd_loop *loop = ual_ia_of(&ep->object)->evd.loop;
    struct uiw_conn *conn;

    if (wait) {
        /* Also with an empty slot: the loop may be about to report on the EP. */
        evd_loop_call(loop, conn_cancel_now, ep);
        return;
    }
    base_lock_take(&ep->lock);
    conn = *uiw_ep_conn_slot(ep);
    /* Pending: the EP has been reset meanwhile, and this is its next attempt. */
    if (conn && (conn->cancelling || conn_is_pending(ep)))
        conn = NULL;
    if (conn)
        conn->cancelling = true; /* keeps the memory until the task has run */
    base_lock_drop(&ep->lock);
    if (conn)
        (void)evd_loop_submit(loop, &conn->cancel); /* once, by .cancelling */
}

void uiw_cm_close(struct uiw_ia *ia)
{
    struct uiw_conn *conn = ia->cm.connections;

    while (conn) {
        struct uiw_conn *next = conn->next;

        /* A request in the hands of a call stays; ia_close comes again. */
        if (conn->state != UIW_CONN_ANNOUNCED || ual_request_withdraw(&conn->request))
            uiw_conn_abandon(conn);
        conn = next;
    }
    uiw_linger_close_all(&ia->cm.lingering);
}

/* ---------------------------------------------------------------- established */

enum uiw_conn_next uiw_conn_establish(struct uiw_conn *conn, const struct iw_mpa_result *result,
                                      const void *private_data, size_t private_length)
{
    struct ual_conn_news news = {
        .private_data = private_data,
        .private_length = private_length,
    };
    bool initiator = conn->mpa.initiator;
    bool converted = conn->borrowed;
    struct uiw_ia *ia = conn->ia;
    struct ual_ep *ep;
    int fd = conn->fd;

    conn_quiet(conn);
    conn->fd = -1;
    if (!conn->borrowed) {
        uiw_net_unpace_local(fd, &conn->remote);
        uiw_net_unmap_socket(fd, &conn->remote);
    }
    ep = conn_detach(conn);
    if (uiw_stream_start(ep, fd, initiator, converted, result, conn->early, conn->early_length,
                         &news)) {
        uiw_cm_count(initiator ? &ia->cm.initiated : &ia->cm.accepted);
    } else {
        uiw_reset_fd(fd);
        news = (struct ual_conn_news){
            .number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
            .reject_code = IT_CN_REJ_RESOURCES,
        };
        /* No effect when it was the consumer who has disconnected. */
        (void)uiw_ep_end_attempt(ep, UAL_EP_ATTEMPT_FAILED, &news);
    }
    conn_free(conn);
    return UIW_NEXT_GONE;
}

/* ---------------------------------------------------------------- sending */

void uiw_conn_send(struct uiw_conn *conn, enum uiw_conn_state state, const uint8_t *octets,
                   size_t length)
{
    conn->state = state;
    conn->out = octets;
    conn->out_length = length;
    conn->out_sent = 0;
}

void uiw_conn_responder_config(struct uiw_conn *conn, struct iw_mpa_config *config)
{
    uiw_ep_mpa_config(conn->ep, conn->suppress, config);
    /* An EP that offers no RTR as initiator: to one who asks as such we must name what we take. */
    if (config->rtr == 0)
        config->rtr = IW_RTR_WRITE | IW_RTR_READ;
    /* It uses up a receive, so it is asked of those only who can send nothing else. */
    config->rtr |= IW_RTR_SEND;
}

void uiw_conn_send_request(struct uiw_conn *conn)
{
    size_t length =
        iw_mpa_encode_request(&conn->mpa, conn->private_data, conn->private_length, conn->frame);

    uiw_conn_send(conn, UIW_CONN_REQUEST, conn->frame, length);
}

void uiw_conn_send_reply(struct uiw_conn *conn)
{
    size_t length =
        iw_mpa_encode_reply(&conn->mpa, conn->private_data, conn->private_length, conn->frame);

    uiw_conn_send(conn, UIW_CONN_REPLY, conn->frame, length);
}

/* 0: all is out; EAGAIN: the socket is full; else it has failed. */
static int conn_flush(struct uiw_conn *conn)
{
    while (conn->out_sent < conn->out_length) {
        ssize_t sent = send(conn->fd, conn->out + conn->out_sent, conn->out_length - conn->out_sent,
                            MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EWOULDBLOCK ? EAGAIN : errno;
        conn->out_sent += (size_t)sent;
        if (conn->out == conn->frame)
            conn->ours = true;
    }
    return 0;
}

/* Steps of the states in which octets go out. *sent: all of them have. */
static enum uiw_conn_next conn_write(struct uiw_conn *conn, bool *sent)
{
    int error = conn_flush(conn);

    *sent = error == 0;
    if (error == 0)
        return UIW_NEXT_AGAIN;
    if (error == EAGAIN)
        return UIW_NEXT_WRITE;
    conn->error = error;
    uiw_conn_fail(conn, uiw_connect_reject_code(error));
    return UIW_NEXT_GONE;
}

/* Sending tells whether TCP is there: not yet, refused, or the Request is on its way. */
static enum uiw_conn_next conn_step_connecting(struct uiw_conn *conn)
{
    uiw_conn_send_request(conn);
    return UIW_NEXT_AGAIN;
}

static enum uiw_conn_next conn_step_message(struct uiw_conn *conn)
{
    bool sent;
    enum uiw_conn_next next = conn_write(conn, &sent);

    return sent ? conn->role->message_sent(conn) : next;
}

static enum uiw_conn_next conn_step_request(struct uiw_conn *conn)
{
    enum uiw_conn_next next;
    bool sent;

    if (conn->borrowed)
        uiw_options_change(conn);
    next = conn_write(conn, &sent);
    if (!sent)
        return next;
    conn->state = UIW_CONN_WAIT_REPLY;
    /* It takes a while, unless it has been read already. */
    return conn->early_length > 0 ? UIW_NEXT_AGAIN : UIW_NEXT_READ;
}

static enum uiw_conn_next conn_step_reply(struct uiw_conn *conn)
{
    bool sent;
    enum uiw_conn_next next = conn_write(conn, &sent);

    if (!sent)
        return next;
    /* The Request's private data was told with the request, unless the reply was automatic. */
    if (conn->borrowed)
        return uiw_conn_establish(conn, &conn->mpa.result, conn->mpa.private_data,
                                  conn->mpa.private_length);
    return uiw_conn_establish(conn, &conn->mpa.result, NULL, 0);
}

/* ---------------------------------------------------------------- reading */

static void conn_feed(struct uiw_conn *conn, const uint8_t *octets, size_t length)
{
    if (conn->borrowed)
        uiw_options_change(conn);
    conn->ours = true;
    (void)iw_mpa_feed(&conn->mpa, octets, length); /* the verdict stays in .mpa */
}

/* Octets the caller had read before the conversion come before those of the socket. */
static void conn_feed_early(struct uiw_conn *conn)
{
    while (conn->early_length > 0 && conn->mpa.verdict == IW_MPA_MORE) {
        size_t length = iw_mpa_wanted(&conn->mpa);

        if (length > conn->early_length)
            length = conn->early_length;
        conn_feed(conn, conn->early, length);
        conn->early += length;
        conn->early_length -= length;
    }
}

/*
 * Never past the frame on a converted socket, since what is behind it may be somebody else's. Of
 * others it is an initiator's first FPDUs, and a violation otherwise: it goes to `octets`, which the
 * caller keeps until it is consumed. 0: judged; EAGAIN: more must come; ECONNRESET: the peer has closed;
 * EBADMSG: in the middle of the frame.
 */
static int conn_read(struct uiw_conn *conn, uint8_t octets[IW_MPA_FRAME_MAX])
{
    conn_feed_early(conn);
    while (conn->mpa.verdict == IW_MPA_MORE) {
        size_t wanted = conn->borrowed ? iw_mpa_wanted(&conn->mpa) : IW_MPA_FRAME_MAX;
        ssize_t got = recv(conn->fd, octets, wanted, MSG_DONTWAIT);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno == EWOULDBLOCK ? EAGAIN : errno;
        if (got == 0)
            return conn->mpa.length > 0 ? EBADMSG : ECONNRESET;
        conn->early = octets;
        conn->early_length = (size_t)got;
        conn_feed_early(conn);
    }
    return 0;
}

static void conn_read_failed(struct uiw_conn *conn, int error)
{
    conn->error = error;
    conn_fail(conn, error == EBADMSG ? IT_CN_REJ_BAD_CONN_PARMS : uiw_connect_reject_code(error),
              true);
}

/* The Reply cannot be lived with, and the peer takes the connection for established: Terminate. */
static void conn_terminate(struct uiw_conn *conn)
{
    uint8_t fpdu[IW_TERMINATE_FPDU_MAX];
    uint8_t marked[CONN_MARKER + IW_TERMINATE_FPDU_MAX];
    struct iw_terminate terminate;
    struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
        .reject_code =
            conn->mpa.error == IW_ERR_MPA_IRD ? IT_CN_REJ_BAD_ORD : IT_CN_REJ_BAD_CONN_PARMS,
    };
    size_t length;

    uiw_log_attempt(conn, news.reject_code);
    iw_terminate_fill(&terminate, conn->mpa.error, NULL, 0, 0);
    /* A valid CRC is right whether or not one was agreed on. */
    length = iw_encode_terminate_fpdu(fpdu, &terminate, true);
    if (conn->mpa.result.send_markers) {
        length = iw_marker_insert(0, fpdu, length - IW_CRC_FIELD, true, marked);
        uiw_conn_finish(conn, &news, marked, length);
    } else {
        uiw_conn_finish(conn, &news, fpdu, length);
    }
}

static enum uiw_conn_next conn_step_wait_reply(struct uiw_conn *conn)
{
    struct ual_conn_news news = {.number = IT_CM_MSG_CONN_PEER_REJECT_EVENT};
    uint8_t octets[IW_MPA_FRAME_MAX];
    int error = conn_read(conn, octets);

    if (error == EAGAIN)
        return UIW_NEXT_READ;
    if (error != 0) {
        if (conn->retry && conn->mpa.length == 0 && conn->role->retry(conn))
            return UIW_NEXT_WRITE;
        conn_read_failed(conn, error);
        return UIW_NEXT_GONE;
    }
    switch (conn->mpa.verdict) {
    case IW_MPA_DONE:
        return uiw_conn_establish(conn, &conn->mpa.result, conn->mpa.private_data,
                                  conn->mpa.private_length);
    case IW_MPA_REJECTED:
        news.private_data = conn->mpa.private_data;
        news.private_length = conn->mpa.private_length;
        uiw_log_attempt(conn, news.reject_code);
        uiw_conn_finish(conn, &news, NULL, 0);
        break;
    case IW_MPA_TERMINATE:
        conn_terminate(conn);
        break;
    case IW_MPA_BAD:
    case IW_MPA_REFUSE:
    case IW_MPA_MORE:
        uiw_conn_fail(conn, IT_CN_REJ_BAD_CONN_PARMS);
        break;
    }
    return UIW_NEXT_GONE;
}

static enum uiw_conn_next conn_step_wait_request(struct uiw_conn *conn)
{
    struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
        .reject_code = IT_CN_REJ_BAD_CONN_PARMS,
    };
    uint8_t octets[IW_MPA_FRAME_MAX];
    int error = conn_read(conn, octets);

    if (error == EAGAIN)
        return UIW_NEXT_READ;
    if (error != 0) {
        conn_read_failed(conn, error);
        return UIW_NEXT_GONE;
    }
    if (conn->mpa.verdict == IW_MPA_REFUSE) {
        uiw_log_attempt(conn, news.reject_code);
        uiw_conn_finish(conn, &news, conn->frame, iw_mpa_encode_refusal(&conn->mpa, conn->frame));
        return UIW_NEXT_GONE;
    }
    if (conn->mpa.verdict != IW_MPA_DONE) {
        uiw_conn_fail(conn, IT_CN_REJ_BAD_CONN_PARMS);
        return UIW_NEXT_GONE;
    }
    if (!conn->borrowed) {
        /* Nothing may follow the Request: as if the peer had broken off. */
        conn->peer_gone = conn->early_length > 0;
        conn->early_length = 0;
        return conn->role->requested(conn);
    }
    uiw_conn_send_reply(conn);
    return UIW_NEXT_AGAIN;
}

/* ---------------------------------------------------------------- the machine */

/* Never taken: a conn that is over is watched by nothing. */
static enum uiw_conn_next conn_step_over(struct uiw_conn *conn)
{
    (void)conn;
    return UIW_NEXT_GONE;
}

static enum uiw_conn_next conn_step_announced(struct uiw_conn *conn)
{
    return conn->role->peer_stirs(conn);
}

static enum uiw_conn_next (*const conn_steps[UIW_CONN_STATES])(struct uiw_conn *) = {
    [UIW_CONN_CONNECTING] = conn_step_connecting,
    [UIW_CONN_MESSAGE] = conn_step_message,
    [UIW_CONN_REQUEST] = conn_step_request,
    [UIW_CONN_WAIT_REPLY] = conn_step_wait_reply,
    [UIW_CONN_WAIT_REQUEST] = conn_step_wait_request,
    [UIW_CONN_ANNOUNCED] = conn_step_announced,
    [UIW_CONN_REPLY] = conn_step_reply,
    [UIW_CONN_OVER] = conn_step_over,
};

static void conn_ready(void *argument, unsigned events)
{
    (void)events; /* each step tries its system call and finds out */
    uiw_conn_run(argument);
}

static bool conn_watch(struct uiw_conn *conn, unsigned events)
{
    if (conn->watched == events)
        return true;
    conn->watched = events;
    evd_io_unwatch(&conn->io);
    return events == 0 ||
           evd_io_watch(&conn->io, conn_loop(conn), conn->fd, events, conn_ready, conn);
}

void uiw_conn_run(struct uiw_conn *conn)
{
    enum uiw_conn_next next;
    unsigned events = 0;

    do {
        next = conn_steps[conn->state](conn);
    } while (next == UIW_NEXT_AGAIN);
    if (next == UIW_NEXT_GONE)
        return;
    if (next == UIW_NEXT_READ)
        events = EVD_IO_READ;
    else if (next == UIW_NEXT_WRITE)
        events = EVD_IO_WRITE;
    if (conn_watch(conn, events))
        return;
    conn->watched = 0;
    if (conn->state == UIW_CONN_ANNOUNCED)
        conn->role->withdraw(conn); /* the consumer may have the request in hand */
    else
        uiw_conn_fail(conn, IT_CN_REJ_RESOURCES);
}

static void conn_expired(void *argument)
{
    struct uiw_conn *conn = argument;

    if (conn->state == UIW_CONN_ANNOUNCED) {
        if (conn->peer_gone)
            conn->role->withdraw(conn);
        else
            uiw_conn_run(conn);
        return;
    }
    if (conn->undecided)
        conn->role->expired(conn);
    uiw_conn_fail(conn, IT_CN_REJ_TIMEOUT);
}

bool uiw_conn_limit(struct uiw_conn *conn, uint64_t delay_ns)
{
    return evd_timer_start(&conn->timer, conn_loop(conn), delay_ns, conn_expired, conn);
}

it_conn_reject_code_t uiw_connect_reject_code(int error)
{
    switch (error) {
    case ETIMEDOUT:
        return IT_CN_REJ_TIMEOUT;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
    case EADDRNOTAVAIL:
    case EACCES: /* a rule of the firewall, a broadcast address */
    case EPERM:
    case EINVAL:
        return IT_CN_REJ_BAD_PATH;
    case ENOMEM:
    case ENOBUFS:
    case EMFILE:
    case ENFILE:
        return IT_CN_REJ_RESOURCES;
    default:
        return IT_CN_REJ_OTHER;
    }
}
