/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drives an agreement (tdi/agree) on the program's stream and carries out its orders. Any function
 * that lets the agreement go on may free the conversion, so no caller touches the conversion
 * afterwards.
 */
#include "vp/verbs/convert/verbs_convert_private.h"

#include "vp/verbs/device/verbs_sigpipe.h"
#include "vp/verbs/qp/verbs_qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONVERT_HURRY_NS  UINT64_C(10000000000) /* for the peer's last frame */
#define CONVERT_RETIRE_NS UINT64_C(5000000000)  /* for the peer's end of a stream */

/* ---------------------------------------------------------------- life */

static const struct verbs_cm_target convert_target;

static void convert_expired(void *argument);

void verbs_convert_free(struct verbs_convert *convert)
{
    base_list_remove(&convert->ia->cm->conversions, &convert->link);
    verbs_host->timer_free(convert->timer);
    free(convert->buffer);
    free(convert);
}

struct verbs_convert *verbs_convert_new(struct verbs_ep *ep)
{
    struct verbs_convert *convert = calloc(1, sizeof(*convert));

    if (!convert)
        return NULL;
    convert->timer = verbs_host->timer_new(ep->ia->ual, convert_expired, convert);
    if (!convert->timer) {
        free(convert);
        return NULL;
    }
    convert->target = &convert_target;
    convert->ia = ep->ia;
    convert->ep = ep;
    base_list_prepend(&ep->ia->cm->conversions, &convert->link);
    return convert;
}

/* ---------------------------------------------------------------- ends */

/* From here on the EP has no conversion; its connection, if any, is its own. */
static struct verbs_ep *convert_detach(struct verbs_convert *convert)
{
    struct verbs_ep *ep = convert->ep;

    ep->convert = NULL;
    convert->ep = NULL;
    return ep;
}

/* The stream is no longer needed. The rest of it is drained in the background. */
static void convert_retire(struct verbs_convert *convert)
{
    verbs_stream_finish(&convert->stream);
    if (!verbs_stream_drain(&convert->stream) && verbs_stream_await(&convert->stream, 1, false) &&
        verbs_host->timer_start(convert->timer, CONVERT_RETIRE_NS))
        return;
    verbs_stream_close(&convert->stream);
    verbs_convert_free(convert);
}

static it_conn_reject_code_t convert_code(const struct verbs_convert *convert)
{
    static const it_conn_reject_code_t codes[] = {
        [AGREE_NO_REASON] = IT_CN_REJ_OTHER,
        [AGREE_BAD_VERSION] = IT_CN_REJ_BAD_CONN_PARMS,
        [AGREE_BAD_KIND] = IT_CN_REJ_BAD_CONN_PARMS,
        [AGREE_BAD_ADDRESS] = IT_CN_REJ_BAD_PATH,
        [AGREE_NO_RESOURCES] = IT_CN_REJ_RESOURCES,
        [AGREE_NO_CONNECTION] = IT_CN_REJ_OTHER,
        [AGREE_TIMEOUT] = IT_CN_REJ_TIMEOUT,
        [AGREE_BAD_PROTOCOL] = IT_CN_REJ_BAD_CONN_PARMS,
        [AGREE_BAD_ROLE] = IT_CN_REJ_BAD_CONN_PARMS,
    };
    const struct agree *agree = &convert->agree;

    if (agree->reason == AGREE_NO_CONNECTION && !agree->by_peer)
        return convert->code;
    if ((unsigned)agree->reason >= sizeof(codes) / sizeof(codes[0]))
        return IT_CN_REJ_OTHER; /* a code of a later version */
    return codes[agree->reason];
}

/*
 * Ends the conversion. Changes the EP's state first, so that only one end takes effect. Returns
 * false if another end came first.
 */
static bool convert_end(struct verbs_convert *convert, enum ual_ep_step step)
{
    bool stepped = verbs_ep_step(convert->ep, step);

    verbs_convert_drop(convert);
    return stepped;
}

/* The attempt has failed; the stream is no longer the conversion's. */
static void convert_fail(struct verbs_convert *convert)
{
    const struct ual_conn_news news = {
        .number = convert->agree.refused ? IT_CM_MSG_CONN_PEER_REJECT_EVENT
                                         : IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
        .reject_code = convert_code(convert),
    };
    bool ended = convert_end(convert, UAL_EP_ATTEMPT_FAILED);
    struct verbs_ep *ep = convert_detach(convert);

    verbs_log(VP_LOG_INFO, "verbs: conversion %p failed: %s%s, the stream is %s", (void *)convert,
              itx_reject_string(news.reject_code), convert->agree.by_peer ? " of the peer" : "",
              convert->agree.outcome == AGREE_PLAIN ? "plain" : "lost");
    verbs_convert_free(convert);
    if (!ended)
        return;
    verbs_ep_break(ep);
    verbs_host->ep_report(ep->ual, &news);
}

/* The peer has committed, used the connection and ended it before its commit was read. */
static void convert_establish_ended(struct verbs_ep *ep, const struct ual_conn_news *news)
{
    static const struct ual_conn_news end = {.number = IT_CM_MSG_CONN_DISCONNECT_EVENT};
    bool stepped;

    verbs_host->ep_lock(ep->ual);
    verbs_ep_open_locked(ep);
    stepped = verbs_host->ep_step_locked(ep->ual, UAL_EP_ESTABLISHED);
    verbs_host->ep_unlock(ep->ual);
    if (!stepped)
        return;
    verbs_ep_report_established(ep, news);
    if (!verbs_ep_step(ep, UAL_EP_CLOSED))
        return;
    verbs_ep_break(ep);
    verbs_ep_report_end(ep, &end);
}

static void convert_succeed(struct verbs_convert *convert)
{
    struct verbs_conn *conn = convert->conn;
    uint8_t private_data[AGREE_PRIVATE_MAX];
    struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_ESTABLISHED_EVENT,
        .private_data = private_data,
        .private_length = convert->agree.peer.private_length,
    };
    struct verbs_ep *ep;

    memcpy(private_data, convert->agree.peer.private_data, news.private_length);
    convert->conn = NULL;
    verbs_convert_drop(convert); /* closes the listener */
    ep = convert_detach(convert);
    convert_retire(convert);
    if (!conn) {
        convert_establish_ended(ep, &news);
        return;
    }
    conn->convert = NULL;
    verbs_conn_establish(conn, news.private_data, news.private_length);
}

static void convert_finish(struct verbs_convert *convert)
{
    switch (convert->agree.outcome) {
    case AGREE_CONVERTED:
        convert_succeed(convert);
        break;
    case AGREE_PLAIN:
        /* The stream is returned first: the thread that reads the event may use it. */
        verbs_stream_return(&convert->stream);
        convert_fail(convert);
        break;
    case AGREE_LOST:
    case AGREE_PENDING:
        verbs_stream_close(&convert->stream);
        convert_fail(convert);
        break;
    }
}

/* ---------------------------------------------------------------- going on */

static void convert_write(struct verbs_convert *convert)
{
    struct agree *agree = &convert->agree;
    size_t length = convert->message_length - convert->message_sent;
    bool message = length > 0;
    const uint8_t *octets = convert->buffer + convert->message_sent;
    size_t sent;
    int error;

    if (!message)
        octets = agree_output(agree, &length);
    if (length == 0 || agree->state == AGREE_OVER)
        return;
    error = verbs_stream_send(&convert->stream, octets, length, &sent);
    if (error == EAGAIN)
        return;
    if (error != 0)
        agree_stream_ended(agree);
    else if (message)
        convert->message_sent += sent;
    else
        agree_sent(agree, sent);
    if (error == 0 && sent == length && message)
        convert_write(convert); /* the offer follows the message */
}

static void convert_listen(struct verbs_convert *convert)
{
    uint16_t port = verbs_convert_listen(convert);

    if (port != 0)
        agree_listening(&convert->agree, port);
    else
        agree_give_up(&convert->agree, AGREE_NO_RESOURCES);
}

static void convert_carry_out(struct verbs_convert *convert, enum agree_order order)
{
    switch (order) {
    case AGREE_DO_LISTEN:
        convert_listen(convert);
        break;
    case AGREE_DO_ACCEPT:
        if (!verbs_convert_accept(convert))
            agree_unconnected(&convert->agree);
        break;
    case AGREE_DO_CONNECT:
        if (!verbs_convert_connect(convert))
            agree_unconnected(&convert->agree);
        break;
    case AGREE_DO_DROP:
        verbs_convert_drop(convert);
        break;
    case AGREE_DO_HURRY:
        if (!verbs_host->timer_start(convert->timer, CONVERT_HURRY_NS))
            agree_expired(&convert->agree);
        break;
    case AGREE_DO_FINISH:
    case AGREE_DO_NOTHING:
        break;
    }
}

/* Writes and carries out orders until there are none. Returns false if the conversion is gone. */
static bool convert_settle(struct verbs_convert *convert)
{
    enum agree_order order;

    do {
        convert_write(convert);
        order = agree_next_order(&convert->agree);
        if (order == AGREE_DO_FINISH) {
            convert_finish(convert);
            return false;
        }
        convert_carry_out(convert, order);
    } while (order != AGREE_DO_NOTHING);
    return true;
}

static bool convert_has_output(const struct verbs_convert *convert)
{
    size_t length;

    (void)agree_output(&convert->agree, &length);
    return length > 0 || convert->message_sent < convert->message_length;
}

/* The peer sends nothing before it has the message. */
static size_t convert_wanted(const struct verbs_convert *convert)
{
    return convert->message_sent < convert->message_length ? 0 : agree_wanted(&convert->agree);
}

void verbs_convert_run(struct verbs_convert *convert)
{
    uint8_t octets[AGREE_FRAME_MAX];
    size_t wanted;

    if (!convert_settle(convert))
        return;
    while ((wanted = convert_wanted(convert)) > 0) {
        size_t length;
        bool ended = verbs_stream_show(&convert->stream, octets, sizeof(octets), &length);
        size_t taken;

        if (length < wanted && !ended)
            break;
        if (length < wanted) {
            agree_stream_ended(&convert->agree);
        } else {
            taken = agree_feed(&convert->agree, octets, length);
            if (!verbs_stream_take(&convert->stream, taken))
                agree_stream_ended(&convert->agree);
        }
        if (!convert_settle(convert))
            return;
    }
    if (verbs_stream_await(&convert->stream, wanted, convert_has_output(convert)))
        return;
    agree_give_up(&convert->agree, AGREE_NO_RESOURCES);
    agree_stream_ended(&convert->agree); /* the stream cannot be watched any more */
    (void)convert_settle(convert);
}

void verbs_convert_ready(void *argument)
{
    struct verbs_convert *convert = argument;

    if (convert->ep) {
        verbs_convert_run(convert);
    } else if (verbs_stream_drain(&convert->stream)) {
        verbs_stream_close(&convert->stream);
        verbs_convert_free(convert);
    }
}

static void convert_expired(void *argument)
{
    struct verbs_convert *convert = argument;

    if (!convert->ep) {
        verbs_stream_close(&convert->stream);
        verbs_convert_free(convert);
        return;
    }
    agree_expired(&convert->agree);
    verbs_convert_run(convert);
}

/* ---------------------------------------------------------------- events of the connection */

/* Takes the id of a connection that arrives at the conversion's listener. */
static void convert_requested(void *context, struct rdma_cm_id *id,
                              const struct verbs_cm_event *event)
{
    struct verbs_convert *convert = context;
    uint8_t key[AGREE_KEY_FRAME] = {0}; /* trailing zeros of private data may be missing */
    size_t length = event->private_length < sizeof(key) ? event->private_length : sizeof(key);

    memcpy(key, event->private_data, length);
    if (!agree_requested(&convert->agree, key, sizeof(key))) {
        verbs_log(VP_LOG_INFO, "verbs: conversion %p: a connection with a wrong key is refused",
                  (void *)convert);
        (void)verbs_sigpipe_reject(id, NULL, 0); /* destroying the id rejects it too */
        (void)rdma_destroy_id(id);
        return;
    }
    convert->request = id;
    convert->requested = *event;
    verbs_convert_run(convert);
}

static void convert_lose(struct verbs_convert *convert)
{
    convert->code = IT_CN_REJ_RESOURCES;
    agree_unconnected(&convert->agree);
    verbs_convert_run(convert);
}

static void convert_told(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event)
{
    (void)id;
    if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL)
        convert_lose(context);
}

static const struct verbs_cm_target convert_target = {
    .requested = convert_requested,
    .told = convert_told,
};

void verbs_convert_give_up(struct verbs_ia *ia)
{
    BASE_LIST_EACH_REMOVABLE(struct verbs_convert, convert, &ia->cm->conversions, link)
        if (convert->ep)
            convert_lose(convert);
}

void verbs_convert_connected(struct verbs_convert *convert, const void *private_data, size_t length)
{
    uint8_t key[AGREE_KEY_FRAME] = {0};

    if (length > 0)
        memcpy(key, private_data, length < sizeof(key) ? length : sizeof(key));
    agree_connected(&convert->agree, key, sizeof(key));
    verbs_convert_run(convert);
}

void verbs_convert_unconnected(struct verbs_convert *convert, it_conn_reject_code_t code)
{
    convert->conn = NULL;
    convert->code = code;
    if (convert->busy)
        return;
    agree_unconnected(&convert->agree);
    verbs_convert_run(convert);
}

/* ---------------------------------------------------------------- ends by the consumer */

/* The program does not want the stream back. */
void verbs_convert_abandon(struct verbs_convert *convert)
{
    verbs_convert_drop(convert);
    (void)convert_detach(convert);
    convert_retire(convert);
}

it_status_t verbs_convert_disconnect(struct verbs_convert *convert)
{
    static const struct ual_conn_news news = {.number = IT_CM_MSG_CONN_DISCONNECT_EVENT};
    struct verbs_ep *ep = convert->ep;

    if (!convert_end(convert, UAL_EP_DISCONNECT))
        return IT_ERR_INVALID_EP_STATE;
    verbs_convert_abandon(convert);
    verbs_ep_break(ep);
    verbs_ep_report_end(ep, &news);
    return IT_SUCCESS;
}

void verbs_convert_close(struct verbs_ia *ia)
{
    BASE_LIST_EACH_REMOVABLE(struct verbs_convert, convert, &ia->cm->conversions, link) {
        verbs_stream_close(&convert->stream);
        verbs_convert_free(convert);
    }
}
