/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections between the two sides, and posts on them. */
#include "suite/suite.h"

#include <string.h>

#define GREETING_COOKIE UINT64_C(0x9eee)
#define GREETING_SIZE   24

it_ep_attributes_t suite_attr(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_dto_payload_size = 1u << 20;
    attr.max_send_segments = 1;
    attr.max_recv_segments = 1;
    attr.srv.rc.max_rdma_read_segments = 1;
    attr.srv.rc.max_rdma_write_segments = 1;
    attr.srv.rc.rdma_read_ird = 4;
    attr.srv.rc.rdma_read_ord = 4;
    return attr;
}

it_ep_handle_t suite_ep(struct suite_side *side)
{
    it_ep_attributes_t attr = suite_attr();

    return fx_ep(&side->node, &attr);
}

it_listen_handle_t suite_listen(struct suite_side *side)
{
    uint16_t port = 0;
    it_listen_handle_t listener = fx_listen(&side->node, &port);

    suite_tell(side, &port, sizeof(port));
    return listener;
}

it_status_t suite_connect_to(struct suite_side *side, it_ep_handle_t ep, uint16_t port,
                             it_cn_est_flags_t flags, const void *data, size_t length)
{
    it_path_t path = fx_path_to(&side->node, &side->other_address);
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = port;
    return it_ep_connect(ep, &path, NULL, &qual, flags, data, length);
}

void suite_connect(struct suite_side *side, it_ep_handle_t ep, const void *data, size_t length)
{
    uint16_t port = 0;

    suite_hear(side, &port, sizeof(port));
    CHECK_OK(suite_connect_to(side, ep, port, IT_CONNECT_FLAG_TWO_WAY, data, length));
}

static it_ep_param_t parameters(it_ep_handle_t ep)
{
    it_ep_param_t param;

    memset(&param, 0, sizeof(param));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &param));
    return param;
}

static void join(struct suite_side *side, it_ep_handle_t ep, bool active)
{
    it_evd_handle_t evd = parameters(ep).connect_sevd;
    it_listen_handle_t listener;

    if (active) {
        suite_connect(side, ep, NULL, 0);
        fx_conn(evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        return;
    }
    listener = suite_listen(side);
    CHECK_OK(it_ep_accept(ep, fx_request(&side->node, NULL), NULL, 0));
    fx_conn(evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_OK(it_listen_free(listener));
}

void suite_join_quietly(struct suite_side *side, it_ep_handle_t ep)
{
    join(side, ep, side->near);
    suite_meet(side, "joined");
}

void suite_join_from(struct suite_side *side, it_ep_handle_t ep, bool active)
{
    struct fx_buf greeting = fx_buf_make(&side->node, GREETING_SIZE);
    it_ep_param_t param = parameters(ep);

    if (active) {
        join(side, ep, true);
        fx_fill(greeting.data, GREETING_SIZE, 1);
        fx_send(ep, &greeting, 0, GREETING_SIZE, GREETING_COOKIE, FX_SIGNAL);
        fx_done_len(param.request_sevd, ep, IT_DTO_SEND_CMPL_EVENT, GREETING_COOKIE, GREETING_SIZE);
    } else {
        fx_recv(ep, &greeting, 0, GREETING_SIZE, GREETING_COOKIE);
        join(side, ep, false);
        fx_done_len(param.recv_sevd, ep, IT_DTO_RC_RECV_CMPL_EVENT, GREETING_COOKIE, GREETING_SIZE);
        CHECK(fx_is_filled(greeting.data, GREETING_SIZE, 1));
    }
    fx_buf_free(&greeting);
    suite_meet(side, "joined");
}

void suite_join(struct suite_side *side, it_ep_handle_t ep)
{
    suite_join_from(side, ep, side->near);
}

it_ep_handle_t suite_joined(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);

    suite_join(side, ep);
    return ep;
}

static void ping(struct suite_side *side, it_ep_handle_t ep, bool send)
{
    struct fx_buf buf = fx_buf_make(&side->node, 100);
    it_ep_param_t param = parameters(ep);

    if (!send)
        fx_recv(ep, &buf, 0, buf.size, 78);
    suite_meet(side, "ping");
    if (send) {
        fx_fill(buf.data, buf.size, 79);
        fx_send(ep, &buf, 0, buf.size, 77, FX_SIGNAL);
        fx_done_len(param.request_sevd, ep, IT_DTO_SEND_CMPL_EVENT, 77, buf.size);
    } else {
        fx_done_len(param.recv_sevd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 78, buf.size);
        CHECK(fx_is_filled(buf.data, buf.size, 79));
    }
    fx_buf_free(&buf);
}

void suite_ping(struct suite_side *side, it_ep_handle_t ep)
{
    ping(side, ep, side->near);
    ping(side, ep, !side->near);
}

void suite_part(struct suite_side *side, it_ep_handle_t ep)
{
    it_evd_handle_t evd = parameters(ep).connect_sevd;

    suite_meet(side, "part");
    if (side->near)
        CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    fx_conn(evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
}

void suite_ended(struct suite_side *side, it_ep_handle_t ep)
{
    it_event_t event = fx_next(side->node.conn_evd);

    if (event.event_number != IT_CM_MSG_CONN_DISCONNECT_EVENT)
        CHECK_EQ(IT_CM_MSG_CONN_BROKEN_EVENT, event.event_number);
    CHECK(event.conn.ep == ep);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    fx_empty(side->node.conn_evd);
}

void suite_failed(const it_event_t *event, it_dto_cookie_t cookie, it_dto_status_t want)
{
    it_dto_status_t status = event->dto_cmpl.dto_status;

    CHECK_EQ(cookie, event->dto_cmpl.cookie);
    CHECK_EQ(0, event->dto_cmpl.transferred_length);
    if (status != want && status != IT_DTO_ERR_FLUSHED && status != IT_DTO_ERR_LOCAL_EP &&
        status != IT_DTO_ERR_REMOTE_RESPONDER)
        CHECK_FAIL("%s instead of %s", itx_dto_status_string(status), itx_dto_status_string(want));
}

/* ---- Posting -------------------------------------------------------------------------------- */

void suite_write(it_ep_handle_t ep, const struct fx_buf *from, size_t offset, size_t length,
                 const struct suite_region *to, size_t to_offset, it_dto_cookie_t cookie,
                 it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(from, offset, length);

    CHECK_OK(it_post_rdma_write(ep, &segment, 1, cookie, flags, to->address + to_offset, to->key));
}

void suite_read(it_ep_handle_t ep, const struct fx_buf *to, size_t offset, size_t length,
                const struct suite_region *from, size_t from_offset, it_dto_cookie_t cookie,
                it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(to, offset, length);

    CHECK_OK(
        it_post_rdma_read(ep, &segment, 1, cookie, flags, from->address + from_offset, from->key));
}
