/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA startup with bad peers: garbage, wrong keys, revisions and lengths, and a connection cut
 * after every octet by FIN and by RST, in every role.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "hostile/fixture_kit.h"
#include "support/test_row.h"

#define KEY_Q "4d504120 49442052 65712046 72616d65"
#define KEY_P "4d504120 49442052 65702046 72616d65"

/* ---- Responder ------------------------------------------------------------------------------ */

static void give_up(struct raw_peer *peer, bool reset)
{
    if (reset)
        raw_close_with_reset(peer);
    else
        raw_close(peer);
}

/* Checks that a converting victim has one NONPEER_REJECT with this reason (or the other). */
static void convert_fails(struct hk_victim *victim, it_conn_reject_code_t one,
                          it_conn_reject_code_t other)
{
    it_event_t event =
        fx_conn(victim->kit->node.conn_evd, victim->ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);

    EXPECT(event.conn.reject_reason_code == one || event.conn.reject_reason_code == other);
    EXPECT_EQ(IT_FALSE, event.conn.private_data_present);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(victim->ep));
}

/* Checks that the library closes without having sent anything. */
static void closed_silently(struct raw_peer *peer)
{
    unsigned char octet;
    size_t got = 0;
    enum raw_result result = raw_receive(peer, &octet, 1, &got);

    if (got != 0 || (result != RAW_EOF && result != RAW_RESET))
        check_note(__FILE__, __LINE__, "not closed: %s, %zu octets", raw_result_name(result), got);
}

/* Sends octets that are refused as soon as they arrive. */
static void refused_request(enum hk_role role, const char *hex, size_t extra)
{
    RAW_BYTES(bytes);
    struct hk_victim victim;
    it_ep_handle_t ep = fx_ep(&kit.node, NULL);

    raw_add_hex(&bytes, hex);
    raw_add_fill(&bytes, 0x55, extra);
    check_context(hex);
    CHECK_OK(it_post_recv(ep, NULL, 0, 1, FX_SIGNAL));
    hk_victim_start(&kit, &victim, ep, role);
    (void)raw_send(&victim.peer, &bytes);
    closed_silently(&victim.peer);
    raw_close(&victim.peer);
    if (role == HK_CONVERT_RESPONDER) {
        convert_fails(&victim, IT_CN_REJ_BAD_CONN_PARMS, IT_CN_REJ_BAD_CONN_PARMS);
        fx_done(kit.node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    } else {
        EXPECT_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    }
    hk_healthy(&kit);
    hk_quiet(&kit);
    hk_victim_close(&victim);
    check_context(NULL);
}

static void refused_requests(enum hk_role role)
{
    static const char *const rows[] = {
        "4c",                                           /* first octet of the key */
        "00",                                           /* binary */
        "47455420 2f204854 54502f31 2e310d0a 0d0a0000", /* another protocol */
        "4d504120 49442052 65712046 72616d64",          /* last octet of the key */
        KEY_P " 40010000",                              /* a Reply */
        KEY_Q " 50030004 00010001",                     /* revision 3 */
        KEY_Q " 40ff0000",                              /* revision 255 */
        KEY_Q " 40010201",                              /* PD_Length 513 */
        KEY_Q " 4001ffff",                              /* PD_Length 65535 */
        KEY_Q " 50020003 000100",                       /* S without the enhanced word */
        KEY_Q " 50020000",
    };

    hk_open(&kit);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        refused_request(role, rows[i], 0);
    refused_request(role, KEY_Q " 40010201", 513);
    refused_request(role, "ffffffff", 100000);
    hk_close(&kit);
    check_done();
}

TEST_ROW(hostile_startup, listener_refuses, refused_requests, HK_LISTEN);
TEST_ROW(hostile_startup, convert_responder_refuses, refused_requests, HK_CONVERT_RESPONDER);

/* Sends an unusual but legal Request, which is accepted. */
static void accepted_request(enum hk_role role, const char *hex)
{
    RAW_BYTES(bytes);
    struct hk_victim victim;
    it_ep_handle_t ep = fx_ep(&kit.node, NULL);

    check_context(hex);
    raw_add_hex(&bytes, hex);
    hk_victim_start(&kit, &victim, ep, role);
    CHECK(raw_send(&victim.peer, &bytes));
    if (role == HK_LISTEN)
        CHECK_OK(it_ep_accept(ep, fx_request(&kit.node, NULL), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
    CHECK(victim.theirs.reply && (victim.theirs.flags & RAW_MPA_R) == 0);
    EXPECT_EQ(bytes.data[17], victim.theirs.revision);
    EXPECT_EQ(bytes.data[16] & RAW_MPA_S, victim.theirs.flags & RAW_MPA_S);
    EXPECT_EQ(0, victim.theirs.flags & RAW_MPA_M);
    fx_conn(kit.node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    victim.peer.crc = true;
    hk_wake(&victim);
    raw_close(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_healthy(&kit);
    hk_victim_close(&victim);
    check_context(NULL);
}

static void accepted_requests(enum hk_role role)
{
    static const char *const rows[] = {
        KEY_Q " 40010000",          KEY_Q " 4f010000", /* reserved bits */
        KEY_Q " 60010000",                             /* R, which is not checked */
        KEY_Q " 00010000",                             /* no CRC, but the library asks for it */
        KEY_Q " 40020000",                             /* revision 2 without S */
        KEY_Q " 50020004 00010001", KEY_Q " 50020004 40010001", /* B without A */
        KEY_Q " 50020004 0000c000",                             /* C and D without A */
        KEY_Q " 50020004 3fff3fff",                             /* no negotiation of read depths */
        KEY_Q " 50020004 00000000",
    };

    hk_open(&kit);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        accepted_request(role, rows[i]);
    hk_close(&kit);
    check_done();
}

TEST_ROW(hostile_startup, listener_accepts, accepted_requests, HK_LISTEN);
TEST_ROW(hostile_startup, convert_responder_accepts, accepted_requests, HK_CONVERT_RESPONDER);

/* Makes a Request with private data and read depths, for cutting. */
static void long_request(struct raw_bytes *bytes)
{
    raw_add_hex(bytes, KEY_Q " 5002000e 00080004 676f6c64656e2d726571");
}

/* The Request comes one octet at a time. */
Test(hostile_startup, slow_request, .init = kit_init, .fini = kit_fini)
{
    RAW_BYTES(bytes);
    struct raw_peer peer;
    it_event_t event;

    long_request(&bytes);
    raw_connect(&peer, kit.port);
    for (size_t i = 0; i < bytes.len; i++) {
        fx_empty(kit.node.listen_evd);
        CHECK(raw_send_part(&peer, bytes.data + i, 1));
        if (i % 8 == 0)
            hk_healthy(&kit);
    }
    (void)fx_request(&kit.node, &event);
    CHECK_EQ(8, event.conn_req.rdma_read_ird);
    CHECK_EQ(4, event.conn_req.rdma_read_ord);
    CHECK_EQ(IT_TRUE, event.conn_req.private_data_present);
    CHECK(memcmp(event.conn_req.private_data, "golden-req", 10) == 0);
    CHECK(fx_is_byte(event.conn_req.private_data + 10, IT_MAX_PRIV_DATA - 10, 0));
    CHECK_OK(it_reject(event.conn_req.cn_est_id, (const unsigned char *)"no", 2));
    {
        struct raw_mpa_frame frame;

        CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &frame));
        CHECK(frame.reply && (frame.flags & RAW_MPA_R) != 0);
        CHECK_EQ(6, frame.pd_len);
        CHECK(memcmp(frame.pd + 4, "no", 2) == 0);
    }
    raw_close(&peer);
}

/* The peer closes between its Request and the answer: the identifier becomes invalid. */
Test(hostile_startup, peer_gone_before_the_answer, .init = kit_init, .fini = kit_fini)
{
    for (unsigned i = 0; i < 8; i++) {
        RAW_BYTES(bytes);
        struct raw_peer peer;
        it_cn_est_identifier_t id;
        it_ep_handle_t ep = fx_ep(&kit.node, NULL);

        raw_connect(&peer, kit.port);
        raw_mpa1(&bytes, false, RAW_MPA_C);
        CHECK(raw_send(&peer, &bytes));
        id = fx_request(&kit.node, NULL);
        give_up(&peer, i % 2 == 0);
        if (i % 4 < 2) {
            /* A successful reject may not have noticed it yet. */
            it_status_t status = it_reject(id, NULL, 0);

            CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_CN_EST_ID);
        } else {
            it_status_t status = it_ep_accept(ep, id, NULL, 0);
            it_event_t event;

            CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_CN_EST_ID);
            if (status == IT_SUCCESS) {
                event = fx_next(kit.node.conn_evd);
                if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT)
                    event = fx_next(kit.node.conn_evd);
                CHECK(event.conn.ep == ep);
                CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
            }
        }
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
        FX_WAIT_WHILE(fx_fd_count() > kit.fds, "end of the identifier");
        CHECK_OK(it_ep_free(ep));
        hk_healthy(&kit);
        FX_WAIT_WHILE(it_evd_dequeue(kit.node.aff_evd, &(it_event_t){0}) == IT_SUCCESS,
                      "end of the identifier");
    }
}

/* An octet behind the Request is a violation when the Request is accepted. */
Test(hostile_startup, octet_behind_the_request, .init = kit_init, .fini = kit_fini)
{
    RAW_BYTES(bytes);
    struct hk_victim victim;
    it_event_t event;
    it_status_t status;

    raw_mpa1(&bytes, false, RAW_MPA_C);
    raw_add_byte(&bytes, 0);
    hk_victim_start(&kit, &victim, fx_ep(&kit.node, NULL), HK_LISTEN);
    CHECK(raw_send(&victim.peer, &bytes));
    status = it_ep_accept(victim.ep, fx_request(&kit.node, NULL), NULL, 0);
    if (status == IT_SUCCESS) {
        event = fx_next(kit.node.conn_evd);
        if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT)
            event = fx_next(kit.node.conn_evd);
        CHECK(event.event_number == IT_CM_MSG_CONN_NONPEER_REJECT_EVENT ||
              event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT);
        while (it_evd_dequeue(kit.node.aff_evd, &event) == IT_SUCCESS)
            continue;
    } else {
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, status);
    }
    hk_victim_close(&victim);
}

/* ---- Initiator ------------------------------------------------------------------------------ */

/* After silence the library may try again with revision 1 on a new connection. */
static void answer_again(int listener, const struct raw_bytes *bytes, size_t len, bool reset)
{
    struct raw_peer peer;
    struct raw_mpa_frame frame;

    if (!raw_accept_within(&peer, listener, 0))
        return;
    if (raw_receive_mpa(&peer, &frame) == RAW_OK) {
        EXPECT_EQ(1, frame.revision);
        EXPECT_EQ(0, frame.flags & RAW_MPA_S);
    }
    (void)raw_send_part(&peer, bytes->data, len);
    give_up(&peer, reset);
}

static it_event_t outcome(int listener, const struct raw_bytes *bytes, size_t len, bool reset,
                          unsigned *retries)
{
    struct fx_patience patience = fx_patience_start("end of the attempt");
    it_event_t event;

    while (it_evd_wait(kit.node.conn_evd, 1000, &event, NULL) != IT_SUCCESS) {
        struct pollfd wait = {listener, POLLIN, 0};

        if (poll(&wait, 1, 0) == 1) {
            ++*retries;
            answer_again(listener, bytes, len, reset);
        }
        fx_patience_check(&patience);
    }
    return event;
}

/* ---- Cut behind every octet ----------------------------------------------------------------- */

static void cut_request_to_listener(const struct raw_bytes *bytes, size_t len, bool reset)
{
    struct raw_peer peer;

    raw_connect(&peer, kit.port);
    CHECK(raw_send_part(&peer, bytes->data, len));
    if (!reset && len % 2 == 0) {
        raw_finish(&peer);
        closed_silently(&peer);
    }
    give_up(&peer, reset);
}

static void cut_reply_to_connect(const struct raw_bytes *bytes, size_t len, bool reset)
{
    uint16_t port = 0;
    int listener = raw_listen(&port);
    it_ep_handle_t ep = fx_ep(&kit.node, NULL);
    struct raw_peer peer;
    struct raw_mpa_frame frame;
    unsigned retries = 0;
    it_event_t event;

    fx_connect(&kit.node, ep, port);
    raw_accept(&peer, listener);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &frame));
    CHECK_EQ(2, frame.revision);
    CHECK(raw_send_part(&peer, bytes->data, len));
    give_up(&peer, reset);
    event = outcome(listener, bytes, 0, reset, &retries);
    EXPECT_EQ(len == 0, retries);
    EXPECT_EQ(IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, event.event_number);
    EXPECT(event.conn.ep == ep);
    EXPECT(event.conn.reject_reason_code == IT_CN_REJ_OTHER ||
           event.conn.reject_reason_code == IT_CN_REJ_BAD_CONN_PARMS);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    CHECK_OK(it_ep_free(ep));
    (void)close(listener);
}

static void cut_to_convert(enum hk_role role, const struct raw_bytes *bytes, size_t len, bool reset)
{
    struct hk_victim victim;

    hk_victim_start(&kit, &victim, fx_ep(&kit.node, NULL), role);
    if (hk_victim_initiates(role))
        CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
    else
        CHECK_EQ(IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ, fx_ep_state(victim.ep));
    CHECK(raw_send_part(&victim.peer, bytes->data, len));
    give_up(&victim.peer, reset);
    convert_fails(&victim, IT_CN_REJ_OTHER, reset ? IT_CN_REJ_OTHER : IT_CN_REJ_BAD_CONN_PARMS);
    hk_victim_close(&victim);
}

static void cut(enum hk_role role, bool reset)
{
    RAW_BYTES(bytes);

    hk_open(&kit);
    if (hk_victim_initiates(role))
        raw_add_hex(&bytes, KEY_P " 5002000e 80088004 676f6c64656e2d726570");
    else
        long_request(&bytes);
    for (size_t len = 0; len < bytes.len; len++) {
        if (role == HK_LISTEN)
            cut_request_to_listener(&bytes, len, reset);
        else if (role == HK_CONNECT)
            cut_reply_to_connect(&bytes, len, reset);
        else
            cut_to_convert(role, &bytes, len, reset);
    }
    hk_healthy(&kit);
    fx_fd_settle(kit.fds);
    hk_quiet(&kit);
    hk_close(&kit);
    check_done();
}

TEST_ROW(hostile_startup, listener_request_cut_by_fin, cut, HK_LISTEN, false);
TEST_ROW(hostile_startup, listener_request_cut_by_rst, cut, HK_LISTEN, true);
TEST_ROW(hostile_startup, convert_request_cut_by_fin, cut, HK_CONVERT_RESPONDER, false);
TEST_ROW(hostile_startup, convert_request_cut_by_rst, cut, HK_CONVERT_RESPONDER, true);
TEST_ROW(hostile_startup, connect_reply_cut_by_fin, cut, HK_CONNECT, false);
TEST_ROW(hostile_startup, connect_reply_cut_by_rst, cut, HK_CONNECT, true);
TEST_ROW(hostile_startup, convert_reply_cut_by_fin, cut, HK_CONVERT_INITIATOR, false);
TEST_ROW(hostile_startup, convert_reply_cut_by_rst, cut, HK_CONVERT_INITIATOR, true);

/* Replies that are refused, and the initiator's Terminate, if any. */
struct bad_reply {
    const char *hex;
    unsigned terminate; /* 0: none is due */
    bool peer_to_peer;  /* the Request asks for it */
    uint32_t ird;       /* own */
};

static void refused_reply(enum hk_role role, const struct bad_reply *row)
{
    static struct raw_segment segment;
    it_ep_attributes_t attr = fx_ep_attr();
    RAW_BYTES(bytes);
    struct hk_victim victim;
    struct itx_mpa_params params;
    it_ep_handle_t ep;
    it_event_t event;
    enum raw_result result;

    check_context(row->hex);
    attr.srv.rc.rdma_read_ird = row->ird;
    attr.srv.rc.rdma_read_ord = row->ird;
    ep = fx_ep(&kit.node, &attr);
    params = fx_mpa(ep);
    params.peer_to_peer = row->peer_to_peer ? IT_TRUE : IT_FALSE;
    CHECK_OK(itx_ep_set_mpa_params(ep, &params));
    raw_add_hex(&bytes, row->hex);
    hk_victim_start(&kit, &victim, ep, role);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
    EXPECT_EQ(row->peer_to_peer, (victim.theirs.word & RAW_ENH_A) != 0);
    CHECK(raw_send(&victim.peer, &bytes));
    victim.peer.crc = true;
    result = raw_receive_fpdu(&victim.peer, &segment);
    if (row->terminate == 0) {
        EXPECT(result == RAW_EOF || result == RAW_RESET);
    } else if (result == RAW_OK) {
        EXPECT_EQ(RAW_TERMINATE, segment.op);
        EXPECT_EQ(row->terminate, hk_code(&segment));
    } else {
        check_note(__FILE__, __LINE__, "no Terminate: %s", raw_result_name(result));
    }
    raw_close(&victim.peer);
    event = fx_next(kit.node.conn_evd);
    EXPECT_EQ(IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, event.event_number);
    EXPECT(event.conn.reject_reason_code == IT_CN_REJ_BAD_CONN_PARMS ||
           event.conn.reject_reason_code == IT_CN_REJ_BAD_ORD);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    hk_healthy(&kit);
    hk_quiet(&kit);
    hk_victim_close(&victim);
    check_context(NULL);
}

static void refused_replies(enum hk_role role)
{
    static const struct bad_reply rows[] = {
        {"4c", 0, true, 8},
        {KEY_Q " 50020004 00010001", 0, true, 8},       /* both claim to be initiators */
        {KEY_P " 50030004 80018001", 0, true, 8},       /* revision 3 */
        {KEY_P " 50020201 80018001", 0, true, 8},       /* PD_Length 513 */
        {KEY_P " 50020003 800180", 0, true, 8},         /* S without the enhanced word */
        {KEY_P " 50020004 80010001", 0x2007, true, 8},  /* no kind of RTR chosen */
        {KEY_P " 50020004 c0010001", 0x2007, true, 8},  /* a kind that was not offered */
        {KEY_P " 50020004 00010004", 0x2006, false, 2}, /* needs more than the library's IRD */
    };

    hk_open(&kit);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        refused_reply(role, &rows[i]);
    hk_close(&kit);
    check_done();
}

TEST_ROW(hostile_startup, connect_refuses_reply, refused_replies, HK_CONNECT);
TEST_ROW(hostile_startup, convert_refuses_reply, refused_replies, HK_CONVERT_INITIATOR);

/* The peer's program rejects. */
static void rejected(enum hk_role role)
{
    RAW_BYTES(bytes);
    struct hk_victim victim;
    it_event_t event;

    hk_open(&kit);
    raw_add_hex(&bytes, KEY_P " 70020006 3fff3fff 6e6f");
    hk_victim_start(&kit, &victim, fx_ep(&kit.node, NULL), role);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
    CHECK(raw_send(&victim.peer, &bytes));
    event = fx_conn(kit.node.conn_evd, victim.ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    CHECK_EQ(IT_TRUE, event.conn.private_data_present);
    CHECK(memcmp(event.conn.private_data, "no", 2) == 0);
    CHECK(fx_is_byte(event.conn.private_data + 2, IT_MAX_PRIV_DATA - 2, 0));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(victim.ep));
    CHECK_EQ(RAW_EOF, raw_drain(&victim.peer));
    hk_victim_close(&victim);
    hk_close(&kit);
}

Test(hostile_startup, reply_rejects)
{
    rejected(HK_CONNECT);
    rejected(HK_CONVERT_INITIATOR);
}

/* A Reply with FPDUs in the same segment; then the same one octet at a time. */
Test(hostile_startup, reply_glued_and_slow, .init = kit_init, .fini = kit_fini)
{
    for (unsigned i = 0; i < 4; i++) {
        enum hk_role role = i % 2 == 0 ? HK_CONNECT : HK_CONVERT_INITIATOR;
        RAW_BYTES(bytes);
        RAW_BYTES(ulpdu);
        struct hk_victim victim;
        struct fx_buf in = fx_buf_make(&kit.node, 64);
        it_ep_handle_t ep = fx_ep(&kit.node, NULL);

        fx_recv(ep, &in, 0, in.size, 1);
        hk_victim_start(&kit, &victim, ep, role);
        CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
        raw_mpa2(&bytes, true, RAW_MPA_C, RAW_ENH_A | RAW_ENH_C | 8u << 16 | 8u);
        raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "glued", 5, true, 0);
        raw_fpdu(&bytes, &ulpdu, true);
        if (i < 2) {
            CHECK(raw_send(&victim.peer, &bytes));
        } else {
            for (size_t at = 0; at < bytes.len; at++)
                CHECK(raw_send_part(&victim.peer, bytes.data + at, 1));
        }
        fx_conn(kit.node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        fx_done_len(kit.node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 5);
        CHECK(memcmp(in.data, "glued", 5) == 0);
        hk_part(&victim);
        fx_buf_free(&in);
    }
}

/* ---- Silence -------------------------------------------------------------------------------- */

/*
 * The peer accepts the TCP connection and stays silent: the attempt ends with the path's timeout.
 */
Test(hostile_startup, connect_times_out)
{
    struct raw_peer peer;
    uint16_t port = 0;
    int listener = raw_listen(&port);
    it_path_t path;
    it_conn_qual_t qual;
    it_event_t event;
    uint64_t start;
    it_ep_handle_t ep;

    hk_open(&kit);
    ep = fx_ep(&kit.node, NULL);
    path = fx_path(&kit.node);
    path.timeout = 200000;
    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = port;
    start = fx_now_us();
    CHECK_OK(it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    raw_accept(&peer, listener);
    event = fx_conn(kit.node.conn_evd, ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_EQ(IT_CN_REJ_TIMEOUT, event.conn.reject_reason_code);
    CHECK(fx_now_us() - start >= 180000);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    raw_close(&peer);
    CHECK_OK(it_ep_free(ep));
    hk_close(&kit);
    (void)close(listener);
}

Test(hostile_startup, convert_times_out, .init = kit_init, .fini = kit_fini)
{
    static const it_sc_flags_t roles[] = {ITX_SC_INITIATOR, ITX_SC_RESPONDER};
    struct itx_convert_params params;

    for (size_t i = 0; i < 2; i++) {
        struct raw_peer peer;
        it_ep_handle_t ep = fx_ep(&kit.node, NULL);
        it_event_t event;
        int fd = -1;

        memset(&params, 0, sizeof(params));
        params.size = sizeof(params);
        params.timeout_us = 200000;
        raw_socket_pair(&peer, &fd);
        CHECK_OK(itx_socket_convert(fd, ep, roles[i], &params));
        (void)close(fd);
        event = fx_conn(kit.node.conn_evd, ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
        CHECK_EQ(IT_CN_REJ_TIMEOUT, event.conn.reject_reason_code);
        raw_close(&peer);
        CHECK_OK(it_ep_free(ep));
    }
}

/* Many peers that connect and stay silent do not keep others out. */
Test(hostile_startup, silent_crowd, .init = kit_init, .fini = kit_fini)
{
    static struct raw_peer crowd[300];
    const size_t count = sizeof(crowd) / sizeof(crowd[0]);
    struct hk_victim victim;

    for (size_t i = 0; i < count; i++) {
        raw_connect(&crowd[i], kit.port);
        if (i % 3 == 0)
            (void)raw_send_part(&crowd[i], "MPA ID", 6);
    }
    hk_victim(&kit, &victim, HK_LISTEN, &hk_plain);
    hk_healthy(&kit);
    raw_close(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_victim_close(&victim);
    for (size_t i = 0; i < count; i++)
        raw_close(&crowd[i]);
}
