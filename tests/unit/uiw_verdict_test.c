/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reasons for which a stream ends: the Terminate for the peer, and the affiliated event, the
 * completions and the counters for the consumer. Each row has a stream of its own.
 */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "uiw_stream.h"

#include <criterion/criterion.h>

#include <errno.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* Cookies, in the order of the posts. */
enum {
    RECEIVE = 1,
    SEND,
    READ,
    SECOND_READ,
    ATOMIC
};

#define FLUSHED IT_DTO_ERR_FLUSHED

static struct uiw_stream stream;
static struct raw_peer peer;
static struct raw_segment segment;

static void enter_read(uint32_t sq_index, bool is_atomic)
{
    uiw_sqe_at(stream.ep, sq_index)->msn = 100 + sq_index;
    uiw_orq_enter(&stream.ep->reads,
                  &(struct uiw_orq_entry){.sq_index = sq_index, .atomic = is_atomic});
}

/* Posts a receive and a Send. */
static void begin(const char *about)
{
    check_context(about);
    uiw_stream_open(&stream, true, 1460);
    uiw_stream_over_tcp(&stream, &peer);
    uiw_stream_post_recv(&stream, 0, 64);
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
}

/* Posts also two Reads and an atomic, which wait for their responses. */
static void begin_with_reads(const char *about)
{
    begin(about);
    uiw_stream_post(&stream, VP_RDMA_READ, 0, 0, 0, 1, 0);
    uiw_stream_post(&stream, VP_RDMA_READ, 0, 0, 0, 1, 0);
    uiw_stream_post(&stream, VP_FETCH_ADD, 0, 0, 8, 1, 0);
    enter_read(READ - SEND, false);
    enter_read(SECOND_READ - SEND, false);
    enter_read(ATOMIC - SEND, true);
    uiw_stream_let_send(&stream);
}

static void finish(void)
{
    raw_close(&peer);
    uiw_stream_close(&stream);
    check_context(NULL);
}

/* failed: the cookie of the failed request, or 0 if none failed. The others are flushed. */
static void check_requests(it_dto_cookie_t last, it_dto_cookie_t failed, it_dto_status_t status)
{
    for (it_dto_cookie_t cookie = SEND; cookie <= last; cookie++)
        uiw_stream_done(stream.node.request_evd, cookie, cookie == failed ? status : FLUSHED);
    fx_empty(stream.node.request_evd);
}

static void check_terminate(enum iw_error error)
{
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&peer, &segment));
    CHECK_EQ(RAW_TERMINATE, segment.op);
    CHECK_EQ(IW_ERROR_LAYER(error) << 4 | IW_ERROR_TYPE(error), segment.payload[0]);
    CHECK_EQ(IW_ERROR_CODE(error), segment.payload[1]);
    CHECK_EQ(RAW_EOF, raw_drain(&peer));
}

/* ---------------------------------------------------------------- the peer broke the protocol */

static const struct refused_row {
    const char *about;
    enum iw_opcode opcode; /* opcode of the refused segment */
    enum iw_error error;
    it_event_type_t async;
    it_dto_status_t recv_status;
    it_dto_status_t read_status; /* status of the oldest Read */
} refused[] = {
    {"a damaged FPDU", IW_OP_NONE, IW_ERR_MPA_CRC, IT_ASYNC_AFF_EP_L_LLP_ERROR, FLUSHED, FLUSHED},
    {"a damaged response", IW_OP_READ_RESPONSE, IW_ERR_MPA_CRC, IT_ASYNC_AFF_EP_L_LLP_ERROR,
     FLUSHED, FLUSHED},
    {"an unknown opcode", IW_OP_NONE, IW_ERR_RDMAP_OPCODE, IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE,
     FLUSHED, FLUSHED},
    {"a Send invalidates what is not its own", IW_OP_SEND_INV, IW_ERR_RDMAP_CANNOT_INVALIDATE,
     IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION, FLUSHED, FLUSHED},
    {"a receive in memory that is gone", IW_OP_SEND, IW_ERR_DDP_LOCAL,
     IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION, IT_DTO_ERR_LOCAL_PROTECTION, FLUSHED},
    {"a Send that is too long", IW_OP_SEND, IW_ERR_DDP_TOO_LONG,
     IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION, IT_DTO_ERR_LOCAL_LENGTH, FLUSHED},
    {"a response for memory that is gone", IW_OP_READ_RESPONSE, IW_ERR_DDP_LOCAL,
     IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION, FLUSHED, IT_DTO_ERR_LOCAL_PROTECTION},
    {"a response elsewhere", IW_OP_READ_RESPONSE, IW_ERR_DDP_BOUNDS,
     IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR, FLUSHED, IT_DTO_ERR_BAD_RESPONSE},
    {"an atomic response to nothing", IW_OP_ATOMIC_RESPONSE, IW_ERR_DDP_MSN_RANGE,
     IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR, FLUSHED, IT_DTO_ERR_BAD_RESPONSE},
    {"more Reads than the IRD", IW_OP_READ_REQUEST, IW_ERR_DDP_NO_BUFFER,
     IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION, FLUSHED, FLUSHED},
    {"more atomics than the IRD", IW_OP_ATOMIC_REQUEST, IW_ERR_DDP_NO_BUFFER,
     IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION, FLUSHED, FLUSHED},
    {"a Send without a receive", IW_OP_SEND, IW_ERR_DDP_NO_BUFFER,
     IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR, FLUSHED, FLUSHED},
    {"a Write with a wrong key", IW_OP_WRITE, IW_ERR_DDP_INVALID_STAG,
     IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION, FLUSHED, FLUSHED},
    {"a Write without the right", IW_OP_WRITE, IW_ERR_RDMAP_ACCESS,
     IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION, FLUSHED, FLUSHED},
    {"a Write of another version", IW_OP_WRITE, IW_ERR_DDP_TAGGED_VERSION,
     IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR, FLUSHED, FLUSHED},
    {"a Read with a wrong key", IW_OP_READ_REQUEST, IW_ERR_RDMAP_INVALID_STAG,
     IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION, FLUSHED, FLUSHED},
    {"an atomic without the right", IW_OP_ATOMIC_REQUEST, IW_ERR_RDMAP_ACCESS,
     IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION, FLUSHED, FLUSHED},
    {"a queue that is none", IW_OP_SEND, IW_ERR_DDP_INVALID_QN, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR,
     FLUSHED, FLUSHED},
};

static void check_counters(enum iw_error error)
{
    bool damaged = error == IW_ERR_MPA_CRC;

    CHECK_EQ(damaged, atomic_load(&stream.ep->rx.crc_errors));
    CHECK_EQ(!damaged, atomic_load(&stream.ep->rx.protocol_errors));
    CHECK_EQ(1, atomic_load(&stream.ep->tx.terminates));
}

Test(uiw_verdict, refused)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        const struct refused_row *row = &refused[i];

        begin_with_reads(row->about);
        stream.ep->rx.iw.segment.opcode = row->opcode;
        uiw_verdict_refused(stream.ual, row->error);
        check_terminate(row->error);
        uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, row->async);
        uiw_stream_done(stream.node.recv_evd, RECEIVE, row->recv_status);
        check_requests(ATOMIC, row->read_status == FLUSHED ? 0 : READ, row->read_status);
        check_counters(row->error);
        finish();
    }
}

/* No request of the consumer fails: the ready-to-receive Read has none. */
Test(uiw_verdict, the_ready_to_receive_read_takes_no_blame)
{
    begin("a bad response to the ready-to-receive Read");
    uiw_orq_enter(&stream.ep->reads, &(struct uiw_orq_entry){.sink_stag = 1, .rtr = true});
    uiw_stream_let_send(&stream);
    stream.ep->rx.iw.segment.opcode = IW_OP_READ_RESPONSE;
    uiw_verdict_refused(stream.ual, IW_ERR_DDP_BOUNDS);
    check_requests(SEND, 0, 0);
    finish();
}

/* ---------------------------------------------------------------- the peer has sent a Terminate */

static const struct terminated_row {
    const char *about;
    struct iw_terminate terminate;
    uint32_t msn; /* MSN in the copied header */
    it_event_type_t async;
    it_dto_cookie_t failed;
    it_dto_status_t status;
} terminated[] = {
    {"a Write was refused",
     {.error = IW_ERR_DDP_BOUNDS, .has_ddp = true, .ddp_length = IW_TAGGED_HEADER},
     0,
     IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION,
     0,
     0},
    {"a Send was too long",
     {.error = IW_ERR_DDP_TOO_LONG,
      .has_ddp = true,
      .ddp_length = IW_UNTAGGED_HEADER,
      .ddp = {0x41, 0x40 | IW_OP_SEND}},
     1,
     IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR,
     0,
     0},
    {"a receive of the peer was bad",
     {.error = IW_ERR_DDP_LOCAL},
     0,
     IT_ASYNC_AFF_EP_R_RECV_ACCESS_VIOLATION,
     0,
     0},
    {"something else", {.error = IW_ERR_RDMAP_LOCAL}, 0, IT_ASYNC_AFF_EP_R_ERROR, 0, 0},
    {"the second Read was refused",
     {.error = IW_ERR_RDMAP_ACCESS,
      .has_ddp = true,
      .has_rdmap = true,
      .ddp_length = IW_UNTAGGED_HEADER,
      .ddp = {0x41, 0x40 | IW_OP_READ_REQUEST}},
     102,
     IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION,
     SECOND_READ,
     IT_DTO_ERR_REMOTE_ACCESS},
    {"a Read was refused, which one is not known",
     {.error = IW_ERR_RDMAP_ACCESS,
      .has_ddp = true,
      .has_rdmap = true,
      .ddp_length = IW_UNTAGGED_HEADER,
      .ddp = {0x41, 0x40 | IW_OP_READ_REQUEST}},
     99,
     IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION,
     READ,
     IT_DTO_ERR_REMOTE_ACCESS},
    {"siw writes the length of the Read where its MSN was",
     {.error = IW_ERR_RDMAP_ACCESS,
      .has_ddp = true,
      .has_rdmap = true,
      .ddp_length = IW_UNTAGGED_HEADER,
      .ddp = {0x41, 0x40 | IW_OP_READ_REQUEST},
      .little_endian_nibbles = true},
     102,
     IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION,
     READ,
     IT_DTO_ERR_REMOTE_ACCESS},
    {"the peer has failed within a Read",
     {.error = IW_ERR_RDMAP_LOCAL,
      .has_ddp = true,
      .has_rdmap = true,
      .ddp_length = IW_UNTAGGED_HEADER,
      .ddp = {0x41, 0x40 | IW_OP_READ_REQUEST}},
     101,
     IT_ASYNC_AFF_EP_R_ERROR,
     0,
     0},
    {"the atomic was refused",
     {.error = IW_ERR_RDMAP_ACCESS,
      .has_ddp = true,
      .ddp_length = IW_UNTAGGED_HEADER,
      .ddp = {0x41, 0x40 | IW_OP_ATOMIC_REQUEST}},
     103,
     IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION,
     ATOMIC,
     IT_DTO_ERR_REMOTE_ACCESS},
    {"the peer does not execute the atomic",
     {.error = IW_ERR_RDMAP_OPCODE,
      .has_ddp = true,
      .ddp_length = IW_UNTAGGED_HEADER,
      .ddp = {0x41, 0x40 | IW_OP_ATOMIC_REQUEST}},
     103,
     IT_ASYNC_AFF_EP_R_ERROR,
     ATOMIC,
     IT_DTO_ERR_REMOTE_RESPONDER},
};

Test(uiw_verdict, terminated)
{
    for (size_t i = 0; i < COUNT(terminated); i++) {
        const struct terminated_row *row = &terminated[i];
        struct iw_terminate *terminate;

        begin_with_reads(row->about);
        terminate = &stream.ep->rx.terminate;
        *terminate = row->terminate;
        terminate->ddp[13] = (uint8_t)row->msn;
        uiw_verdict_terminated(stream.ual);
        uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, row->async);
        uiw_stream_done(stream.node.recv_evd, RECEIVE, FLUSHED);
        check_requests(ATOMIC, row->failed, row->status);
        CHECK_EQ(1, atomic_load(&stream.ep->rx.terminates_in));
        CHECK_EQ(RAW_EOF, raw_drain(&peer)); /* a Terminate is not answered */
        finish();
    }
}

/*
 * Linux siw names no header when it does not know the opcode. The oldest open request may be an
 * atomic.
 */
Test(uiw_verdict, terminated_without_a_header)
{
    for (unsigned reads = 0; reads < 3; reads++) {
        begin_with_reads("siw refuses an opcode");
        atomic_store(&stream.ep->reads.orq_head, reads);
        stream.ep->rx.terminate = (struct iw_terminate){.error = IW_ERR_RDMAP_OPCODE};
        uiw_verdict_terminated(stream.ual);
        uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, IT_ASYNC_AFF_EP_R_ERROR);
        check_requests(ATOMIC, reads == 2 ? ATOMIC : 0, IT_DTO_ERR_REMOTE_RESPONDER);
        finish();
    }
}

/* ---------------------------------------------------------------- the peer has closed */

static const struct closed_row {
    const char *about;
    enum uiw_read_state state;
    size_t octets; /* of an FPDU */
    bool dead;
    bool graceful;
} closed[] = {
    {"between two FPDUs", UIW_READ_CLOSED, 0, false, true},
    {"within an FPDU", UIW_READ_CLOSED, 5, false, false},
    {"while what we sent could not leave", UIW_READ_CLOSED, 0, true, false},
    {"with a reset", UIW_READ_LOST, 0, false, false},
};

Test(uiw_verdict, closed)
{
    static const uint8_t octets[8] = {0, 32};

    for (size_t i = 0; i < COUNT(closed); i++) {
        const struct closed_row *row = &closed[i];

        begin(row->about);
        uiw_stream_let_send(&stream);
        CHECK_EQ(IW_OK, iw_rx_consume(&stream.ep->rx.iw, octets, row->octets));
        atomic_store(&stream.ep->tx.dead, row->dead);
        uiw_verdict_closed(stream.ual, row->state, ECONNRESET);
        if (row->graceful)
            uiw_stream_check_end(&stream, IT_CM_MSG_CONN_DISCONNECT_EVENT, 0);
        else
            uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, IT_ASYNC_AFF_EP_L_LLP_ERROR);
        uiw_stream_done(stream.node.recv_evd, RECEIVE, FLUSHED);
        check_requests(SEND, 0, 0);
        CHECK_EQ(0, atomic_load(&stream.ep->tx.terminates));
        finish();
    }
}

/* ---------------------------------------------------------------- the sender has stopped */

static const struct unsendable_row {
    const char *about;
    struct uiw_failure failure;
    enum iw_error error; /* of the Terminate */
    it_event_type_t async;
    it_dto_cookie_t failed;
} unsendable[] = {
    {"memory of a request is gone",
     {.status = IT_DTO_ERR_LOCAL_PROTECTION},
     IW_ERR_RDMAP_LOCAL,
     IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION,
     SEND},
    {"a Read without ORD",
     {.status = IT_DTO_ERR_LOCAL_EP},
     IW_ERR_RDMAP_LOCAL,
     IT_ASYNC_AFF_EP_FAILURE,
     SEND},
    {"a key that no peer has",
     {.status = IT_DTO_ERR_REMOTE_ACCESS},
     IW_ERR_RDMAP_LOCAL,
     IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION,
     SEND},
    {"the source of a Read of the peer is gone",
     {.error = IW_ERR_RDMAP_INVALID_STAG,
      .entry = {.request = {.sink_to = 0x1000, .length = 60, .source_to = 0x2000}, .msn = 7},
      .answered = 20},
     IW_ERR_RDMAP_INVALID_STAG,
     IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION,
     0},
    {"neither", {.status = IT_DTO_SUCCESS}, IW_ERR_RDMAP_LOCAL, IT_ASYNC_AFF_EP_FAILURE, 0},
};

/* The Terminate names the rest of the Read: M, D and R, the DDP header, then the RDMAP header. */
static void check_rest_of_read(const struct uiw_failure *failure)
{
    const unsigned char *ddp = segment.payload + 6;
    const unsigned char *read = ddp + IW_UNTAGGED_HEADER;

    if (failure->error == IW_OK)
        return;
    CHECK_EQ(0xe0, segment.payload[2]);
    CHECK_EQ(7, raw_be32(ddp + 10));
    CHECK_EQ(0x1000 + 20, raw_be64(read + 4));
    CHECK_EQ(40, raw_be32(read + 12));
    CHECK_EQ(0x2000 + 20, raw_be64(read + 20));
}

Test(uiw_verdict, unsendable)
{
    for (size_t i = 0; i < COUNT(unsendable); i++) {
        const struct unsendable_row *row = &unsendable[i];

        begin(row->about);
        uiw_stream_let_send(&stream);
        uiw_verdict_unsendable(stream.ual, &row->failure, true);
        check_terminate(row->error);
        check_rest_of_read(&row->failure);
        uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, row->async);
        uiw_stream_done(stream.node.recv_evd, RECEIVE, FLUSHED);
        check_requests(SEND, row->failed, row->failure.status);
        finish();
    }
}

Test(uiw_verdict, what_an_earlier_connection_could_not_send)
{
    begin("another generation");
    stream.ep->generation = 2;
    uiw_stream_let_send(&stream);
    uiw_verdict_unsendable(stream.ual, &(struct uiw_failure){.generation = 1}, true);
    uiw_stream_check_alive(&stream);
    finish();
}
