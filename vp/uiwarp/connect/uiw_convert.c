/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of a live TCP socket. The descriptor is ours, the socket behind it is shared with the
 * caller until MPA has begun: no mode of it is changed (each call says MSG_DONTWAIT), and options
 * that have to be changed go back to what they were when the stream does.
 */
#include "vp/uiwarp/connect/uiw_conn_private.h"
#include "vp/uiwarp/net/uiw_net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

/* One call of it_socket_convert, on its way through the loop thread. */
struct convert_call {
    struct ual_ep *ep;
    const struct vp_convert *convert;
    it_status_t status;
};

/* ---------------------------------------------------------------- socket options */

static void convert_get(int fd, int level, int option, int *value)
{
    socklen_t length = sizeof(*value);

    *value = 0;
    (void)getsockopt(fd, level, option, value, &length); /* of a TCP socket: cannot fail */
}

/* A failure leaves the stream slower than it could be. */
static void convert_set(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof(value));
}

static void convert_borrow(struct uiw_conn *conn)
{
    struct uiw_socket_options *options = &conn->options;
    socklen_t length = sizeof(options->linger);

    conn->borrowed = true;
    convert_get(conn->fd, IPPROTO_TCP, TCP_NODELAY, &options->nodelay);
    convert_get(conn->fd, IPPROTO_TCP, TCP_CORK, &options->cork);
    convert_get(conn->fd, SOL_SOCKET, SO_RCVLOWAT, &options->lowat);
    (void)getsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &options->linger, &length);
    /* Else a short Request would not wake us. */
    if (options->lowat > 1)
        convert_set(conn->fd, SOL_SOCKET, SO_RCVLOWAT, 1);
}

void uiw_convert_change_options(struct uiw_conn *conn)
{
    struct linger none = {.l_onoff = 0};

    if (conn->options_changed)
        return;
    conn->options_changed = true;
    convert_set(conn->fd, IPPROTO_TCP, TCP_CORK, 0);
    convert_set(conn->fd, IPPROTO_TCP, TCP_NODELAY, 1);
    /* close(2) of the last descriptor, which may be ours, must neither wait nor reset. */
    (void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

void uiw_convert_restore_options(const struct uiw_conn *conn)
{
    const struct uiw_socket_options *options = &conn->options;

    if (options->lowat > 1)
        convert_set(conn->fd, SOL_SOCKET, SO_RCVLOWAT, options->lowat);
    if (!conn->options_changed)
        return;
    convert_set(conn->fd, IPPROTO_TCP, TCP_NODELAY, options->nodelay);
    convert_set(conn->fd, IPPROTO_TCP, TCP_CORK, options->cork);
    (void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &options->linger, sizeof(options->linger));
}

/* ---------------------------------------------------------------- startup */

static enum uiw_conn_next convert_skip_startup(struct uiw_conn *conn)
{
    struct iw_mpa_result result = {
        .revision = 0,
        .crc = true,
        .ird = conn->mpa.config.ird,
        .ord = conn->mpa.config.ord,
    };

    uiw_convert_change_options(conn);
    return uiw_conn_establish(conn, &result, NULL, 0);
}

enum uiw_conn_next uiw_convert_message_sent(struct uiw_conn *conn)
{
    if (conn->no_request_reply)
        return convert_skip_startup(conn);
    if (conn->mpa.initiator)
        uiw_conn_send_request(conn);
    else
        conn->state = UIW_CONN_WAIT_REQUEST;
    return UIW_NEXT_AGAIN;
}

/* Copies what the caller keeps. False without memory. */
static bool convert_copy(struct uiw_conn *conn, const struct vp_convert *convert)
{
    size_t total = convert->message_length + convert->early_length;

    conn->no_request_reply = convert->no_request_reply;
    conn->private_length = convert->private_length;
    if (convert->private_length > 0)
        memcpy(conn->private_data, convert->private_data, convert->private_length);
    if (total == 0)
        return true;
    conn->buffer = malloc(total);
    if (!conn->buffer)
        return false;
    if (convert->message_length > 0)
        memcpy(conn->buffer, convert->message, convert->message_length);
    if (convert->early_length > 0)
        memcpy(conn->buffer + convert->message_length, convert->early, convert->early_length);
    conn->early = conn->buffer + convert->message_length;
    conn->early_length = convert->early_length;
    return true;
}

/* The EP is in its pending state: from here on the outcome is an event. */
static void convert_launch(struct uiw_conn *conn, const struct vp_convert *convert)
{
    uint64_t timeout_us = convert->timeout_us ? convert->timeout_us : UIW_ATTEMPT_US;
    struct iw_mpa_config config;

    if (convert->initiator)
        uiw_ep_mpa_config(conn->ep, false, &config);
    else
        uiw_conn_responder_config(conn, &config);
    iw_mpa_init(&conn->mpa, convert->initiator, &config);
    convert_borrow(conn);
    uiw_conn_send(conn, UIW_CONN_MESSAGE, conn->buffer, convert->message_length);
    if (!uiw_conn_limit(conn, timeout_us > UINT64_MAX / BASE_NS_PER_US
                                  ? UINT64_MAX
                                  : timeout_us * BASE_NS_PER_US))
        uiw_conn_fail(conn, IT_CN_REJ_RESOURCES);
    else
        /* Nothing else reads the socket: MPA is armed before the message leaves. */
        uiw_conn_run(conn);
}

static void convert_run(void *argument)
{
    struct convert_call *call = argument;
    const struct vp_convert *convert = call->convert;
    struct uiw_conn *conn = uiw_conn_new(uiw_ia_of(ual_ia_of(&call->ep->object)), convert->fd);
    it_path_t path = {.spigot_id = 1, .timeout = convert->timeout_us};

    call->status = IT_ERR_RESOURCES;
    if (!conn)
        return;
    if (!convert_copy(conn, convert))
        goto err_discard;
    call->status = IT_ERR_INVALID_CONVERSION;
    if (!uiw_net_path_of(convert->fd, &path))
        goto err_discard;
    call->status = IT_ERR_INVALID_EP_STATE;
    if (!uiw_conn_attach(conn, call->ep, convert->initiator ? UAL_EP_CONNECT : UAL_EP_WAIT_REQUEST,
                         &path))
        goto err_discard;
    call->status = IT_SUCCESS;
    convert_launch(conn, convert);
    return;

err_discard:
    uiw_conn_discard(conn);
}

it_status_t uiw_convert(struct ual_ep *ep, const struct vp_convert *convert)
{
    struct convert_call call = {.ep = ep, .convert = convert};

    if (convert->private_length > IT_MAX_PRIV_DATA)
        return IT_ERR_INVALID_PDATA_LENGTH;
    evd_loop_call(ual_ia_of(&ep->object)->evd.loop, convert_run, &call);
    return call.status;
}
