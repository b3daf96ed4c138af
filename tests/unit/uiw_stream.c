/* SPDX-License-Identifier: BSD-2-Clause */
#include "uiw_stream.h"

#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/receive/uiw_receive.h"
#include "vp/uiwarp/send/uiw_send.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <unistd.h>

static it_dto_cookie_t cookies;

void uiw_stream_open(struct uiw_stream *stream, bool crc, uint32_t max_ulpdu)
{
    struct uiw_ep *ep;
    int ends[2];

    fx_node_open(&stream->node);
    stream->buf =
        fx_buf_make_as(stream->node.pz, STREAM_MEMORY,
                       (it_mem_priv_t)(FX_PRIVS_ALL | IT_PRIV_ATOMIC), IT_ADDR_MODE_ABSOLUTE);
    fx_fill(stream->buf.data, STREAM_MEMORY, 1);
    stream->handle = fx_ep(&stream->node, NULL);
    stream->ual = (struct ual_ep *)(void *)stream->handle;
    ep = stream->ep = uiw_ep_of(stream->ual);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    stream->peer = ends[0];
    uiw_reader_take(ep);
    uiw_token_wait(ep);
    ep->fd = ends[1];
    ep->agreed = (struct iw_mpa_result){.crc = crc, .ird = 8, .ord = 8};
    ep->id.number = 1;
    atomic_store(&ep->limits.ord, 8);
    uiw_out_reset(ep);
    ep->tx.max_ulpdu = max_ulpdu;
    uiw_reader_begin(ep, crc);
    uiw_pause_begin(&ep->rx.pause, false);
    atomic_store(&stream->ual->state, IT_EP_STATE_CONNECTED);
    stream->sends = false;
    cookies = 0;
}

void uiw_stream_over_tcp(struct uiw_stream *stream, struct raw_peer *peer)
{
    CHECK(close(stream->ep->fd) == 0);
    CHECK(close(stream->peer) == 0);
    raw_socket_pair(peer, &stream->ep->fd);
    peer->crc = stream->ep->agreed.crc;
    stream->peer = -1;
}

void uiw_stream_let_send(struct uiw_stream *stream)
{
    uiw_later_leave(stream->ual); /* the loop sends nothing by itself */
    uiw_token_drop(stream->ep);
    stream->sends = true;
}

void uiw_stream_close(struct uiw_stream *stream)
{
    struct uiw_ep *ep = stream->ep;

    if (stream->sends)
        uiw_token_wait(ep);
    atomic_store(&stream->ual->state, IT_EP_STATE_UNCONNECTED);
    uiw_out_reset(ep);
    CHECK(ep->fd < 0 || close(ep->fd) == 0);
    CHECK(stream->peer < 0 || close(stream->peer) == 0);
    ep->fd = -1;
    uiw_token_drop(ep);
    uiw_reader_drop(ep);
    CHECK_OK(it_ep_free(stream->handle));
    fx_buf_free(&stream->buf);
    fx_node_close(&stream->node);
}

uint32_t uiw_stream_stag(const struct uiw_stream *stream)
{
    return (uint32_t)stream->buf.key;
}

void uiw_stream_post_request(struct uiw_stream *stream, const struct vp_request *request)
{
    CHECK_OK(uiw_post_request(stream->ual, request));
}

void uiw_stream_post(struct uiw_stream *stream, enum vp_opcode opcode, unsigned flags,
                     size_t offset, size_t length, uint32_t stag, it_rdma_addr_t to)
{
    it_lmr_triplet_t segment = fx_seg(&stream->buf, offset, length);
    struct vp_request request = {
        .opcode = opcode,
        .flags = (it_dto_flags_t)(flags | IT_COMPLETION_FLAG | IT_NOTIFY_FLAG),
        .cookie = ++cookies,
        .segments = &segment,
        .segment_count = length > 0 ? 1 : 0,
        .length = length,
    };

    request.rmr_context = stag;
    request.rdma_addr = to;
    uiw_stream_post_request(stream, &request);
}

void uiw_stream_post_recv(struct uiw_stream *stream, size_t offset, size_t length)
{
    it_lmr_triplet_t segment = fx_seg(&stream->buf, offset, length);

    CHECK_OK(stream->ual->ops->post_recv(stream->ual, &segment, 1, ++cookies, FX_SIGNAL));
}

bool uiw_stream_completion(it_evd_handle_t evd, it_dto_cmpl_event_t *completion)
{
    it_event_t event;

    if (it_evd_dequeue(evd, &event) != IT_SUCCESS)
        return false;
    *completion = event.dto_cmpl;
    return true;
}

void uiw_stream_done(it_evd_handle_t evd, it_dto_cookie_t cookie, it_dto_status_t status)
{
    it_dto_cmpl_event_t completion;

    CHECK(uiw_stream_completion(evd, &completion));
    CHECK_EQ(cookie, completion.cookie);
    CHECK_EQ(status, completion.dto_status);
}

void uiw_stream_check_end(const struct uiw_stream *stream, it_event_type_t number,
                          it_event_type_t async)
{
    it_event_t event;

    (void)fx_conn(stream->node.conn_evd, stream->handle, number);
    fx_empty(stream->node.conn_evd);
    if (async) {
        event = fx_next(stream->node.aff_evd);
        CHECK_EQ(async, event.event_number);
        CHECK(event.aff_async.cause.ep == stream->handle);
    }
    fx_empty(stream->node.aff_evd);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(stream->handle));
    CHECK_EQ(-1, stream->ep->fd);
}

void uiw_stream_check_alive(const struct uiw_stream *stream)
{
    fx_empty(stream->node.conn_evd);
    fx_empty(stream->node.aff_evd);
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(stream->handle));
    CHECK(stream->ep->fd >= 0);
}
