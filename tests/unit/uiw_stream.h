/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An EP of uiwarp with a stream that no thread reads or writes: the test holds both tokens, the
 * other end of the socket is a descriptor of the test's. What is posted stays in the queues.
 */
#ifndef ITAPI_TESTS_UNIT_UIW_STREAM_H
#define ITAPI_TESTS_UNIT_UIW_STREAM_H

#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "vp/uiwarp/queue/uiw_ep.h"

#define STREAM_MEMORY (256u * 1024u)

struct uiw_stream {
    struct fx_node node;
    struct fx_buf buf; /* STREAM_MEMORY octets, filled with seed 1; open to the peer */
    it_ep_handle_t handle;
    struct ual_ep *ual;
    struct uiw_ep *ep;
    int peer;
    bool sends; /* the library has the send token to itself */
};

/* Connected, IRD and ORD 8. */
void uiw_stream_open(struct uiw_stream *stream, bool crc, uint32_t max_ulpdu);
void uiw_stream_close(struct uiw_stream *stream);

/* Puts TCP in place of the socket. The peer is closed by the test. */
void uiw_stream_over_tcp(struct uiw_stream *stream, struct raw_peer *peer);
/* From here on the library sends when the test calls it; the test stays the reader. */
void uiw_stream_let_send(struct uiw_stream *stream);

/* The events of an end, no others, and the state. async 0: none. */
void uiw_stream_check_end(const struct uiw_stream *stream, it_event_type_t number,
                          it_event_type_t async);
void uiw_stream_check_alive(const struct uiw_stream *stream);

/* The STag that peers use for the buffer. */
uint32_t uiw_stream_stag(const struct uiw_stream *stream);

/* A request of one segment, or none if it has no length. */
void uiw_stream_post(struct uiw_stream *stream, enum vp_opcode opcode, unsigned flags,
                     size_t offset, size_t length, uint32_t stag, it_rdma_addr_t to);
void uiw_stream_post_request(struct uiw_stream *stream, const struct vp_request *request);
void uiw_stream_post_recv(struct uiw_stream *stream, size_t offset, size_t length);

/* The next completion of the EVD. Returns false if there is none. */
bool uiw_stream_completion(it_evd_handle_t evd, it_dto_cmpl_event_t *completion);
/* It is there, and is this one. */
void uiw_stream_done(it_evd_handle_t evd, it_dto_cookie_t cookie, it_dto_status_t status);

#endif
