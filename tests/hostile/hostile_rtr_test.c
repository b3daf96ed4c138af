/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The startup on the wire: the library's Requests and Replies, ready-to-receive messages of every
 * kind in both roles, read depths, and which side may send when.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "hostile/fixture_kit.h"

/* How long the test waits for a frame that must not come. */
#define GRACE_MS 30

/* The peer-to-peer model and its kinds of ready-to-receive messages. */
#define KINDS (RAW_ENH_A | RAW_ENH_B | RAW_ENH_C | RAW_ENH_D)

#define WORD(flags, ird, ord) ((flags) | (uint32_t)(ird) << 16 | (uint32_t)(ord))

static bool says_nothing(struct hk_victim *victim)
{
    struct pollfd wait = {victim->peer.fd, POLLIN, 0};

    return poll(&wait, 1, GRACE_MS) == 0;
}

static it_ep_handle_t endpoint(uint32_t ird, uint32_t ord)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.rdma_read_ird = ird;
    attr.srv.rc.rdma_read_ord = ord;
    return fx_ep(&kit.node, &attr);
}

static void set_kinds(it_ep_handle_t ep, bool peer_to_peer, uint32_t kinds)
{
    struct itx_mpa_params params = fx_mpa(ep);

    params.peer_to_peer = peer_to_peer ? IT_TRUE : IT_FALSE;
    params.rtr_types = kinds;
    CHECK_OK(itx_ep_set_mpa_params(ep, &params));
}

static void reply(struct hk_victim *victim, uint32_t word)
{
    RAW_BYTES(bytes);

    raw_mpa2(&bytes, true, RAW_MPA_C, word);
    CHECK(raw_send(&victim->peer, &bytes));
    victim->peer.crc = true;
}

/* ---- The library as initiator --------------------------------------------------------------- */

Test(hostile_rtr, default_request, .init = kit_init, .fini = kit_fini)
{
    for (unsigned i = 0; i < 2; i++) {
        struct hk_victim victim;

        hk_victim_start(&kit, &victim, endpoint(5, 7), i == 0 ? HK_CONNECT : HK_CONVERT_INITIATOR);
        CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
        CHECK(!victim.theirs.reply);
        CHECK_EQ(2, victim.theirs.revision);
        CHECK_EQ(RAW_MPA_C | RAW_MPA_S, victim.theirs.flags);
        CHECK_EQ(4, victim.theirs.pd_len);
        CHECK_EQ(WORD(RAW_ENH_A | RAW_ENH_C | RAW_ENH_D, 5, 7), victim.theirs.word);
        /* Nothing follows the Request. */
        CHECK(says_nothing(&victim));
        CHECK_EQ(IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, fx_ep_state(victim.ep));
        CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_post_send(victim.ep, NULL, 0, 1, FX_SIGNAL));
        CHECK_OK(it_ep_disconnect(victim.ep, NULL, 0));
        hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        hk_victim_close(&victim);
    }
    check_done();
}

Test(hostile_rtr, request_of_revision_1, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;

    hk_victim(&kit, &victim, HK_CONNECT, &hk_plain);
    CHECK_EQ(1, victim.theirs.revision);
    CHECK_EQ(RAW_MPA_C, victim.theirs.flags);
    CHECK_EQ(0, victim.theirs.pd_len);
    CHECK(says_nothing(&victim)); /* no RTR is due here */
    hk_part(&victim);
}

/* Private data follows the enhanced word. */
Test(hostile_rtr, request_with_private_data)
{
    struct raw_peer peer;
    struct raw_mpa_frame frame;
    uint16_t port = 0;
    int listener = raw_listen(&port);
    it_path_t path;
    it_conn_qual_t qual;
    it_ep_handle_t ep;
    unsigned char data[IT_MAX_PRIV_DATA];

    hk_open(&kit);
    fx_fill(data, sizeof(data), 12);
    ep = endpoint(1, 1);
    path = fx_path(&kit.node);
    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = port;
    CHECK_OK(it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, data, sizeof(data)));
    raw_accept(&peer, listener);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &frame));
    CHECK_EQ(4 + sizeof(data), frame.pd_len);
    CHECK(memcmp(frame.pd + 4, data, sizeof(data)) == 0);
    CHECK_OK(it_ep_free(ep));
    raw_close(&peer);
    hk_close(&kit);
    (void)close(listener);
}

/* Sends the Reply and a first FPDU in one piece. */
static void reply_with(struct hk_victim *victim, uint32_t word, const struct raw_bytes *ulpdu)
{
    RAW_BYTES(bytes);
    RAW_BYTES(fpdu);

    raw_mpa2(&bytes, true, RAW_MPA_C, word);
    raw_fpdu(&fpdu, ulpdu, true);
    raw_add(&bytes, fpdu.data, fpdu.len);
    CHECK(raw_send(&victim->peer, &bytes));
    victim->peer.crc = true;
}

/*
 * The Reply chooses the kind of RTR. The RTR is the first FPDU, exactly one, and data follows it. A
 * peer that is silent for long would get a second RTR, so this one sends at once.
 */
static void chooses(uint32_t kinds, uint32_t choice, enum raw_op op)
{
    static struct raw_segment segment;
    RAW_BYTES(ulpdu);
    struct hk_victim victim;
    struct itx_mpa_info info;
    struct fx_buf sink = fx_buf_make(&kit.node, 16);
    it_lmr_triplet_t local = fx_seg(&sink, 0, 16);
    it_ep_handle_t ep = endpoint(4, 4);

    set_kinds(ep, true, kinds);
    hk_victim_start(&kit, &victim, ep, HK_CONNECT);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
    EXPECT_EQ((kinds & ITX_RTR_SEND) != 0, (victim.theirs.word & RAW_ENH_B) != 0);
    EXPECT_EQ((kinds & ITX_RTR_WRITE) != 0, (victim.theirs.word & RAW_ENH_C) != 0);
    EXPECT_EQ((kinds & ITX_RTR_READ) != 0, (victim.theirs.word & RAW_ENH_D) != 0);
    raw_tagged(&ulpdu, RAW_WRITE, 1, 0, NULL, 0, true);
    reply_with(&victim, WORD(RAW_ENH_A | choice, 4, 4), &ulpdu);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    EXPECT_EQ(op, segment.op);
    EXPECT(segment.last);
    if (op == RAW_READ_REQUEST) {
        EXPECT_EQ(1, segment.qn);
        EXPECT_EQ(1, segment.msn);
        EXPECT_EQ(28, segment.len);
        EXPECT_EQ(0, raw_be32(segment.payload + 12)); /* size */
        raw_tagged(&ulpdu, RAW_READ_RESPONSE, raw_be32(segment.payload),
                   raw_be64(segment.payload + 4), NULL, 0, true);
        CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    } else {
        EXPECT_EQ(0, segment.len);
    }
    fx_conn(kit.node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    memset(&info, 0, sizeof(info));
    info.size = sizeof(info);
    CHECK_OK(itx_ep_query_mpa(ep, &info));
    EXPECT_EQ(op == RAW_READ_REQUEST ? ITX_RTR_READ
                                     : (op == RAW_WRITE ? ITX_RTR_WRITE : ITX_RTR_SEND),
              info.rtr_type);
    EXPECT(says_nothing(&victim));
    /* The RTR is not a request of the program. */
    fx_empty(kit.node.request_evd);
    CHECK_OK(it_post_send(ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    EXPECT_EQ(RAW_SEND, segment.op);
    EXPECT_EQ(op == RAW_SEND ? 2 : 1, segment.msn);
    CHECK_OK(it_post_rdma_read(ep, &local, 1, 2, FX_SIGNAL, 0, 0x77));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    EXPECT_EQ(RAW_READ_REQUEST, segment.op);
    EXPECT_EQ(op == RAW_READ_REQUEST ? 2 : 1, segment.msn);
    raw_tagged(&ulpdu, RAW_READ_RESPONSE, raw_be32(segment.payload), raw_be64(segment.payload + 4),
               "sixteen octets..", 16, true);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    fx_done_len(kit.node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 1, 0);
    fx_done_len(kit.node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 16);
    CHECK(memcmp(sink.data, "sixteen octets..", 16) == 0);
    hk_part(&victim);
    fx_buf_free(&sink);
}

/*
 * Linux siw may overlook the ready-to-receive Write until more octets come. So a peer that stays
 * silent gets a second one, but no third.
 */
static void silent(bool speaks, bool glued)
{
    static struct raw_segment segment;
    RAW_BYTES(ulpdu);
    struct hk_victim victim;
    it_ep_handle_t ep = endpoint(4, 4);
    struct pollfd second;

    CHECK_OK(it_post_recv(ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_recv(ep, NULL, 0, 2, FX_SIGNAL));
    hk_victim_start(&kit, &victim, ep, HK_CONNECT);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, NULL, 0, true, 0);
    if (speaks) {
        if (glued) {
            reply_with(&victim, WORD(RAW_ENH_A | RAW_ENH_C, 4, 4), &ulpdu);
        } else {
            reply(&victim, WORD(RAW_ENH_A | RAW_ENH_C, 4, 4));
            CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
        }
        /* Octets that were not read in time count as silence, so this thread helps to read them. */
        fx_done_len(kit.node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    } else {
        reply(&victim, WORD(RAW_ENH_A | RAW_ENH_C, 4, 4));
    }
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_WRITE, segment.op);
    second = (struct pollfd){victim.peer.fd, POLLIN, 0};
    if (speaks) {
        CHECK_EQ(0, poll(&second, 1, 600));
        raw_untagged(&ulpdu, RAW_SEND, 0, 2, 0, NULL, 0, true, 0);
    } else {
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        EXPECT_EQ(RAW_WRITE, segment.op);
        EXPECT_EQ(0, segment.len);
        EXPECT(segment.last);
        CHECK_EQ(0, poll(&second, 1, 600));
    }
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    fx_conn(kit.node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_done_len(kit.node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, speaks ? 2 : 1, 0);
    raw_finish(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    if (!speaks)
        fx_done(kit.node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    hk_victim_close(&victim);
}

Test(hostile_rtr, silent_peer_is_told_again, .init = kit_init, .fini = kit_fini)
{
    silent(false, false);
    silent(true, false);
    silent(true, true);
    check_done();
}

Test(hostile_rtr, initiator, .init = kit_init, .fini = kit_fini)
{
    const uint32_t both = ITX_RTR_WRITE | ITX_RTR_READ;
    const uint32_t all = both | ITX_RTR_SEND;

    chooses(both, RAW_ENH_C, RAW_WRITE);
    chooses(both, RAW_ENH_D, RAW_READ_REQUEST);
    chooses(all, RAW_ENH_B, RAW_SEND);
    chooses(ITX_RTR_WRITE, RAW_ENH_C, RAW_WRITE);
    /* The Reply may add kinds that were not offered. */
    chooses(ITX_RTR_WRITE, RAW_ENH_B | RAW_ENH_C | RAW_ENH_D, RAW_WRITE);
    chooses(ITX_RTR_READ, RAW_ENH_C | RAW_ENH_D, RAW_READ_REQUEST);
    check_done();
}

/* Read depths of the Reply: the library's ORD shrinks to the peer's IRD. */
Test(hostile_rtr, initiator_read_depths, .init = kit_init, .fini = kit_fini)
{
    static const uint32_t rows[][4] = {
        /* own ird, ord; peer's ird, ord; */
        {8, 8, 3, 2}, {8, 8, 8, 8}, {8, 2, 5, 8}, {8, 8, 0, 0}, {4, 4, 0x3fff, 0x3fff},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint32_t *d = rows[i];
        uint32_t ord = d[2] == 0x3fff ? d[1] : (d[1] < d[2] ? d[1] : d[2]);
        struct hk_victim victim;
        it_event_t event;
        it_ep_param_t param;
        it_ep_handle_t ep = endpoint(d[0], d[1]);

        set_kinds(ep, false, ITX_RTR_READ);
        hk_victim_start(&kit, &victim, ep, HK_CONNECT);
        CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
        CHECK_EQ(WORD(0, d[0], d[1]), victim.theirs.word);
        reply(&victim, WORD(0, d[2], d[3]));
        event = fx_conn(kit.node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        EXPECT_EQ(ord, event.conn.rdma_read_ord);
        EXPECT_EQ(d[0], event.conn.rdma_read_ird);
        CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &param));
        EXPECT_EQ(ord, param.attr.srv.rc.rdma_read_ord);
        hk_part(&victim);
    }
    check_done();
}

/* The peer refuses revision 2 with a reset or a close: the library tries again with revision 1. */
Test(hostile_rtr, falls_back_to_revision_1)
{
    uint16_t port = 0;
    int listener = raw_listen(&port);

    hk_open(&kit);
    for (unsigned i = 0; i < 2; i++) {
        struct hk_victim victim = {.kit = &kit, .role = HK_CONNECT};
        RAW_BYTES(bytes);
        struct raw_peer first;
        struct itx_mpa_info info;

        victim.ep = endpoint(4, 4);
        fx_connect(&kit.node, victim.ep, port);
        raw_accept(&first, listener);
        CHECK_EQ(RAW_OK, raw_receive_mpa(&first, &victim.theirs));
        CHECK_EQ(2, victim.theirs.revision);
        if (i == 0)
            raw_close_with_reset(&first);
        else
            raw_close(&first);
        raw_accept(&victim.peer, listener);
        CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
        CHECK_EQ(1, victim.theirs.revision);
        CHECK_EQ(RAW_MPA_C, victim.theirs.flags);
        CHECK_EQ(0, victim.theirs.pd_len);
        raw_mpa1(&bytes, true, RAW_MPA_C);
        CHECK(raw_send(&victim.peer, &bytes));
        fx_conn(kit.node.conn_evd, victim.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        memset(&info, 0, sizeof(info));
        info.size = sizeof(info);
        CHECK_OK(itx_ep_query_mpa(victim.ep, &info));
        CHECK_EQ(1, info.revision);
        CHECK_EQ(4, info.ord);
        victim.peer.crc = true;
        hk_part(&victim);
    }
    hk_close(&kit);
    (void)close(listener);
    check_done();
}

/* ---- The library as responder --------------------------------------------------------------- */

struct request {
    enum hk_role role;
    uint32_t word;
    uint32_t ird; /* own */
    uint32_t ord;
};

/* Sends a Request of revision 2 and receives the Reply. */
static void request(struct hk_victim *victim, const struct request *what)
{
    RAW_BYTES(bytes);

    hk_victim_start(&kit, victim, endpoint(what->ird, what->ord), what->role);
    raw_mpa2(&bytes, false, RAW_MPA_C, what->word);
    CHECK(raw_send(&victim->peer, &bytes));
    if (what->role == HK_LISTEN)
        CHECK_OK(it_ep_accept(victim->ep, fx_request(&kit.node, NULL), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim->peer, &victim->theirs));
    CHECK(victim->theirs.reply);
    EXPECT_EQ(2, victim->theirs.revision);
    EXPECT_EQ(RAW_MPA_C | RAW_MPA_S, victim->theirs.flags);
    EXPECT_EQ(4, victim->theirs.pd_len);
    victim->peer.crc = true;
}

static void send_rtr(struct hk_victim *victim, uint32_t kind)
{
    RAW_BYTES(ulpdu);

    if (kind == RAW_ENH_B)
        raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, NULL, 0, true, 0);
    else if (kind == RAW_ENH_C)
        raw_tagged(&ulpdu, RAW_WRITE, 1, 0, NULL, 0, true);
    else
        raw_read_request(&ulpdu, 1, 1, 0, 0, 1, 0);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
}

/* ESTABLISHED is raised with the RTR at the latest. Only then does the responder send. */
static void answers(enum hk_role role, uint32_t offered, uint32_t expected)
{
    static struct raw_segment segment;
    struct request what = {role, WORD(RAW_ENH_A | offered, 4, 4), 4, 4};
    struct hk_victim victim;
    bool held = true; /* a Write posted before the RTR */

    request(&victim, &what);
    EXPECT_EQ(RAW_ENH_A | expected, victim.theirs.word & KINDS);
    if (expected == RAW_ENH_B) /* the only kind that uses a receive */
        CHECK_OK(it_post_recv(victim.ep, NULL, 0, 2, FX_SIGNAL));
    if (fx_ep_state(victim.ep) == IT_EP_STATE_CONNECTED)
        CHECK_OK(it_post_rdma_write(victim.ep, NULL, 0, 7, FX_QUIET, 0, 0));
    else
        held = false;
    EXPECT(says_nothing(&victim));
    send_rtr(&victim, expected);
    fx_conn(kit.node.conn_evd, victim.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    EXPECT_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(victim.ep));
    if (expected == RAW_ENH_B)
        fx_done_len(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, 0);
    if (expected == RAW_ENH_D) {
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        if (held && segment.op == RAW_WRITE) {
            held = false;
            CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        }
        EXPECT_EQ(RAW_READ_RESPONSE, segment.op);
        EXPECT_EQ(0, segment.len);
    }
    if (held) {
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        EXPECT_EQ(RAW_WRITE, segment.op);
    }
    CHECK_OK(it_post_send(victim.ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    EXPECT_EQ(RAW_SEND, segment.op);
    fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 1, 0);
    hk_part(&victim);
}

Test(hostile_rtr, responder, .init = kit_init, .fini = kit_fini)
{
    for (unsigned i = 0; i < 2; i++) {
        enum hk_role role = i == 0 ? HK_LISTEN : HK_CONVERT_RESPONDER;

        answers(role, RAW_ENH_C, RAW_ENH_C);
        answers(role, RAW_ENH_D, RAW_ENH_D);
        answers(role, RAW_ENH_C | RAW_ENH_D, RAW_ENH_D);
        answers(role, RAW_ENH_B | RAW_ENH_C | RAW_ENH_D, RAW_ENH_D);
        answers(role, RAW_ENH_B | RAW_ENH_C, RAW_ENH_C);
        answers(role, RAW_ENH_B | RAW_ENH_D, RAW_ENH_D);
        answers(role, RAW_ENH_B, RAW_ENH_B);
    }
    check_done();
}

/* No Read goes to a responder whose read_ird is 0, unless the peer offers no other kind. */
static void answers_without_ird(uint32_t offered, uint32_t expected, uint32_t ird)
{
    struct request what = {HK_LISTEN, WORD(RAW_ENH_A | offered, 4, 4), 0, 4};
    RAW_BYTES(ulpdu);
    struct hk_victim victim;
    it_event_t event;
    it_ep_param_t param;

    request(&victim, &what);
    EXPECT_EQ(WORD(RAW_ENH_A | expected, ird, 4), victim.theirs.word);
    if (expected == RAW_ENH_B)
        CHECK_OK(it_post_recv(victim.ep, NULL, 0, 2, FX_SIGNAL));
    send_rtr(&victim, expected);
    event = fx_conn(kit.node.conn_evd, victim.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    EXPECT_EQ(ird, event.conn.rdma_read_ird);
    CHECK_OK(it_ep_query(victim.ep, IT_EP_PARAM_ALL, &param));
    EXPECT_EQ(ird, param.attr.srv.rc.rdma_read_ird);
    if (expected == RAW_ENH_B)
        fx_done_len(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, 0);
    if (ird == 0) {
        raw_read_request(&ulpdu, 1, 1, 0, 0, 1, 0);
        CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
        EXPECT_EQ(0x1202, hk_terminated(&victim, &ulpdu));
        hk_affiliated(&victim, IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION,
                      IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION);
        hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    } else {
        raw_finish(&victim.peer);
        hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    }
    hk_victim_close(&victim);
}

Test(hostile_rtr, responder_without_ird, .init = kit_init, .fini = kit_fini)
{
    answers_without_ird(RAW_ENH_B | RAW_ENH_C | RAW_ENH_D, RAW_ENH_C, 0);
    answers_without_ird(RAW_ENH_C | RAW_ENH_D, RAW_ENH_C, 0);
    answers_without_ird(RAW_ENH_B | RAW_ENH_D, RAW_ENH_B, 0);
    answers_without_ird(RAW_ENH_D, RAW_ENH_D, 1);
    check_done();
}

/* The attempt has failed. If it counted as established, the connection has ended. */
static void ends_without_rtr(struct hk_victim *victim, bool reset)
{
    it_event_t event = fx_next(kit.node.conn_evd);

    if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT) {
        event = fx_next(kit.node.conn_evd);
        EXPECT_EQ(reset ? IT_CM_MSG_CONN_BROKEN_EVENT : IT_CM_MSG_CONN_DISCONNECT_EVENT,
                  event.event_number);
        if (reset)
            hk_affiliated(victim, IT_ASYNC_AFF_EP_L_LLP_ERROR, IT_ASYNC_AFF_EP_L_LLP_ERROR);
    } else {
        EXPECT_EQ(IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, event.event_number);
    }
    EXPECT(event.conn.ep == victim->ep);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(victim->ep));
}

/* A=1 without any kind: the Reply proposes at least one. */
Test(hostile_rtr, responder_without_offer)
{
    struct request what = {HK_LISTEN, WORD(RAW_ENH_A, 4, 4), 4, 4};
    struct hk_victim victim;

    hk_open(&kit);
    request(&victim, &what);
    EXPECT_EQ(RAW_ENH_A, victim.theirs.word & RAW_ENH_A);
    EXPECT((victim.theirs.word & (RAW_ENH_B | RAW_ENH_C | RAW_ENH_D)) != 0);
    raw_close(&victim.peer);
    ends_without_rtr(&victim, false);
    hk_victim_close(&victim);
    hk_close(&kit);
    check_done();
}

/* The peer closes before its RTR. */
Test(hostile_rtr, no_rtr)
{
    struct request what = {HK_LISTEN, WORD(RAW_ENH_A | RAW_ENH_C, 4, 4), 4, 4};

    hk_open(&kit);
    for (unsigned i = 0; i < 4; i++) {
        struct hk_victim victim;

        what.role = i % 2 == 0 ? HK_LISTEN : HK_CONVERT_RESPONDER;
        request(&victim, &what);
        if (i < 2)
            raw_close(&victim.peer);
        else
            raw_close_with_reset(&victim.peer);
        ends_without_rtr(&victim, i >= 2);
        hk_victim_close(&victim);
    }
    hk_close(&kit);
    check_done();
}

/*
 * The Reply's read depths: ORD at most the initiator's IRD; IRD as much as it asks for, at most the
 * own one.
 */
Test(hostile_rtr, responder_read_depths, .init = kit_init, .fini = kit_fini)
{
    static const uint32_t rows[][4] = {
        /* own ird, ord; peer's ird, ord */
        {8, 8, 3, 2}, {8, 8, 8, 8}, {8, 2, 5, 8},
        {2, 8, 8, 5}, {4, 4, 0, 0}, {4, 4, 0x3fff, 0x3fff},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint32_t *d = rows[i];
        bool automatic = d[2] != 0x3fff;
        struct request what = {HK_LISTEN, WORD(0, d[2], d[3]), d[0], d[1]};
        struct hk_victim victim;
        it_event_t event;
        uint32_t ird;
        uint32_t ord;

        request(&victim, &what);
        ird = victim.theirs.word >> 16 & 0x3fff;
        ord = victim.theirs.word & 0x3fff;
        EXPECT_EQ(0, victim.theirs.word & (RAW_ENH_A | RAW_ENH_B | RAW_ENH_C | RAW_ENH_D));
        EXPECT_EQ(automatic ? (d[1] < d[2] ? d[1] : d[2]) : 0x3fff, ord);
        EXPECT(automatic ? ird >= (d[0] < d[3] ? d[0] : d[3]) : ird == 0x3fff);
        event = fx_conn(kit.node.conn_evd, victim.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        EXPECT_EQ(automatic ? ord : d[1], event.conn.rdma_read_ord);
        hk_part(&victim);
    }
    check_done();
}

/* Without Request and Reply the connection has CRC and no markers from the start. */
Test(hostile_rtr, no_request_no_reply, .init = kit_init, .fini = kit_fini)
{
    static struct raw_segment segment;

    for (unsigned i = 0; i < 2; i++) {
        struct hk_victim victim = {.kit = &kit, .role = HK_CONVERT_INITIATOR};
        RAW_BYTES(ulpdu);
        struct fx_buf in = fx_buf_make(&kit.node, 16);
        char message[2];
        int fd = -1;

        victim.ep = endpoint(4, 4);
        fx_recv(victim.ep, &in, 0, 16, 1);
        raw_socket_pair(&victim.peer, &fd);
        CHECK_OK(it_socket_convert(fd, victim.ep, IT_SC_NO_REQ_REP,
                                   i == 0 ? NULL : (const unsigned char *)"go", i == 0 ? 0 : 2));
        (void)close(fd);
        fx_conn(kit.node.conn_evd, victim.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        victim.peer.crc = true;
        CHECK_OK(it_post_send(victim.ep, NULL, 0, 2, FX_SIGNAL));
        if (i == 1) {
            CHECK_EQ(RAW_OK, raw_receive(&victim.peer, message, 2, NULL));
            CHECK(memcmp(message, "go", 2) == 0);
            CHECK(says_nothing(&victim));
        }
        raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "hello", 5, true, 0);
        CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
        fx_done_len(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 5);
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        CHECK_EQ(RAW_SEND, segment.op);
        fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 2, 0);
        hk_part(&victim);
        fx_buf_free(&in);
    }
}
