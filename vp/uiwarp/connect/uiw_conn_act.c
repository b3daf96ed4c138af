/* SPDX-License-Identifier: BSD-2-Clause */
/* Acts that roles share: sending frames, and every end of an attempt. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include "tdi/iwarp/iw_marker.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <errno.h>
#include <unistd.h>

#define CONN_MARKER 4u /* of the only marker: a Terminate ends before the second */

/* ---------------------------------------------------------------- sending */

void uiw_conn_send(struct uiw_conn *conn, const uint8_t *octets, size_t length)
{
    conn->out = octets;
    conn->out_length = length;
    conn->out_sent = 0;
}

void uiw_conn_send_request(struct uiw_conn *conn)
{
    uiw_conn_send(
        conn, conn->frame,
        iw_mpa_encode_request(&conn->mpa, conn->private_data, conn->private_length, conn->frame));
}

void uiw_conn_responder_config(struct uiw_conn *conn, struct iw_mpa_config *config)
{
    uiw_ep_mpa_config(conn->ep, conn->mpa.config.suppress_depths, config);
    /* The EP offers no RTR as Initiator. As Responder it must still name those it accepts. */
    if (config->rtr == 0)
        config->rtr = IW_RTR_WRITE | IW_RTR_READ;
    /* A Send takes a receive, so it is only used for Initiators that can send nothing else. */
    config->rtr |= IW_RTR_SEND;
}

static bool act_reply(struct uiw_conn *conn)
{
    uiw_conn_send(
        conn, conn->frame,
        iw_mpa_encode_reply(&conn->mpa, conn->private_data, conn->private_length, conn->frame));
    return true;
}

const struct uiw_conn_act uiw_act_reply = {"makes the Reply", act_reply};

/* ---------------------------------------------------------------- ends of the stream */

static void act_quiet(struct uiw_conn *conn)
{
    evd_io_unwatch(&conn->io);
    evd_timer_stop(&conn->timer);
}

/* Resets the stream: no octets are left to deliver, and the peer might never close. */
static void act_reset(struct uiw_conn *conn)
{
    act_quiet(conn);
    if (conn->fd >= 0)
        uiw_reset_fd(conn->fd);
    conn->fd = -1;
}

/* Closes in order: the octets sent so far and the tail still reach the peer. */
static void act_linger(struct uiw_conn *conn, const void *tail, size_t tail_length)
{
    act_quiet(conn);
    if (conn->fd < 0)
        return;
    if (conn->role->converts)
        uiw_options_change(conn->fd); /* the caller's options may make close(2) wait */
    uiw_linger(&conn->ia->cm.lingering, conn->fd, tail, tail_length);
    conn->fd = -1;
}

/* ---------------------------------------------------------------- failures */

/* Converts the errno of UIW_ON_LOST to the reject code of an event. */
static it_conn_reject_code_t act_reject_code(int error)
{
    if (error == EBADMSG)
        return IT_CN_REJ_BAD_CONN_PARMS;
    return error == EINVAL ? IT_CN_REJ_BAD_PATH : base_net_reject_code(error);
}

static it_conn_reject_code_t act_code(const struct uiw_conn *conn)
{
    if (conn->event == UIW_ON_LOST)
        return act_reject_code(conn->error);
    if (conn->event == UIW_ON_EXPIRED)
        return IT_CN_REJ_TIMEOUT;
    if (conn->event == UIW_ON_NO_MEMORY)
        return IT_CN_REJ_RESOURCES;
    if (conn->event == UIW_ON_ACCEPT) /* the peer has left */
        return IT_CN_REJ_OTHER;
    return IT_CN_REJ_BAD_CONN_PARMS; /* because of the peer's frame */
}

/*
 * Reports after the stream has ended: a program that gets the event may use the socket that was
 * handed back to it.
 */
static void act_report(struct uiw_conn *conn, const struct ual_conn_news *news)
{
    struct ual_ep *ep = uiw_conn_detach(conn);

    if (ep) /* false if the program has disconnected, which was reported */
        (void)uiw_ep_end_attempt(ep, UAL_EP_ATTEMPT_FAILED, news);
}

static struct ual_conn_news act_failure(it_conn_reject_code_t code)
{
    return (struct ual_conn_news){
        .number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
        .reject_code = code,
    };
}

void uiw_conn_fail(struct uiw_conn *conn, it_conn_reject_code_t code)
{
    const struct ual_conn_news news = act_failure(code);

    uiw_log_attempt(conn, code);
    act_reset(conn);
    act_report(conn, &news);
}

void uiw_conn_finish(struct uiw_conn *conn, const struct ual_conn_news *news, const void *tail,
                     size_t tail_length)
{
    if (news)
        uiw_log_attempt(conn, news->reject_code);
    act_linger(conn, tail, tail_length);
    act_report(conn, news);
}

static bool act_fail(struct uiw_conn *conn)
{
    uiw_conn_fail(conn, act_code(conn));
    return true;
}

static bool act_close(struct uiw_conn *conn)
{
    const struct ual_conn_news news = act_failure(act_code(conn));

    uiw_conn_finish(conn, &news, NULL, 0);
    return true;
}

static bool act_hand_back(struct uiw_conn *conn)
{
    const struct ual_conn_news news = act_failure(act_code(conn));

    uiw_log_attempt(conn, news.reject_code);
    act_quiet(conn);
    uiw_options_restore(conn);
    (void)close(conn->fd);
    conn->fd = -1;
    act_report(conn, &news);
    return true;
}

const struct uiw_conn_act uiw_act_fail = {"resets the stream, reports the failure", act_fail};
const struct uiw_conn_act uiw_act_close = {"closes the stream, reports the failure", act_close};
const struct uiw_conn_act uiw_act_hand_back = {
    "leaves the socket to its owner, reports the failure", act_hand_back};

/* ---------------------------------------------------------------- ends without a report */

static bool act_drop(struct uiw_conn *conn)
{
    act_reset(conn);
    (void)uiw_conn_detach(conn);
    return true;
}

static bool act_leave(struct uiw_conn *conn)
{
    act_linger(conn, NULL, 0);
    (void)uiw_conn_detach(conn);
    return true;
}

const struct uiw_conn_act uiw_act_drop = {"resets the stream", act_drop};
const struct uiw_conn_act uiw_act_leave = {"closes the stream", act_leave};

/* ---------------------------------------------------------------- the peer's frame */

static bool act_rejected(struct uiw_conn *conn)
{
    const struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_PEER_REJECT_EVENT,
        .private_data = conn->mpa.private_data,
        .private_length = conn->mpa.private_length,
    };

    uiw_conn_finish(conn, &news, NULL, 0);
    return true;
}

static bool act_refuse(struct uiw_conn *conn)
{
    const struct ual_conn_news news = act_failure(act_code(conn));

    uiw_conn_finish(conn, &news, conn->frame, iw_mpa_encode_refusal(&conn->mpa, conn->frame));
    return true;
}

/* The Reply is not acceptable, but the peer treats the connection as established. */
static bool act_terminate(struct uiw_conn *conn)
{
    uint8_t fpdu[IW_TERMINATE_FPDU_MAX];
    uint8_t marked[CONN_MARKER + IW_TERMINATE_FPDU_MAX];
    struct iw_terminate terminate;
    const struct ual_conn_news news = act_failure(
        conn->mpa.error == IW_ERR_MPA_IRD ? IT_CN_REJ_BAD_ORD : IT_CN_REJ_BAD_CONN_PARMS);
    size_t length;

    iw_terminate_fill(&terminate, conn->mpa.error, NULL, 0, 0);
    /* A valid CRC is correct even if no CRC was agreed on. */
    length = iw_encode_terminate_fpdu(fpdu, &terminate, true);
    if (conn->mpa.result.send_markers) {
        length = iw_marker_insert(0, fpdu, length - IW_CRC_FIELD, true, marked);
        uiw_conn_finish(conn, &news, marked, length);
    } else {
        uiw_conn_finish(conn, &news, fpdu, length);
    }
    return true;
}

const struct uiw_conn_act uiw_act_rejected = {"closes the stream, reports the rejection",
                                              act_rejected};
const struct uiw_conn_act uiw_act_refuse = {"sends a refusing Reply, closes, reports the failure",
                                            act_refuse};
const struct uiw_conn_act uiw_act_terminate = {"sends a Terminate, closes, reports the failure",
                                               act_terminate};

/* ---------------------------------------------------------------- established */

void uiw_conn_establish(struct uiw_conn *conn, const struct iw_mpa_result *result,
                        const void *private_data, size_t private_length)
{
    struct ual_conn_news news = {
        .private_data = private_data,
        .private_length = private_length,
    };
    bool initiator = conn->mpa.initiator;
    struct uiw_cm *cm = &conn->ia->cm;
    struct ual_ep *ep;
    int fd = conn->fd;

    act_quiet(conn);
    conn->fd = -1;
    if (!conn->role->converts) {
        uiw_net_unpace_local(fd, &conn->remote);
        uiw_net_unmap_socket(fd, &conn->remote);
    }
    ep = uiw_conn_detach(conn);
    if (uiw_start_stream(ep, fd, initiator, conn->role->converts, result, conn->early,
                         conn->early_length, &news)) {
        uiw_cm_count(initiator ? &cm->initiated : &cm->accepted);
        return;
    }
    uiw_reset_fd(fd);
    news = act_failure(IT_CN_REJ_RESOURCES);
    /* Has no effect if the consumer has disconnected. */
    (void)uiw_ep_end_attempt(ep, UAL_EP_ATTEMPT_FAILED, &news);
}

static bool act_establish(struct uiw_conn *conn)
{
    uiw_conn_establish(conn, &conn->mpa.result, conn->mpa.private_data, conn->mpa.private_length);
    return true;
}

const struct uiw_conn_act uiw_act_establish = {"hands the stream to the engine", act_establish};
