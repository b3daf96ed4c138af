/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything that can happen to an endpoint from outside, in every state in which it can. Checks
 * the endpoint's state afterwards, its one event, and the outcome of posted requests.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine_kit.h"

#define SHORT_US UINT64_C(30000)

/* Defines a step that is a single call. */
#define STEP(name, call)                                                                           \
    static void name(struct machine *m)                                                            \
    {                                                                                              \
        call;                                                                                      \
    }

/* ---- What the peer does ---------------------------------------------------------------------- */

STEP(peer_closes, raw_finish(&m->peer));
STEP(peer_resets, raw_close_with_reset(&m->peer));
STEP(peer_says_nonsense, CHECK(raw_send_part(&m->peer, "GET / HTTP/1.1\r\n\r\n", 18)));
STEP(peer_does_nothing, (void)m);

static void reply_yes(struct machine *m)
{
    machine_hear(m, false);
    machine_say(m, true, RAW_MPA_C, "yes");
}

static void reply_no(struct machine *m)
{
    machine_hear(m, false);
    machine_say(m, true, RAW_MPA_C | RAW_MPA_R, "no");
}

static void reply_half(struct machine *m)
{
    machine_hear(m, false);
    CHECK(raw_send_part(&m->peer, "MPA ID Rep", 10));
    raw_finish(&m->peer);
}

static void reply_wants_markers(struct machine *m)
{
    machine_hear(m, false);
    machine_say(m, true, RAW_MPA_C | RAW_MPA_M, "");
}

static void reply_of_another_revision(struct machine *m)
{
    RAW_BYTES(frame);

    machine_hear(m, false);
    raw_mpa(&frame, true, RAW_MPA_C, 3, NULL, 0);
    CHECK(raw_send(&m->peer, &frame));
}

static void request_arrives(struct machine *m)
{
    machine_say(m, false, RAW_MPA_C, "may I?");
    machine_hear(m, true);
}

static void request_half(struct machine *m)
{
    CHECK(raw_send_part(&m->peer, "MPA ID Req", 10));
    raw_finish(&m->peer);
}

STEP(reply_instead_of_request, machine_say(m, true, RAW_MPA_C, ""));

static void send_ulpdu(struct machine *m, struct raw_bytes *ulpdu)
{
    CHECK(raw_send_ulpdu(&m->peer, ulpdu));
    raw_free(ulpdu);
}

/*
 * Defines a step that sends one segment. Arguments: the function that builds it, with its
 * arguments.
 */
#define SENDS(name, build, ...)                                                                    \
    static void name(struct machine *m)                                                            \
    {                                                                                              \
        struct raw_bytes ulpdu = {0};                                                              \
                                                                                                   \
        build(&ulpdu, __VA_ARGS__);                                                                \
        send_ulpdu(m, &ulpdu);                                                                     \
    }

SENDS(message_arrives, raw_untagged, RAW_SEND, 0, 1, 0, NULL, 0, true, 0);

static void messages_without_receive(struct machine *m)
{
    struct raw_bytes ulpdu = {0};

    message_arrives(m);
    raw_untagged(&ulpdu, RAW_SEND, 0, 2, 0, NULL, 0, true, 0);
    send_ulpdu(m, &ulpdu);
}

SENDS(message_too_long, raw_untagged, RAW_SEND, 0, 1, 0, "x", 1, true, 0);
SENDS(write_arrives, raw_tagged, RAW_WRITE, 1, 0, NULL, 0, true);
SENDS(write_nowhere, raw_tagged, RAW_WRITE, 1, 0, "x", 1, true);
SENDS(read_from_nowhere, raw_read_request, 1, 1, 0, 1, 1, 0);
SENDS(answer_nobody_asked_for, raw_tagged, RAW_READ_RESPONSE, 0x12345678, 0, NULL, 0, true);
SENDS(unknown_opcode, raw_untagged, (enum raw_op)13, 0, 1, 0, NULL, 0, true, 0);
SENDS(wrong_sequence_number, raw_untagged, RAW_SEND, 0, 9, 0, NULL, 0, true, 0);

static void wrong_crc(struct machine *m)
{
    RAW_BYTES(ulpdu);
    RAW_BYTES(frame);

    raw_tagged(&ulpdu, RAW_WRITE, 1, 0, NULL, 0, true);
    raw_fpdu(&frame, &ulpdu, true);
    frame.data[frame.len - 1] ^= 1;
    CHECK(raw_send(&m->peer, &frame));
}

static void half_a_frame(struct machine *m)
{
    CHECK(raw_send_part(&m->peer, "\0\100x", 3));
    raw_finish(&m->peer);
}

static void terminate(struct machine *m, unsigned code)
{
    struct raw_bytes ulpdu = {0};

    raw_terminate(&ulpdu, code >> 12, code >> 8 & 0xfu, code & 0xffu, 0, NULL, 0, NULL, 0);
    send_ulpdu(m, &ulpdu);
}

STEP(terminate_for_no_reason, terminate(m, 0x02ff));
STEP(terminate_for_access, terminate(m, 0x1100));
STEP(terminate_for_length, terminate(m, 0x1205));

/* ---- How the states are reached ------------------------------------------------------------- */

STEP(in_active1, machine_connect(m, 0));
STEP(in_active1_not_for_long, machine_connect(m, SHORT_US));

static void in_active1_nobody_there(struct machine *m)
{
    it_path_t path = fx_path(&m->node);
    it_conn_qual_t qual = {.type = IT_IANA_PORT};

    m->idle = raw_keep_port(&qual.conn_qual.port);
    CHECK_OK(it_ep_connect(m->ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
}

STEP(in_active1_by_conversion, machine_convert(m, ITX_SC_INITIATOR, 0));
STEP(in_active1_by_conversion_not_for_long, machine_convert(m, ITX_SC_INITIATOR, SHORT_US));
STEP(in_wait, machine_convert(m, ITX_SC_RESPONDER, 0));
STEP(in_wait_not_for_long, machine_convert(m, ITX_SC_RESPONDER, SHORT_US));
STEP(in_connected, machine_bring(m, 'C', true));

static void in_connected_without_exchange(struct machine *m)
{
    machine_convert(m, (it_sc_flags_t)(IT_SC_NO_REQ_REP | ITX_SC_INITIATOR), 0);
    m->peer.crc = true;
    fx_conn(m->node.conn_evd, m->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

STEP(in_nonoperational, machine_bring(m, 'N', true));

/* ---- The table ------------------------------------------------------------------------------ */

#define ESTABLISHED    IT_CM_MSG_CONN_ESTABLISHED_EVENT
#define DISCONNECT     IT_CM_MSG_CONN_DISCONNECT_EVENT
#define BROKEN         IT_CM_MSG_CONN_BROKEN_EVENT
#define PEER_REJECT    IT_CM_MSG_CONN_PEER_REJECT_EVENT
#define NONPEER_REJECT IT_CM_MSG_CONN_NONPEER_REJECT_EVENT

static const struct row {
    const char *name;
    void (*reach)(struct machine *m);
    char from; /* ?: the connection may have ended */
    void (*happens)(struct machine *m);
    char to;
    it_event_type_t event;      /* on the connect EVD; 0: no event */
    it_conn_reject_code_t code; /* with NONPEER_REJECT */
    const char *private_data;   /* in the event; NULL: none */
    it_event_type_t async;      /* on the affiliated EVD; 0: no event */
    it_dto_status_t receive;    /* status of the posted receive; KEPT if it stays */
} rows[] = {
#define KEPT   ((it_dto_status_t)-1)
#define DONE   IT_DTO_SUCCESS
#define FLUSH  IT_DTO_ERR_FLUSHED
#define NOCODE ((it_conn_reject_code_t)0)
    /* Attempts with it_ep_connect. */
    {"connect, accepted", in_active1, '1', reply_yes, 'C', ESTABLISHED, NOCODE, "yes", 0, KEPT},
    {"connect, rejected", in_active1, '1', reply_no, 'N', PEER_REJECT, NOCODE, "no", 0, FLUSH},
    {"connect, closed", in_active1, '1', peer_closes, 'N', NONPEER_REJECT, IT_CN_REJ_OTHER, NULL, 0,
     FLUSH},
    {"connect, reset", in_active1, '1', peer_resets, 'N', NONPEER_REJECT, IT_CN_REJ_OTHER, NULL, 0,
     FLUSH},
    {"connect, half a Reply", in_active1, '1', reply_half, 'N', NONPEER_REJECT,
     IT_CN_REJ_BAD_CONN_PARMS, NULL, 0, FLUSH},
    {"connect, nonsense", in_active1, '1', peer_says_nonsense, 'N', NONPEER_REJECT,
     IT_CN_REJ_BAD_CONN_PARMS, NULL, 0, FLUSH},
    {"connect, another revision", in_active1, '1', reply_of_another_revision, 'N', NONPEER_REJECT,
     IT_CN_REJ_BAD_CONN_PARMS, NULL, 0, FLUSH},
    {"connect, markers wanted", in_active1, '1', reply_wants_markers, 'C', ESTABLISHED, NOCODE,
     NULL, 0, KEPT},
    {"connect, no answer", in_active1_not_for_long, '?', peer_does_nothing, 'N', NONPEER_REJECT,
     IT_CN_REJ_TIMEOUT, NULL, 0, FLUSH},
    {"connect, nobody listens", in_active1_nobody_there, '?', peer_does_nothing, 'N',
     NONPEER_REJECT, IT_CN_REJ_OTHER, NULL, 0, FLUSH},
    /* Conversions as initiator: S2 to S4. */
    {"Initiator, accepted", in_active1_by_conversion, '1', reply_yes, 'C', ESTABLISHED, NOCODE,
     "yes", 0, KEPT},
    {"Initiator, rejected", in_active1_by_conversion, '1', reply_no, 'N', PEER_REJECT, NOCODE, "no",
     0, FLUSH},
    {"Initiator, closed", in_active1_by_conversion, '1', peer_closes, 'N', NONPEER_REJECT,
     IT_CN_REJ_OTHER, NULL, 0, FLUSH},
    {"Initiator, reset", in_active1_by_conversion, '1', peer_resets, 'N', NONPEER_REJECT,
     IT_CN_REJ_OTHER, NULL, 0, FLUSH},
    {"Initiator, nonsense", in_active1_by_conversion, '1', peer_says_nonsense, 'N', NONPEER_REJECT,
     IT_CN_REJ_BAD_CONN_PARMS, NULL, 0, FLUSH},
    {"Initiator, no answer", in_active1_by_conversion_not_for_long, '?', peer_does_nothing, 'N',
     NONPEER_REJECT, IT_CN_REJ_TIMEOUT, NULL, 0, FLUSH},
    /* Conversions as responder: S6 to S8. */
    {"Responder, Request", in_wait, 'W', request_arrives, 'C', ESTABLISHED, NOCODE, "may I?", 0,
     KEPT},
    {"Responder, nonsense", in_wait, 'W', peer_says_nonsense, 'N', NONPEER_REJECT,
     IT_CN_REJ_BAD_CONN_PARMS, NULL, 0, FLUSH},
    {"Responder, a Reply", in_wait, 'W', reply_instead_of_request, 'N', NONPEER_REJECT,
     IT_CN_REJ_BAD_CONN_PARMS, NULL, 0, FLUSH},
    {"Responder, half a Request", in_wait, 'W', request_half, 'N', NONPEER_REJECT,
     IT_CN_REJ_BAD_CONN_PARMS, NULL, 0, FLUSH},
    {"Responder, closed", in_wait, 'W', peer_closes, 'N', NONPEER_REJECT, IT_CN_REJ_OTHER, NULL, 0,
     FLUSH},
    {"Responder, reset", in_wait, 'W', peer_resets, 'N', NONPEER_REJECT, IT_CN_REJ_OTHER, NULL, 0,
     FLUSH},
    {"Responder, no Request", in_wait_not_for_long, '?', peer_does_nothing, 'N', NONPEER_REJECT,
     IT_CN_REJ_TIMEOUT, NULL, 0, FLUSH},
    /* Connections. */
    {"a message", in_connected, 'C', message_arrives, 'C', 0, NOCODE, NULL, 0, DONE},
    {"a Write", in_connected, 'C', write_arrives, 'C', 0, NOCODE, NULL, 0, KEPT},
    {"no exchange, a message", in_connected_without_exchange, 'C', message_arrives, 'C', 0, NOCODE,
     NULL, 0, DONE},
    {"closed", in_connected, 'C', peer_closes, 'N', DISCONNECT, NOCODE, NULL, 0, FLUSH},
    {"no exchange, closed", in_connected_without_exchange, 'C', peer_closes, 'N', DISCONNECT,
     NOCODE, NULL, 0, FLUSH},
    {"reset", in_connected, 'C', peer_resets, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_L_LLP_ERROR, FLUSH},
    {"closed within a frame", in_connected, 'C', half_a_frame, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_L_LLP_ERROR, FLUSH},
    {"wrong CRC", in_connected, 'C', wrong_crc, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_L_LLP_ERROR, FLUSH},
    {"unknown opcode", in_connected, 'C', unknown_opcode, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE, FLUSH},
    {"wrong sequence number", in_connected, 'C', wrong_sequence_number, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR, FLUSH},
    {"a message too many", in_connected, 'C', messages_without_receive, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR, DONE},
    {"a message too long", in_connected, 'C', message_too_long, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION, IT_DTO_ERR_LOCAL_LENGTH},
    {"a Write to nowhere", in_connected, 'C', write_nowhere, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION, FLUSH},
    {"a Read from nowhere", in_connected, 'C', read_from_nowhere, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION, FLUSH},
    {"an answer nobody asked for", in_connected, 'C', answer_nobody_asked_for, 'N', BROKEN, NOCODE,
     NULL, IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE, FLUSH},
    {"Terminate", in_connected, 'C', terminate_for_no_reason, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_R_ERROR, FLUSH},
    {"Terminate, access", in_connected, 'C', terminate_for_access, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION, FLUSH},
    {"Terminate, length", in_connected, 'C', terminate_for_length, 'N', BROKEN, NOCODE, NULL,
     IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR, FLUSH},
    /* An ended connection does not end again. */
    {"closed, afterwards", in_nonoperational, 'N', peer_closes, 'N', 0, NOCODE, NULL, 0, KEPT},
    {"reset, afterwards", in_nonoperational, 'N', peer_resets, 'N', 0, NOCODE, NULL, 0, KEPT},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* A program that reads the event sees the new state. */
static void check_event(struct machine *m, const struct row *row)
{
    it_event_t event;

    if (row->event == 0)
        return;
    event = fx_conn(m->node.conn_evd, m->ep, row->event);
    EXPECT_EQ(row->to, machine_state(m->ep));
    EXPECT_EQ(0, event.conn.cn_est_id);
    if (row->event == NONPEER_REJECT)
        EXPECT_EQ(row->code, event.conn.reject_reason_code);
    EXPECT_EQ(row->private_data ? IT_TRUE : IT_FALSE, event.conn.private_data_present);
    if (row->private_data)
        EXPECT(strcmp(row->private_data, (const char *)event.conn.private_data) == 0);
    EXPECT_EQ(row->to == 'C' ? 8 : 0, event.conn.rdma_read_ird);
    EXPECT_EQ(row->to == 'C' ? 8 : 0, event.conn.rdma_read_ord);
}

static void check_async(struct machine *m, it_event_type_t number)
{
    it_event_t event;

    if (number == 0)
        return;
    event = fx_next(m->node.aff_evd);
    if (event.event_number != number)
        check_note(__FILE__, __LINE__, "%s instead of %s", itx_event_string(event.event_number),
                   itx_event_string(number));
    EXPECT(event.aff_async.cause.ep == m->ep);
}

/* After the end of a connection all posts are flushed. Before it only receives are possible. */
static void check_later_posts(struct machine *m, const struct row *row)
{
    if (row->to != 'N')
        return;
    EXPECT_OK(it_post_recv(m->ep, NULL, 0, 2, FX_SIGNAL));
    fx_done(m->node.recv_evd, m->ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    EXPECT_OK(it_post_send(m->ep, NULL, 0, 3, FX_QUIET));
    fx_done(m->node.request_evd, m->ep, IT_DTO_SEND_CMPL_EVENT, 3, IT_DTO_ERR_FLUSHED);
    EXPECT_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_disconnect(m->ep, NULL, 0));
    EXPECT_OK(it_ep_reset(m->ep));
    EXPECT_EQ('U', machine_state(m->ep));
}

/* If a Read is open, an unsolicited answer is a wrong one. */
static it_event_type_t async_of(const struct row *row, bool with_requests)
{
    if (with_requests && row->happens == answer_nobody_asked_for)
        return IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR;
    return row->async;
}

/*
 * A Read that the peer does not answer is flushed with the connection, and so are later requests.
 */
static void open_requests(struct machine *m)
{
    CHECK_OK(it_post_rdma_read(m->ep, NULL, 0, 10, FX_QUIET, 0, 0));
    CHECK_OK(it_post_rdma_write(m->ep, NULL, 0, 11, IT_BARRIER_FENCE_FLAG, 0, 0));
}

static void check_requests(struct machine *m)
{
    it_event_t event = fx_next(m->node.request_evd);

    /* An answer that lies fails the Read that it claims to answer. */
    EXPECT_EQ(10, event.dto_cmpl.cookie);
    EXPECT(event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED ||
           event.dto_cmpl.dto_status == IT_DTO_ERR_BAD_RESPONSE);
    fx_done(m->node.request_evd, m->ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 11, IT_DTO_ERR_FLUSHED);
}

static void walk_row(const struct row *row, bool with_requests)
{
    struct machine m;

    check_context(row->name);
    machine_open(&m, 'U', true);
    if (row->from != 'N')
        CHECK_OK(it_post_recv(m.ep, NULL, 0, 1, FX_SIGNAL));
    row->reach(&m);
    if (row->from != '?')
        EXPECT_EQ(row->from, machine_state(m.ep));
    if (with_requests)
        open_requests(&m);
    row->happens(&m);
    check_event(&m, row);
    check_async(&m, async_of(row, with_requests));
    if (row->receive != KEPT)
        fx_done(m.node.recv_evd, m.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, row->receive);
    if (with_requests)
        check_requests(&m);
    EXPECT_EQ(row->to, machine_state(m.ep));
    machine_is_silent(&m);
    check_later_posts(&m, row);
    machine_is_silent(&m);
    machine_close(&m);
    check_context(NULL);
}

Test(machine_events, every_row)
{
    for (size_t i = 0; i < ROWS; i++)
        walk_row(&rows[i], false);
    check_done();
}

/* The same for connections with open requests. */
Test(machine_events, every_end_of_a_busy_connection)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].from == 'C' && rows[i].to == 'N')
            walk_row(&rows[i], true);
    }
    check_done();
}

/* ---- What the other side notices ------------------------------------------------------------ */

/* Calls it_ep_disconnect or it_ep_free on an endpoint with a stream: the peer sees its end. */
static void peer_sees_the_end(char letter, bool by_free)
{
    struct machine m;
    char context[64];

    (void)snprintf(context, sizeof(context), "%s in %c", by_free ? "free" : "disconnect", letter);
    check_context(context);
    machine_open(&m, letter, true);
    if (by_free)
        CHECK_OK(it_ep_free(m.ep));
    else
        CHECK_OK(it_ep_disconnect(m.ep, NULL, 0));
    EXPECT(raw_drain(&m.peer) != RAW_TIMEOUT);
    if (!by_free)
        fx_conn(m.node.conn_evd, m.ep, DISCONNECT);
    machine_is_silent(&m);
    machine_close(&m);
    check_context(NULL);
}

Test(machine_events, the_peer_sees_the_end)
{
    static const char letters[] = "1WC";

    for (unsigned i = 0; letters[i]; i++) {
        peer_sees_the_end(letters[i], false);
        peer_sees_the_end(letters[i], true);
    }
    check_done();
}
