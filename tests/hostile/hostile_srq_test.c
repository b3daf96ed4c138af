/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bad peers of endpoints that share a receive queue: one peer's violation does not affect the
 * others.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>

#include "hostile/hostile_kit.h"
#include "support/test_row.h"

#define SLOT 64u

static struct raw_segment segment;

static struct {
    struct hk kit;
    it_srq_handle_t srq;
    struct fx_buf in;
} scene;

static void scene_open(void)
{
    hk_open(&scene.kit);
    scene.srq = fx_srq(&scene.kit.node, 1, 64);
    scene.in = fx_node_buf(&scene.kit.node, (size_t)64 * SLOT);
}

static void scene_close(void)
{
    CHECK_OK(it_srq_free(scene.srq));
    hk_close(&scene.kit);
    check_done();
}

static void post(unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        fx_srq_recv(scene.srq, &scene.in, (size_t)i * SLOT, SLOT, i);
}

static void victim_open(struct hk_victim *victim, size_t hard)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.hard_hi_watermark = hard;
    hk_victim_of(&scene.kit, victim, fx_srq_ep(&scene.kit.node, scene.srq, &attr), HK_LISTEN,
                 &hk_plain);
}

/* Sends a part of message number msn. */
static void send_piece(struct hk_victim *victim, uint32_t msn, uint32_t mo, size_t length,
                       bool last)
{
    unsigned char payload[SLOT + 1];
    RAW_BYTES(ulpdu);

    memset(payload, (int)msn, sizeof(payload));
    raw_untagged(&ulpdu, RAW_SEND, 0, msn, mo, payload, length, last, 0);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
}

/* Returns when the sent octets were handled: a later Read was answered. */
static void settle(struct hk_victim *victim, uint32_t msn)
{
    RAW_BYTES(ulpdu);

    raw_read_request(&ulpdu, msn, 1, 0, 0, 1, 0);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim->peer, &segment));
    CHECK_EQ(RAW_READ_RESPONSE, segment.op);
}

static void got(const struct hk_victim *victim, it_dto_cookie_t cookie, size_t length)
{
    fx_done_len(scene.kit.node.recv_evd, victim->ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie, length);
}

/* DDP untagged, no buffer: the same error as without an S-RQ. */
static void no_receive(size_t hard, unsigned posted)
{
    struct hk_victim victim;
    RAW_BYTES(ulpdu);

    scene_open();
    victim_open(&victim, hard);
    post(0, posted);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "message", 7, true, 0);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    EXPECT_EQ(0x1202, hk_terminated(&victim, &ulpdu));
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, IT_ASYNC_AFF_EP_SRQ_ERROR, IT_ASYNC_AFF_EP_SRQ_ERROR);
    fx_empty(scene.kit.node.recv_evd);
    hk_victim_close(&victim);
    scene_close();
}

TEST_ROW(hostile_srq, no_receive, no_receive, IT_HARD_HI_WATERMARK_DISABLE, 0);
TEST_ROW(hostile_srq, a_hard_watermark_of_none, no_receive, 0, 3);

/* A peer that begins a message holds one receive, whatever else it does. Other messages arrive. */
Test(hostile_srq, half_a_message, .init = scene_open, .fini = scene_close)
{
    struct hk_victim slow;
    struct hk_victim quick;

    victim_open(&slow, IT_HARD_HI_WATERMARK_DISABLE);
    victim_open(&quick, IT_HARD_HI_WATERMARK_DISABLE);
    post(0, 4);
    send_piece(&slow, 1, 0, 10, false);
    send_piece(&slow, 1, 10, 10, false);
    settle(&slow, 1);
    for (uint32_t i = 1; i <= 3; i++) {
        send_piece(&quick, i, 0, 5, true);
        got(&quick, i, 5);
    }
    send_piece(&slow, 1, 20, 44, true);
    got(&slow, 0, SLOT);
    EXPECT(fx_is_byte(scene.in.data, SLOT, 1));
    hk_part(&slow);
    hk_part(&quick);
}

/* The receive that an incomplete message has drawn is flushed to its endpoint, and no others. */
Test(hostile_srq, the_end_within_a_message)
{
    for (unsigned reset = 0; reset < 2; reset++) {
        struct hk_victim slow;
        struct hk_victim quick;

        scene_open();
        victim_open(&slow, IT_HARD_HI_WATERMARK_DISABLE);
        victim_open(&quick, IT_HARD_HI_WATERMARK_DISABLE);
        post(0, 3);
        send_piece(&slow, 1, 0, 10, false);
        settle(&slow, 1);
        if (reset) {
            raw_close_with_reset(&slow.peer);
            hk_ended(&slow, IT_CM_MSG_CONN_BROKEN_EVENT);
            hk_affiliated(&slow, IT_ASYNC_AFF_EP_L_LLP_ERROR, IT_ASYNC_AFF_EP_L_LLP_ERROR);
        } else {
            raw_finish(&slow.peer);
            hk_ended(&slow, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        }
        fx_done(scene.kit.node.recv_evd, slow.ep, IT_DTO_RC_RECV_CMPL_EVENT, 0, IT_DTO_ERR_FLUSHED);
        fx_empty(scene.kit.node.recv_evd);
        send_piece(&quick, 1, 0, 5, true);
        got(&quick, 1, 5);
        hk_victim_close(&slow);
        hk_part(&quick);
        scene_close();
    }
}

/*
 * The program ends the connection within a message: a disconnect flushes the receive, a free drops
 * it.
 */
Test(hostile_srq, the_program_ends_it_within_a_message, .init = scene_open, .fini = scene_close)
{
    struct hk_victim victims[2];

    post(0, 3);
    for (unsigned i = 0; i < 2; i++) {
        victim_open(&victims[i], IT_HARD_HI_WATERMARK_DISABLE);
        send_piece(&victims[i], 1, 0, 10, false);
        settle(&victims[i], 1);
    }
    CHECK_OK(it_ep_disconnect(victims[0].ep, NULL, 0));
    fx_done(scene.kit.node.recv_evd, victims[0].ep, IT_DTO_RC_RECV_CMPL_EVENT, 0,
            IT_DTO_ERR_FLUSHED);
    hk_ended(&victims[0], IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_free(victims[1].ep));
    raw_close(&victims[1].peer);
    fx_empty(scene.kit.node.recv_evd);
    hk_victim_close(&victims[0]);
}

/* The message is too long in its first part, or in a later one. */
Test(hostile_srq, longer_than_the_receive)
{
    for (unsigned pieces = 1; pieces <= 2; pieces++) {
        struct hk_victim victim;

        scene_open();
        victim_open(&victim, IT_HARD_HI_WATERMARK_DISABLE);
        post(0, 2);
        if (pieces == 2)
            send_piece(&victim, 1, 0, SLOT, false);
        send_piece(&victim, 1, pieces == 2 ? SLOT : 0, pieces == 2 ? 1 : SLOT + 1, true);
        EXPECT_EQ(0x1205, hk_terminated(&victim, NULL));
        fx_done(scene.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 0,
                IT_DTO_ERR_LOCAL_LENGTH);
        fx_empty(scene.kit.node.recv_evd);
        hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
        hk_affiliated(&victim, IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION,
                      IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION);
        hk_victim_close(&victim);
        scene_close();
    }
}

/* A message out of order draws no receive. */
Test(hostile_srq, nonsense_takes_nothing, .init = scene_open, .fini = scene_close)
{
    post(0, 1);
    for (unsigned i = 0; i < 3; i++) {
        struct hk_victim victim;

        victim_open(&victim, IT_HARD_HI_WATERMARK_DISABLE);
        send_piece(&victim, i == 0 ? 2 : 1, i == 1 ? 4 : 0, i == 2 ? 0 : 8, i != 2);
        if (i == 2) { /* an empty part, and an end without a message */
            settle(&victim, 1);
            raw_finish(&victim.peer);
            hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
            fx_done(scene.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 0,
                    IT_DTO_ERR_FLUSHED);
        } else {
            EXPECT_EQ(i == 0 ? 0x1203 : 0x1204, hk_terminated(&victim, NULL));
            hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
            hk_affiliated(&victim, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR,
                          IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR);
            fx_empty(scene.kit.node.recv_evd);
        }
        hk_victim_close(&victim);
    }
}

/* In a flood the hard watermark leaves receives for the others. */
Test(hostile_srq, a_flood_meets_the_hard_watermark, .init = scene_open, .fini = scene_close)
{
    struct hk_victim flooder;
    struct hk_victim honest;

    victim_open(&flooder, 8);
    victim_open(&honest, 8);
    post(0, 10);
    for (uint32_t i = 1; i <= 9; i++)
        send_piece(&flooder, i, 0, 1, true);
    EXPECT_EQ(0x1202, hk_terminated(&flooder, NULL));
    for (unsigned i = 0; i < 8; i++)
        got(&flooder, i, 1);
    hk_ended(&flooder, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&flooder, IT_ASYNC_AFF_EP_SRQ_ERROR, IT_ASYNC_AFF_EP_SRQ_ERROR);
    for (uint32_t i = 1; i <= 2; i++) {
        send_piece(&honest, i, 0, 2, true);
        got(&honest, 7 + i, 2);
    }
    hk_victim_close(&flooder);
    hk_part(&honest);
}

/* ---- Messages that do not go on -------------------------------------------------------------- */

#define SOON_US 50000u

/* Begins a message and draws a receive with an empty part. */
static void begin_empty(struct hk_victim *victim)
{
    send_piece(victim, 1, 0, 0, false);
}

static void begin_with_octets(struct hk_victim *victim)
{
    send_piece(victim, 1, 0, 10, false);
}

/* The only FPDU is incomplete. */
static void begin_within_fpdu(struct hk_victim *victim)
{
    unsigned char payload[2 * SLOT] = {0}; /* more than is collected before it is looked at */
    RAW_BYTES(ulpdu);
    RAW_BYTES(fpdu);

    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, payload, sizeof(payload), true, 0);
    raw_fpdu(&fpdu, &ulpdu, true);
    CHECK(raw_send_part(&victim->peer, fpdu.data, fpdu.len - 1));
}

/*
 * Checks that the connection has ended without the rest of the message, and that its receive is
 * back.
 */
static void given_up(struct hk_victim *victim)
{
    EXPECT_EQ(0x0207, hk_terminated(victim, NULL));
    hk_ended(victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(victim, IT_ASYNC_AFF_EP_SRQ_ERROR, IT_ASYNC_AFF_EP_SRQ_ERROR);
}

/* This holds whatever the peers have sent. An honest one makes progress before and after. */
Test(hostile_srq, a_message_that_does_not_go_on, .init = scene_open, .fini = scene_close)
{
    static void (*const begin[])(struct hk_victim *) = {begin_empty, begin_with_octets,
                                                        begin_within_fpdu};
    struct hk_victim honest;

    CHECK_OK(itx_srq_set_message_timeout(scene.srq, SOON_US));
    victim_open(&honest, IT_HARD_HI_WATERMARK_DISABLE);
    for (uint32_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++) {
        struct hk_victim slow;

        victim_open(&slow, IT_HARD_HI_WATERMARK_DISABLE);
        fx_srq_recv(scene.srq, &scene.in, 0, 2 * SLOT, i);
        begin[i](&slow);
        given_up(&slow);
        fx_done(scene.kit.node.recv_evd, slow.ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
        post(10, 1);
        send_piece(&honest, 1 + i, 0, 5, true);
        got(&honest, 10, 5);
        hk_victim_close(&slow);
    }
    hk_part(&honest);
}

/* Peers that have stopped within messages hold all receives, which come back. */
Test(hostile_srq, peers_that_hold_all_receives, .init = scene_open, .fini = scene_close)
{
    enum {
        HOLDERS = 16
    };
    static struct hk_victim holders[HOLDERS];
    struct hk_victim honest;

    victim_open(&honest, IT_HARD_HI_WATERMARK_DISABLE);
    post(0, HOLDERS);
    for (unsigned i = 0; i < HOLDERS; i++) {
        victim_open(&holders[i], IT_HARD_HI_WATERMARK_DISABLE);
        send_piece(&holders[i], 1, 0, i % SLOT, false);
        settle(&holders[i], 1);
    }
    CHECK_OK(itx_srq_set_message_timeout(scene.srq, SOON_US));
    for (unsigned i = 0; i < HOLDERS; i++) {
        EXPECT_EQ(0x0207, hk_terminated(&holders[i], NULL));
        EXPECT_EQ(IT_CM_MSG_CONN_BROKEN_EVENT, fx_next(scene.kit.node.conn_evd).event_number);
        EXPECT_EQ(IT_ASYNC_AFF_EP_SRQ_ERROR, fx_next(scene.kit.node.aff_evd).event_number);
        EXPECT_EQ(IT_DTO_ERR_FLUSHED, fx_next(scene.kit.node.recv_evd).dto_cmpl.dto_status);
        hk_victim_close(&holders[i]);
    }
    post(0, 1);
    send_piece(&honest, 1, 0, 5, true);
    got(&honest, 0, 5);
    hk_part(&honest);
}

/* Single octets from time to time are not enough. */
Test(hostile_srq, a_message_that_goes_on_too_slowly, .init = scene_open, .fini = scene_close)
{
    struct fx_patience patience = fx_patience_start("the end of the connection");
    struct pollfd end = {.events = POLLIN};
    struct hk_victim slow;
    uint32_t sent = 0;
    struct fx_buf large = fx_node_buf(&scene.kit.node, 1u << 20);

    CHECK_OK(itx_srq_set_message_timeout(scene.srq, SOON_US));
    victim_open(&slow, IT_HARD_HI_WATERMARK_DISABLE);
    fx_srq_recv(scene.srq, &large, 0, large.size, 1);
    end.fd = slow.peer.fd;
    do {
        RAW_BYTES(ulpdu);

        raw_untagged(&ulpdu, RAW_SEND, 0, 1, sent++, "x", 1, false, 0);
        (void)raw_send_ulpdu(&slow.peer, &ulpdu);
        fx_patience_check(&patience);
    } while (poll(&end, 1, SOON_US / 1000 / 10) == 0);
    CHECK(sent > 1);
    given_up(&slow);
    fx_done(scene.kit.node.recv_evd, slow.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    hk_victim_close(&slow);
}
