/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An EP of uiwarp with a stream that no thread reads or writes. The test holds both tokens and the
 * other end of the socket. Posted requests stay in the queues.
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
    bool sends; /* the library may take the send token */
};

/* Opens a connected EP with IRD and ORD 8. */
void uiw_stream_open(struct uiw_stream *stream, bool crc, uint32_t max_ulpdu);
void uiw_stream_close(struct uiw_stream *stream);

/* Replaces the socket by TCP. The test closes the peer. */
void uiw_stream_over_tcp(struct uiw_stream *stream, struct raw_peer *peer);
/* From here on the library sends when the test calls it. The test still reads. */
void uiw_stream_let_send(struct uiw_stream *stream);

/*
 * Checks the events of an end, that there are no others, and the state. async 0: no asynchronous
 * event.
 */
void uiw_stream_check_end(const struct uiw_stream *stream, it_event_type_t number,
                          it_event_type_t async);
void uiw_stream_check_alive(const struct uiw_stream *stream);

/* Returns the STag by which peers access the buffer. */
uint32_t uiw_stream_stag(const struct uiw_stream *stream);

/* Posts a request of one segment, or of none if length is 0. */
void uiw_stream_post(struct uiw_stream *stream, enum vp_opcode opcode, unsigned flags,
                     size_t offset, size_t length, uint32_t stag, it_rdma_addr_t to);
void uiw_stream_post_request(struct uiw_stream *stream, const struct vp_request *request);
void uiw_stream_post_recv(struct uiw_stream *stream, size_t offset, size_t length);

/* Takes the next completion of the EVD. Returns false if there is none. */
bool uiw_stream_completion(it_evd_handle_t evd, it_dto_cmpl_event_t *completion);
/* Takes the next completion and checks that it is this one. */
void uiw_stream_done(it_evd_handle_t evd, it_dto_cookie_t cookie, it_dto_status_t status);

#endif
