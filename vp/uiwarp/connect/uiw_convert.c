/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of a live TCP socket. The descriptor is ours, the socket behind it is shared with the
 * caller until MPA has begun: no mode of it is changed (each call says MSG_DONTWAIT), and options
 * that have to be changed go back to what they were when the stream does.
 */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include "vp/uiwarp/connect/uiw_options.h"
#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/stream/uiw_modify.h"

#include <stdlib.h>
#include <string.h>

/* One call of it_socket_convert, on its way through the loop thread. */
struct convert_call {
    struct ual_ep *ep;
    const struct vp_convert *convert;
    it_status_t status;
};

/* ---------------------------------------------------------------- startup */

static enum uiw_conn_next convert_skip_startup(struct uiw_conn *conn)
{
    struct iw_mpa_result result = {
        .revision = 0,
        .crc = true,
        .ird = conn->mpa.config.ird,
        .ord = conn->mpa.config.ord,
    };

    uiw_options_change(conn);
    return uiw_conn_establish(conn, &result, NULL, 0);
}

static enum uiw_conn_next convert_message_sent(struct uiw_conn *conn)
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
    uiw_options_borrow(conn);
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
    struct uiw_conn *conn =
        uiw_conn_new(uiw_ia_of(ual_ia_of(&call->ep->object)), convert->fd, &uiw_convert_role);
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

const struct uiw_conn_role uiw_convert_role = {
    .message_sent = convert_message_sent,
};
