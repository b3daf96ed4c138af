/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of a connected TCP socket. The descriptor is a copy; the socket is shared with the
 * caller until MPA has begun. So its mode is not changed (calls use MSG_DONTWAIT), and its options
 * are restored if the socket is handed back.
 */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <stdlib.h>
#include <string.h>

/* One call of it_socket_convert, which runs on the loop's thread. */
struct convert_call {
    struct ual_ep *ep;
    const struct vp_convert *convert;
};

/* ---------------------------------------------------------------- startup */

static bool convert_skip(struct uiw_conn *conn)
{
    const struct iw_mpa_result result = {
        .revision = 0,
        .crc = true,
        .ird = conn->mpa.config.ird,
        .ord = conn->mpa.config.ord,
    };

    uiw_options_change(conn->fd);
    uiw_conn_establish(conn, &result, NULL, 0);
    return true;
}

static bool convert_request(struct uiw_conn *conn)
{
    uiw_options_change(conn->fd);
    uiw_conn_send_request(conn);
    return true;
}

/* The first octet of the Request has arrived: the caller does not use the socket any more. */
static bool convert_begin(struct uiw_conn *conn)
{
    uiw_options_change(conn->fd);
    return true;
}

static const struct uiw_conn_act convert_skip_act = {
    "changes the socket's options, hands the stream to the engine", convert_skip};
static const struct uiw_conn_act convert_request_act = {
    "changes the socket's options, makes the Request", convert_request};
static const struct uiw_conn_act convert_begin_act = {"changes the socket's options",
                                                      convert_begin};

#define CONVERT_MESSAGES (UIW_IN(MESSAGE) | UIW_IN(ONLY_MESSAGE))
#define CONVERT_REPLY    (UIW_IN(WAIT_REPLY) | UIW_IN(READ_REPLY))
#define CONVERT_FAILURES (UIW_ON(LOST) | UIW_FAILURES)

static const struct uiw_conn_row convert_initiator_rows[] = {
    UIW_ROW(CONVERT_MESSAGES | UIW_IN(REQUEST) | UIW_IN(READ_REPLY), UIW_ON(MOVED), NULL, SAME),
    UIW_ROW(UIW_IN(MESSAGE), UIW_ON(SENT), &convert_request_act, NEXT_REQUEST),
    UIW_ROW(UIW_IN(ONLY_MESSAGE), UIW_ON(SENT), &convert_skip_act, OVER),
    UIW_ROW(UIW_IN(NEXT_REQUEST), UIW_ON(MOVED), NULL, REQUEST),
    UIW_ROW(CONVERT_MESSAGES | UIW_IN(NEXT_REQUEST), CONVERT_FAILURES, &uiw_act_hand_back, OVER),
    UIW_ROW(UIW_IN(REQUEST), UIW_ON(SENT), NULL, WAIT_REPLY),
    UIW_ROW(UIW_IN(REQUEST), CONVERT_FAILURES, &uiw_act_fail, OVER),
    UIW_ROW(UIW_IN(WAIT_REPLY), UIW_ON(MOVED), NULL, READ_REPLY),
    UIW_ROWS_OF_REPLY,
    UIW_ROW(CONVERT_REPLY, UIW_ON(LOST), &uiw_act_close, OVER),
    UIW_ROW(CONVERT_REPLY, UIW_FAILURES, &uiw_act_fail, OVER),
    UIW_ROW(CONVERT_MESSAGES | UIW_IN(NEXT_REQUEST) | UIW_IN(REQUEST) | CONVERT_REPLY, UIW_GIVEN_UP,
            &uiw_act_leave, OVER),
};

static const struct uiw_conn_row convert_responder_rows[] = {
    UIW_ROW(CONVERT_MESSAGES | UIW_IN(READ_REQUEST) | UIW_IN(REPLY), UIW_ON(MOVED), NULL, SAME),
    UIW_ROW(UIW_IN(MESSAGE), UIW_ON(SENT), NULL, WAIT_REQUEST),
    UIW_ROW(UIW_IN(ONLY_MESSAGE), UIW_ON(SENT), &convert_skip_act, OVER),
    UIW_ROW(UIW_IN(WAIT_REQUEST), UIW_ON(MOVED), &convert_begin_act, READ_REQUEST),
    UIW_ROW(CONVERT_MESSAGES | UIW_IN(WAIT_REQUEST), CONVERT_FAILURES, &uiw_act_hand_back, OVER),
    UIW_ROW(UIW_IN(READ_REQUEST), UIW_ON(DONE), &uiw_act_reply, REPLY),
    UIW_ROW(UIW_IN(READ_REQUEST), UIW_ON(REFUSE), &uiw_act_refuse, OVER),
    UIW_ROW(UIW_IN(READ_REQUEST), UIW_ON(LOST), &uiw_act_close, OVER),
    UIW_ROW(UIW_IN(READ_REQUEST), UIW_ON(BAD) | UIW_FAILURES, &uiw_act_fail, OVER),
    UIW_ROW(UIW_IN(REPLY), UIW_ON(SENT), &uiw_act_establish, OVER),
    UIW_ROW(UIW_IN(REPLY), CONVERT_FAILURES, &uiw_act_fail, OVER),
    UIW_ROW(CONVERT_MESSAGES | UIW_IN(WAIT_REQUEST) | UIW_IN(READ_REQUEST) | UIW_IN(REPLY),
            UIW_GIVEN_UP, &uiw_act_leave, OVER),
};

const struct uiw_conn_role uiw_initiator_role = {
    .converts = true,
    .first = UIW_CONN_MESSAGE,
    UIW_ROWS(convert_initiator_rows),
};

const struct uiw_conn_role uiw_responder_role = {
    .converts = true,
    .first = UIW_CONN_MESSAGE,
    UIW_ROWS(convert_responder_rows),
};

/* ---------------------------------------------------------------- it_socket_convert */

/* Copies the caller's arguments. Returns false if memory runs out. */
static bool convert_copy(struct uiw_conn *conn, const struct vp_convert *convert)
{
    size_t total = convert->message_length + convert->early_length;

    if (convert->no_request_reply)
        conn->state = UIW_CONN_ONLY_MESSAGE;
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

/* Starts the attempt. The EP is pending, and an event reports the outcome. */
static void convert_launch(struct uiw_conn *conn, const struct vp_convert *convert)
{
    struct iw_mpa_config config;

    if (convert->initiator)
        uiw_ep_mpa_config(conn->ep, false, &config);
    else
        uiw_conn_responder_config(conn, &config);
    iw_mpa_init(&conn->mpa, convert->initiator, &config);
    uiw_options_borrow(conn);
    uiw_conn_send(conn, conn->buffer, convert->message_length);
    /* MPA is ready before the message leaves; only this thread reads the socket. */
    uiw_conn_step(conn, uiw_conn_limit(conn, uiw_conn_attempt_ns(convert->timeout_us))
                            ? UIW_ON_NOTHING
                            : UIW_ON_NO_MEMORY);
}

static it_status_t convert_run(void *argument)
{
    struct convert_call *call = argument;
    const struct vp_convert *convert = call->convert;
    struct uiw_conn *conn =
        uiw_conn_new(uiw_ia_of(ual_ia_of(&call->ep->object)), convert->fd,
                     convert->initiator ? &uiw_initiator_role : &uiw_responder_role);
    it_path_t path = {.spigot_id = 1, .timeout = convert->timeout_us};
    it_status_t status = IT_ERR_RESOURCES;

    if (!conn)
        return status;
    if (!convert_copy(conn, convert))
        goto err_discard;
    status = IT_ERR_INVALID_CONVERSION;
    if (!uiw_net_path_of(convert->fd, &path))
        goto err_discard;
    status = IT_ERR_INVALID_EP_STATE;
    if (!uiw_conn_attach(conn, call->ep, convert->initiator ? UAL_EP_CONNECT : UAL_EP_WAIT_REQUEST,
                         &path))
        goto err_discard;
    convert_launch(conn, convert);
    return IT_SUCCESS;

err_discard:
    uiw_conn_end(conn);
    return status;
}

it_status_t uiw_convert(struct ual_ep *ep, const struct vp_convert *convert)
{
    struct convert_call call = {.ep = ep, .convert = convert};

    return evd_loop_run(ual_ia_of(&ep->object)->evd.loop, convert_run, &call);
}
