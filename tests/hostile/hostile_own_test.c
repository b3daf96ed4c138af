/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * itx_mpa_params.own_peer on the wire: a foreign peer sees what it always sees. A peer that falsely
 * claims to be this library loses only its own connection.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "hostile/fixture_kit.h"

#define WORD     (RAW_ENH_A | RAW_ENH_D | 4u << 16 | 4u)
#define GREETING UINT64_C(0x6974617000000001)
#define OFFER    (GREETING | 3u << 8)
#define ACK_STAG 0x69746101u
#define ACK(n)   (UINT64_C(0x6974) << 48 | (n))
#define LAST     (UINT64_C(1) << 44)
#define BOTH     (ITX_OWN_PEER_ACKS | ITX_OWN_PEER_HOLD)

static struct raw_segment segment;

static it_ep_handle_t endpoint(uint32_t own_peer)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = fx_ep(&kit.node, &attr);
    struct itx_mpa_params params = fx_mpa(ep);

    params.own_peer = own_peer;
    params.hold_us = IT_TIMEOUT_INFINITE;
    CHECK_OK(itx_ep_set_mpa_params(ep, &params));
    return ep;
}

static uint32_t agreed(it_ep_handle_t ep)
{
    struct itx_mpa_info info;

    memset(&info, 0, sizeof(info));
    info.size = sizeof(info);
    CHECK_OK(itx_ep_query_mpa(ep, &info));
    return info.own_peer;
}

/* The victim connects. The peer asks it for the Read and receives it in .ulpdu of segment. */
static void victim_connects(struct hk_victim *victim, uint32_t own_peer)
{
    RAW_BYTES(bytes);

    hk_victim_start(&kit, victim, endpoint(own_peer), HK_CONNECT);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim->peer, &victim->theirs));
    /* The Request is the same with and without own_peer. */
    CHECK_EQ(RAW_MPA_C | RAW_MPA_S, victim->theirs.flags);
    CHECK_EQ(4, victim->theirs.pd_len);
    raw_mpa2(&bytes, true, RAW_MPA_C, WORD);
    CHECK(raw_send(&victim->peer, &bytes));
    victim->peer.crc = true;
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim->peer, &segment));
    CHECK_EQ(RAW_READ_REQUEST, segment.op);
    CHECK_EQ(0, raw_be32(segment.payload + 12));
    fx_conn(kit.node.conn_evd, victim->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

static void answer(struct hk_victim *victim, uint64_t offset)
{
    RAW_BYTES(ulpdu);

    raw_tagged(&ulpdu, RAW_READ_RESPONSE, 1, offset, NULL, 0, true);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
}

static void write_nothing(struct hk_victim *victim, uint32_t stag, uint64_t offset)
{
    RAW_BYTES(ulpdu);

    raw_tagged(&ulpdu, RAW_WRITE, stag, offset, NULL, 0, true);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
}

static void send_text(struct hk_victim *victim, uint32_t msn, const char *text)
{
    RAW_BYTES(ulpdu);

    raw_untagged(&ulpdu, RAW_SEND, 0, msn, 0, text, strlen(text), true, 0);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
}

static void post_send(struct hk_victim *victim, it_dto_cookie_t cookie)
{
    CHECK_OK(it_post_send(victim->ep, NULL, 0, cookie, FX_SIGNAL));
}

static void is_sent(struct hk_victim *victim, it_dto_cookie_t cookie)
{
    fx_done(kit.node.request_evd, victim->ep, IT_DTO_SEND_CMPL_EVENT, cookie, IT_DTO_SUCCESS);
}

/* ---- Foreign peers -------------------------------------------------------------------------- */

Test(hostile_own, says_nothing_unasked, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;

    victim_connects(&victim, 0);
    CHECK_EQ(0, raw_be64(segment.payload + 20));
    answer(&victim, 0);
    post_send(&victim, 1);
    is_sent(&victim, 1);
    hk_part(&victim);
}

/* A greeting from a peer that was not asked is a wrong offset. */
Test(hostile_own, answers_nobody_asked_for, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;

    victim_connects(&victim, 0);
    answer(&victim, OFFER);
    CHECK_EQ(0x1101, hk_terminated(&victim, NULL));
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR);
    hk_victim_close(&victim);
}

/* Requests sent before the answer complete with it. */
Test(hostile_own, foreign_responder, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;

    victim_connects(&victim, BOTH);
    CHECK_EQ(OFFER, raw_be64(segment.payload + 20));
    CHECK_EQ(0, raw_be64(segment.payload + 4));
    post_send(&victim, 1);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_SEND, segment.op);
    fx_empty(kit.node.request_evd);
    answer(&victim, 0);
    is_sent(&victim, 1);
    CHECK_EQ(0, agreed(victim.ep));
    post_send(&victim, 2);
    is_sent(&victim, 2);
    /* A Send without a receive ends the connection as usual. */
    send_text(&victim, 1, "early");
    CHECK_EQ(0x1202, hk_terminated(&victim, NULL));
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR);
    hk_victim_close(&victim);
}

/* A foreign initiator is answered as it asks. Only one that greets gets a greeting. */
static void initiator(uint32_t own_peer, uint64_t says, uint64_t hears)
{
    RAW_BYTES(ulpdu);
    struct hk_victim victim;

    hk_victim_start(&kit, &victim, endpoint(own_peer), HK_LISTEN);
    raw_mpa2(&ulpdu, false, RAW_MPA_C, WORD);
    CHECK(raw_send(&victim.peer, &ulpdu));
    CHECK_OK(it_ep_accept(victim.ep, fx_request(&kit.node, NULL), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
    victim.peer.crc = true;
    raw_reset(&ulpdu);
    fx_conn(kit.node.conn_evd, victim.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    raw_read_request(&ulpdu, 1, 1, 77, 0, 1, says);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_READ_RESPONSE, segment.op);
    CHECK_EQ(1, segment.stag);
    CHECK_EQ(hears, segment.to);
    CHECK_EQ(hears == 77 ? 0 : hears >> 8 & 0xff, agreed(victim.ep));
    hk_part(&victim);
}

Test(hostile_own, initiators, .init = kit_init, .fini = kit_fini)
{
    initiator(0, 0, 77);
    initiator(0, OFFER, 77);
    initiator(BOTH, 0, 77);
    initiator(BOTH, GREETING, 77);
    initiator(BOTH, OFFER + 1, 77);
    initiator(BOTH, OFFER, OFFER);
    initiator(ITX_OWN_PEER_HOLD, OFFER, GREETING | ITX_OWN_PEER_HOLD << 8);
    initiator(BOTH, GREETING | 0xff00, OFFER);
}

/* ---- The end -------------------------------------------------------------------------------- */

/* Ends the stream. Returns the offset of the last Write of no octets, 0 if there is none. */
static uint64_t last_words(struct hk_victim *victim)
{
    enum raw_result result;
    uint64_t offset = 0;

    CHECK_OK(it_ep_disconnect(victim->ep, NULL, 0));
    while ((result = raw_receive_fpdu(&victim->peer, &segment)) == RAW_OK) {
        CHECK_EQ(RAW_WRITE, segment.op);
        CHECK_EQ(ACK_STAG, segment.stag);
        offset = segment.to;
    }
    CHECK_EQ(RAW_EOF, result);
    hk_ended(victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_victim_close(victim);
    return offset;
}

/* An initiator that ends before it has read the answer. */
static uint64_t end_unanswered(uint32_t own_peer)
{
    struct hk_victim victim;

    victim_connects(&victim, own_peer);
    return last_words(&victim);
}

/* The same when it has read the answer, and a Send behind it. */
static uint64_t end_answered(uint32_t own_peer, uint64_t offset)
{
    struct hk_victim victim;

    victim_connects(&victim, own_peer);
    CHECK_OK(it_post_recv(victim.ep, NULL, 0, 1, FX_SIGNAL));
    answer(&victim, offset);
    send_text(&victim, 1, "");
    fx_done(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    return last_words(&victim);
}

/*
 * A peer that waits for acknowledgements must learn that no more follow: octets that TCP
 * acknowledges from now on reach nobody.
 */
Test(hostile_own, initiators_that_end, .init = kit_init, .fini = kit_fini)
{
    CHECK_EQ(ACK(0) | LAST, end_unanswered(BOTH));
    CHECK_EQ(0, end_unanswered(ITX_OWN_PEER_HOLD));
    CHECK_EQ(0, end_unanswered(0));
    CHECK_EQ(ACK(1) | LAST, end_answered(BOTH, OFFER));
    CHECK_EQ(0, end_answered(BOTH, GREETING | ITX_OWN_PEER_HOLD << 8));
    CHECK_EQ(0, end_answered(BOTH, 0));
}

/* ---- Liars ---------------------------------------------------------------------------------- */

/* The peer acknowledges messages that it has not got, fewer than before, or with illegal values. */
Test(hostile_own, false_acknowledgements, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;

    victim_connects(&victim, BOTH);
    answer(&victim, OFFER);
    post_send(&victim, 1);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    write_nothing(&victim, ACK_STAG, ACK(0));
    write_nothing(&victim, ACK_STAG, 1);
    write_nothing(&victim, ACK_STAG, ACK(UINT64_C(0xffffffffffff)));
    is_sent(&victim, 1);
    write_nothing(&victim, ACK_STAG, ACK(1));
    for (uint64_t i = 2; i < 300; i++) {
        post_send(&victim, i);
        is_sent(&victim, i);
    }
    hk_part(&victim);
}

/* The peer never acknowledges: only its own connection's requests wait. */
Test(hostile_own, no_acknowledgement, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    uint64_t i = 0;

    victim_connects(&victim, BOTH);
    answer(&victim, OFFER);
    /* Wait for the agreement: without it a lost connection only flushes the requests. */
    FX_WAIT_WHILE(agreed(victim.ep) == 0, "the answer is read");
    while (it_post_send(victim.ep, NULL, 0, i, FX_SIGNAL) == IT_SUCCESS)
        i++;
    CHECK_EQ(64, i);
    hk_healthy(&kit);
    fx_empty(kit.node.request_evd);
    raw_close_with_reset(&victim.peer);
    fx_done(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 0, IT_DTO_ERR_TRANSPORT);
    fx_drain(kit.node.request_evd);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, IT_ASYNC_AFF_EP_L_LLP_ERROR, IT_ASYNC_AFF_EP_L_LLP_ERROR);
    hk_victim_close(&victim);
}

/* The peer begins Sends without receives, and disappears within one. */
Test(hostile_own, a_send_that_is_never_whole, .init = kit_init, .fini = kit_fini)
{
    static const char text[4000];
    RAW_BYTES(ulpdu);
    struct hk_victim victim;

    victim_connects(&victim, BOTH);
    answer(&victim, OFFER);
    send_text(&victim, 1, "whole");
    raw_untagged(&ulpdu, RAW_SEND, 0, 2, 0, text, sizeof(text), false, 0);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    raw_untagged(&ulpdu, RAW_SEND, 0, 2, sizeof(text), text, sizeof(text), false, 0);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    hk_healthy(&kit);
    CHECK_OK(it_post_recv(victim.ep, NULL, 0, 1, FX_SIGNAL));
    /* "whole" is longer than the receive. */
    CHECK_EQ(0x1205, hk_terminated(&victim, NULL));
    fx_done(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_LOCAL_LENGTH);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION,
                  IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION);
    hk_victim_close(&victim);
}
